// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"

namespace neuroncheck::opdb {

/// Where the default database is: NEURON_CHECK_DB, else the user's copy (made by `db import`), else
/// share/neuron-check/operators.db beside the running program (up to two folders above it: build
/// trees and installations), else the installation's data folder. The Error lists every place that
/// was tried. database_locate.h tells more.
[[nodiscard]] Result<std::string> findDefaultDatabase();

}  // namespace neuroncheck::opdb

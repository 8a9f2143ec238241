// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The name under which the database keeps the release that a table calls `wanted`, found as the
/// check finds it: "2.14.3" is 2.14.3.0, and an SDK's number is the newest release of that SDK. A
/// release that the database does not know keeps its name. Fails with Usage for a name that is no
/// version number, and for the number of an SDK that no known release belongs to.
[[nodiscard]] Result<std::string> importedRelease(const Database& database,
                                                  const std::string& product,
                                                  const std::string& wanted);

}  // namespace neuroncheck::opdb

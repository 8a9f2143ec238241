// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "core/run_record.h"

namespace neuroncheck::report {

/// The inventory for people, without a verdict: per input its kind, producer and dialect, per model
/// the operators with counts, groups and dtypes, higher-order operators, dynamic dims with ranges,
/// parameter bytes. Inputs with an error get one line. Only `inventory` and `error` of each result
/// are read.
void writeInventoryText(const std::vector<InputResult>& inputs, std::ostream& out,
                        std::size_t width);

}  // namespace neuroncheck::report

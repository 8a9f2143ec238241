// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/trace.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The operators that a release registers on its device for eager mode, as far as the database
/// knows: those whose nearest row is native, partial or an explicit fallback. Sorted.
[[nodiscard]] std::vector<std::string> registeredOperators(const Database& database,
                                                           const Target& target);

/// The distinct cases of a model, as the device would be asked for them: symbolic sizes at their
/// hints (or within their range), operands as autocast casts them. A use has no case, with the
/// reason, when an argument is not known, when the strides of an operand are those that kernels of
/// another device chose, or when its operator does no work and asks for none.
[[nodiscard]] ModelTrace planTrace(const Model& model, const Database& database);

/// What a trace leaves open: uses without one, by reason, and that one case speaks for one set of
/// values and sizes.
[[nodiscard]] std::vector<NotChecked> openInTrace(const Model& model, const ModelTrace& trace);

}  // namespace neuroncheck::opdb

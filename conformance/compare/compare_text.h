// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "conformance/compare/compare.h"

namespace neuroncheck::conformance {

/// For people: the verdict first, then every tensor that does not pass with its reason, the shape
/// of its errors and its worst places; passing ones with `verbosity` of 1 or more; what was not
/// compared; what to do next. Text from files is made harmless.
void writeCompareText(const CompareReport& report, int verbosity, std::ostream& out);

/// One document of "neuron-check/compare/1" (docs/schemas/compare-1.schema.json). Numbers that are
/// not finite are the strings "Infinity", "-Infinity", "NaN"; what is not defined is null.
void writeCompareJson(const CompareReport& report, std::ostream& out);

}  // namespace neuroncheck::conformance

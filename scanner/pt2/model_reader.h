// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"
#include "scanner/archive/bytes.h"
#include "scanner/open.h"

namespace neuroncheck::scanner::pt2 {

/// The schema this reader knows; a newer minor is read with a note, another major is refused.
inline constexpr std::int64_t kSchemaMajor = 8;
inline constexpr std::int64_t kSchemaMinor = 20;

/// Reads the JSON of one exported program (`models/<name>.json`, or the flat
/// `serialized_exported_program.json`) into a Model. `stored` names parameters, buffers and
/// constants by the graph's inputs; records and sizes of payloads are the archive's affair. Needs
/// nothing but the bytes, so it is also what benchmarks and fuzzers call.
[[nodiscard]] Result<Model> readModel(const PaddedBytes& json, std::string_view name,
                                      const SchemaSource& schemas, const Limits& limits);

}  // namespace neuroncheck::scanner::pt2

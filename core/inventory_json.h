// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "core/inventory.h"
#include "core/result.h"

namespace neuroncheck {

/// Key order is part of the contract: reports are byte-identical for equal input.
using Json = nlohmann::ordered_json;

/// The name of the inventory document format (docs/schemas/inventory-1.schema.json).
inline constexpr std::string_view kInventorySchema = "neuron-check/inventory/1";

/// One input of an inventory document: path, kind, and per model operators, subgraphs, inputs,
/// outputs, dynamic dims.
[[nodiscard]] Json toJson(const Inventory& inventory);
/// The document over several inputs: {"schema": ..., "tool": ..., "inputs": [...]}.
[[nodiscard]] Json inventoryDocument(const std::vector<Inventory>& inventories);
/// Reads back one input that toJson wrote. Every field of Inventory that toJson writes is restored;
/// an unknown or ill-typed field is an Error naming its path.
[[nodiscard]] Result<Inventory> inventoryFromJson(const Json& json);

/// Parts of the above that reports reuse.
[[nodiscard]] Json toJson(const TensorSpec& spec);
[[nodiscard]] Json toJson(const ArgValue& value);
[[nodiscard]] Json nodeToJson(const OpUse& use);
/// Text of a document. Bytes that are no UTF-8 (names of hostile files) become U+FFFD; never throws
/// for input.
[[nodiscard]] std::string dumpJson(const Json& json, int indent = -1);
/// A double as a JSON number, or the strings "Infinity", "-Infinity", "NaN".
[[nodiscard]] Json finiteOrString(double value);

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/input_shape.h"
#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"

namespace neuroncheck::scanner {

/// Bounds that keep hostile input harmless. Memory is of the order of `maxJsonBytes`, never of the
/// file.
struct Limits {
  std::uint64_t maxJsonBytes = std::uint64_t{1}
                               << 30;  ///< all JSON records of a file together, inflated
  std::uint64_t maxDirectoryBytes = std::uint64_t{96} << 20;  ///< zip central directory
  std::uint64_t maxEntries = 1'000'000;
  int maxDepth = 256;  ///< nesting of JSON and of subgraphs
};

/// What a scan may use beside the file.
struct ScanOptions {
  Limits limits;
  /// Asks a running neuron-check-torch (docs/worker-protocol.md); empty when there is none.
  std::function<Result<nlohmann::ordered_json>(const nlohmann::ordered_json& request)> torchHost{};
  std::string torchHostAbsent{};          ///< why there is none, and how to get it
  std::vector<InputShape> inputShapes{};  ///< of TorchScript inputs
  std::vector<std::string> libraries{};   ///< that register custom operators, for libtorch
};

/// What a file is, by content, and what to say when it is no program.
struct Identification {
  FileKind kind = FileKind::Unknown;
  std::string detail;  ///< "state_dict of 2 tensors, no program", "flatbuffer mobile module", "zip
                       ///< without an end record"
  std::string remedy;  ///< the lines that make an exported program of it; empty when nothing can
};

/// Decides what `path` is from its bytes (or, for a folder, its files), never from its name. Fails
/// only when it cannot be opened.
[[nodiscard]] Result<Identification> identify(const std::string& path, const Limits& limits = {});

/// What came of reading one file.
struct Scanned {
  FileKind kind = FileKind::Unknown;  ///< Damaged for a program whose records cannot be read
  std::uint64_t size = 0;             ///< bytes; 0 for a folder and for what cannot be opened
  Result<Inventory> inventory;
  /// Set when `inventory` has a checkpoint and no program: what the file is, what it holds, and how
  /// to export the program.
  std::optional<Error> noProgram;
};

/// Reads the operator inventory of an exported program: JSON records and the zip directory only,
/// never weights, never a pickle. Schemas come from `schemas` (defaults, groups). Errors have code
/// Input and name the record and the reason; a file of another kind is an Error that names the kind
/// and how to export it. Of checkpoints, pickled modules, safetensors and Hugging Face folders the
/// inventory has the tensors, the modules and the names a pickle asks for.
[[nodiscard]] Scanned scan(const std::string& path, const SchemaSource& schemas,
                           const ScanOptions& options = {});

}  // namespace neuroncheck::scanner

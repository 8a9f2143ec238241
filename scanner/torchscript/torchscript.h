// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/input_shape.h"
#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/open.h"
#include "scanner/torchscript/source_calls.h"

namespace neuroncheck::scanner {

/// The methods of a TorchScript archive.
///
/// With a host: as libtorch reads them (in the host's sandbox), with groups and defaults from
/// `schemas`. Without one, or when libtorch cannot load the file: the operators that the archive's
/// readable source names, as one Model marked approximate, and a note that says why. What the file
/// tried to do while it was loaded becomes a note NC115.
///
/// Fails when the source records cannot be read and nothing else can; Usage when the host refuses
/// the input shapes.
[[nodiscard]] Result<Inventory> readTorchScript(const std::string& path,
                                                const RootedArchive& archive,
                                                const SchemaSource& schemas,
                                                const ScanOptions& options);

/// The calls in all code records of an archive, each with its record. Errors name the record.
struct SourceFile {
  std::string name;  ///< "code/__torch__/net.py"
  std::vector<SourceCall> calls;
};
[[nodiscard]] Result<std::vector<SourceFile>> readSourceCalls(const RootedArchive& archive,
                                                              const Limits& limits);

/// One Model of what source calls say: names without overloads and operands.
[[nodiscard]] Model approximateModel(const std::vector<SourceFile>& files,
                                     const SchemaSource& schemas);

}  // namespace neuroncheck::scanner

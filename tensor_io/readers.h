// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "tensor_io/mapped_file.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::tensor_io {

/// One reader per format, for openTensorFile(). Each takes a file that starts like its format;
/// `label` is what its errors begin with, empty for memory.
using Opened = Result<std::unique_ptr<TensorFile>>;
[[nodiscard]] Opened openNpy(FileContent content, std::string label, const OpenOptions& options);
[[nodiscard]] Opened openNpz(FileContent content, std::string label, const OpenOptions& options);
[[nodiscard]] Opened openSafetensors(FileContent content, std::string label,
                                     const OpenOptions& options);
/// `path` is an index of shards, whose content the first argument is.
[[nodiscard]] Opened openIndex(const FileContent& content, const std::string& path,
                               const OpenOptions& options);
/// The index of a folder if it has one, else all its *.safetensors files by name.
[[nodiscard]] Opened openFolder(const std::string& path, const OpenOptions& options);

/// Adds a layer of context to a failure.
[[nodiscard]] Opened within(Opened file, const std::string& layer);

/// Fails with Input, naming it, when a name occurs twice.
[[nodiscard]] Result<void> checkUnique(std::span<const std::string> names);

}  // namespace neuroncheck::tensor_io

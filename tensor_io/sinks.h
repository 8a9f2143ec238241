// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/result.h"
#include "tensor_io/tensor_writer.h"

namespace neuroncheck::tensor_io {

/// One writer per format, for writeTensorFile(). `path` is the partial file.
using Sink = Result<std::unique_ptr<TensorSink>>;
[[nodiscard]] Sink safetensorsSink(const std::string& path,
                                   const std::map<std::string, std::string>& metadata);
[[nodiscard]] Sink npySink(const std::string& path);
[[nodiscard]] Sink npzSink(const std::string& path);

/// Completes the file of a sink; fails with Usage while a tensor is open.
[[nodiscard]] Result<void> closeSink(TensorSink& sink);

}  // namespace neuroncheck::tensor_io

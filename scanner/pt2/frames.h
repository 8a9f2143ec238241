// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/inventory.h"

namespace neuroncheck::scanner::pt2 {

/// The places of a node in its `stack_trace` (Python traceback text, outermost frame first).
struct Frames {
  SourcePlace user;  ///< last frame outside torch
  SourcePlace last;  ///< last frame of all
};
/// Reads both forms torch writes: non-strict export (starts with `File "`) and strict export
/// (indented, with caret lines).
[[nodiscard]] Frames parseStackTrace(std::string_view text);

/// A file of torch itself or a pseudo file of generated code ("<eval_with_key>.3").
[[nodiscard]] bool isTorchFile(std::string_view file);

/// Path and class of the innermost module of an `nn_module_stack` ("key,path,type;key,path,type").
struct ModulePlace {
  std::string path;
  std::string type;
};
[[nodiscard]] ModulePlace parseModuleStack(std::string_view text);

/// "L['self'].layers[0]" and "L__self___layers_0" to "layers.0" where that is possible; "lin@1"
/// (second call) to "lin".
[[nodiscard]] std::string cleanModulePath(std::string_view path);

}  // namespace neuroncheck::scanner::pt2

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::scanner {

/// One call of an operator in the readable source of a TorchScript archive.
struct SourceCall {
  std::string op;              ///< "aten::conv2d", "myns::foo": never an overload
  std::int64_t line = 0;       ///< from 1
  std::size_t positional = 0;  ///< arguments without a keyword
  std::vector<std::string> keywords;
  std::size_t unpacked = 1;  ///< values its result is unpacked into by the statement it begins
  bool conditional = false;  ///< within an if or else
  bool inLoop = false;
};

/// Finds the operator calls of one code record, in the order of the text: `torch.name(...)` is
/// aten, `ops.ns.name(...)` another namespace; `ops.prim`, functions and methods of the archive are
/// left out. Text of any kind is read without failing; no more than `most` calls are. The rules are
/// those of torch's printer (torch/csrc/jit/serialization/python_print.cpp).
[[nodiscard]] std::vector<SourceCall> findCalls(std::string_view source,
                                                std::size_t most = SIZE_MAX);

}  // namespace neuroncheck::scanner

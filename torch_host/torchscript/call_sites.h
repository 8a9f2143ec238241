// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace neuroncheck::torchscript {

/// One call of an operator outside aten in the readable source of an archive.
struct CallSite {
  std::string op;              ///< "myns::foo"
  std::size_t positional = 0;  ///< arguments without a keyword
  std::vector<std::string> keywords;
  std::size_t unpacked = 1;  ///< values its result is unpacked into
};

}  // namespace neuroncheck::torchscript

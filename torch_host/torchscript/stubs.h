// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/library.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "torch_host/torchscript/call_sites.h"

namespace neuroncheck::torchscript {

/// Schemas for operators that nobody registers, so that a file which calls them can be loaded.
///
/// Arguments are taken from the calls in the file's own source: as many positional ones of type
/// Any as are given, and the keywords. The result is a guess: from the call's left-hand side as
/// many values as it unpacks; else one Tensor, and when the file then does not compile, a list of
/// tensors, an int, a float, a bool, a string, in this order, one operator after the other.
class StubRegistry {
 public:
  explicit StubRegistry(std::vector<CallSite> calls);

  /// Registers a stub for "ns::name". False when there is one already or its name is no
  /// operator's.
  bool add(const std::string& name);
  /// Registers the next guess of the results; false when all were tried.
  bool tryNextGuess();
  void restartGuesses();

  [[nodiscard]] bool isStub(const std::string& name) const { return stubs_.contains(name); }
  /// "myns::foo(Any a0, Any a1) -> Tensor" of each stub in force, sorted.
  [[nodiscard]] std::vector<std::string> schemas() const;

 private:
  struct Stub {
    std::string arguments;
    std::size_t unpacked = 1;
    std::size_t guess = 0;
    std::string schema;
    std::unique_ptr<torch::Library> library;
  };

  void define(const std::string& name, Stub& stub);

  std::vector<CallSite> calls_;
  std::map<std::string, Stub> stubs_;
};

}  // namespace neuroncheck::torchscript

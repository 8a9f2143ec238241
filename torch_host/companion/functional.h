// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "torch_host/companion/companion.h"

namespace neuroncheck::companion {

/// "aten::add" of "aten::add_"; other names unchanged.
[[nodiscard]] std::string functionalName(const std::string& name);

/// A call of the functional twin of an operator that writes into its arguments (add_, add.out),
/// with the same values; the call itself where it writes nothing, or has no such twin.
class FunctionalCall {
 public:
  explicit FunctionalCall(const Call& call);
  [[nodiscard]] Call call() const;

 private:
  const Call& original_;
  std::optional<c10::OperatorHandle> twin_;
  torch::jit::Stack arguments_;
};

}  // namespace neuroncheck::companion

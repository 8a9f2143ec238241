// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace neuroncheck::torchscript {

/// What is known of the values of one graph before it runs. A value is either exactly known
/// (tensors as tensors without memory) or not known at all.
///
/// Containers and attributes that are changed where it is not certain whether or how often
/// (branches, loops) are known no more; every later look at them finds nothing.
class Environment {
 public:
  [[nodiscard]] std::optional<c10::IValue> find(const torch::jit::Value* value) const;
  void set(const torch::jit::Value* value, c10::IValue known);
  void forget(const torch::jit::Value* value);

  /// The attribute path under which a value was read from the module: "features.0.weight".
  [[nodiscard]] std::string nameOf(const torch::jit::Value* value) const;
  void setName(const torch::jit::Value* value, std::string name);

  /// A container whose content, or a tensor whose geometry, is uncertain from here on; also where
  /// it is known under another value or within a container.
  void distrust(const c10::IValue& container);
  void distrustAttribute(const c10::IValue& object, const std::string& attribute);
  /// Some tensor that nobody can tell was changed in its geometry: no tensor is known any more.
  void distrustTensors();
  [[nodiscard]] bool trusts(const c10::IValue& value) const;
  [[nodiscard]] bool trustsAttribute(const c10::IValue& object, const std::string& attribute) const;

 private:
  std::unordered_map<const torch::jit::Value*, c10::IValue> known_;
  std::unordered_map<const torch::jit::Value*, std::string> names_;
  std::vector<c10::IValue> distrusted_;
  std::set<std::pair<const void*, std::string>> distrustedAttributes_;
};

}  // namespace neuroncheck::torchscript

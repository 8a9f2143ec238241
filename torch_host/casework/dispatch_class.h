// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::casework {

/// Where the dispatcher sends an operator on tensors of a backend (facts of torch 2.13, checked
/// against the reasons dumpComputedTable() gives).
enum class DispatchClass : std::uint8_t {
  Direct,     ///< a kernel of the backend's own
  Composite,  ///< a kernel of torch for any backend, which calls other operators
  Fallback,   ///< only the backend's fallback for operators it does not have
  Missing,    ///< nothing: the call raises
};
[[nodiscard]] std::string_view name(DispatchClass dispatchClass);

/// A functional operator whose default kernel only calls its out= twin has the class of the twin.
[[nodiscard]] DispatchClass dispatchClassOf(const c10::OperatorHandle& op, c10::DispatchKey key);

/// Hears of the operators that code calls on this and on autograd's threads, and keeps those that
/// the backend serves with its fallback: by the dispatch table, whatever the backend says of
/// itself. Operators called within a backend's own kernel, or within its fallback, are not looked
/// at. One at a time.
class FallbackWatch {
 public:
  explicit FallbackWatch(c10::DispatchKey key);
  FallbackWatch(const FallbackWatch&) = delete;
  FallbackWatch& operator=(const FallbackWatch&) = delete;
  ~FallbackWatch();

  /// Names ("aten::foo.out"), sorted, each once.
  [[nodiscard]] std::vector<std::string> fellBack() const;

 private:
  std::uint64_t handle_;
};

}  // namespace neuroncheck::casework

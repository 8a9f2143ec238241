// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace neuroncheck::conformance {

/// Memory that this program and its workers see: operands and results of cases. Addresses cost
/// nothing; pages are taken when they are written and given back by release().
class SharedMemory {
 public:
  [[nodiscard]] static Result<SharedMemory> make(std::uint64_t bytes);
  SharedMemory(SharedMemory&&) noexcept = default;
  SharedMemory& operator=(SharedMemory&&) noexcept = default;

  /// The name under which children of this process can open it.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_}; }
  /// Gives back the pages of [from, from + bytes); they read as zeros then.
  void release(std::uint64_t from, std::uint64_t bytes) const;

 private:
  SharedMemory() = default;

  std::shared_ptr<std::byte> memory_;
  std::size_t size_ = 0;
  std::string path_;
  std::shared_ptr<int> file_;
};

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace neuroncheck::tensor_io {

/// An open file, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  [[nodiscard]] int number() const { return number_; }

  /// A new file in `folder` without a name, for reading and writing. Its space is given back with
  /// the last descriptor or mapping of it. Fails with `code`.
  [[nodiscard]] static Result<Descriptor> unnamed(const std::string& folder, ErrorCode code);
  /// A new or emptied file for writing and reading. Fails with Output.
  [[nodiscard]] static Result<Descriptor> create(const std::string& path);

  /// Writes all of `bytes` at `offset`. Fails with `code` and what the system says.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes, std::uint64_t offset,
                                   ErrorCode code) const;
  /// Fills `out` from `offset`. Fails with `code` and what the system says.
  [[nodiscard]] Result<void> read(std::span<std::byte> out, std::uint64_t offset,
                                  ErrorCode code) const;
  /// Bytes that the file system of the file still has for us.
  [[nodiscard]] std::uint64_t freeSpace() const;

 private:
  int number_;
};

}  // namespace neuroncheck::tensor_io

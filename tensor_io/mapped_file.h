// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::tensor_io {

/// Maps all of an open file for reading; the pages are unmapped with the object. The descriptor
/// stays the caller's and may be closed.
class Mapping {
 public:
  /// `size` bytes from the start. Fails with Input when there is no address space for them.
  [[nodiscard]] static Result<std::shared_ptr<const Mapping>> of(int descriptor, std::size_t size);
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// Gives back the pages that lie wholly within `bytes`, which have to be of a Mapping: of other
/// memory this would take the content.
void releasePages(std::span<const std::byte> bytes);

/// The content of a file: read for its headers, so that a damaged disk is an Error and not a
/// signal, and mapped for its data.
class FileContent {
 public:
  /// Fails with Input when `path` cannot be opened or is no regular file.
  [[nodiscard]] static Result<FileContent> open(const std::string& path);
  /// Takes the descriptor over, also when this fails.
  [[nodiscard]] static Result<FileContent> ofDescriptor(int descriptor);
  /// Memory that the caller keeps alive.
  [[nodiscard]] static FileContent ofMemory(std::span<const std::byte> bytes);

  [[nodiscard]] const std::shared_ptr<const scanner::ByteSource>& source() const { return source_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }
  [[nodiscard]] bool isMapped() const { return owner_ != nullptr; }
  /// Fails when the file has become shorter since it was opened: its last bytes can no longer be
  /// read.
  [[nodiscard]] Result<void> stillWhole() const;

 private:
  std::shared_ptr<const scanner::ByteSource> source_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace neuroncheck::tensor_io

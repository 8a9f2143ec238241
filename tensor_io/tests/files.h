// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "core/result.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::tensor_io::testing {

/// A folder of its own that goes with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tensor-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(std::string_view name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string littleEndian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
  return out;
}

inline std::string safetensors(std::string_view header, std::string_view data = {}) {
  return littleEndian(header.size(), 8).append(header).append(data);
}

/// An npy file of version 1.0 with the header as it is given.
inline std::string npy(std::string_view header, std::string_view data = {}) {
  return std::string("\x93NUMPY\x01\0", 8) +
         littleEndian(header.size(), 2).append(header).append(data);
}
/// The header of an array of `dtype` and a shape as Python writes it: "(2, 3)".
inline std::string npyHeader(std::string_view dtype, std::string_view shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}\n", dtype, shape);
}

inline std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The first error that opening `content` and reading every tensor of it meets; "" for none.
inline std::string errorOf(std::string_view content, const OpenOptions& options = {}) {
  const auto file = openTensorBytes(bytesOf(content), options);
  if (!file) {
    return file.error().code == ErrorCode::Input ? file.error().text() : "not Input";
  }
  for (const std::string& name : (*file)->names()) {
    const auto entry = (*file)->entry(name);
    if (!entry) {
      return entry.error().code == ErrorCode::Input ? entry.error().text() : "not Input";
    }
  }
  return {};
}

}  // namespace neuroncheck::tensor_io::testing

// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/readers.h"

namespace neuroncheck::tensor_io {
namespace {

constexpr std::size_t kStart = 64;
constexpr std::string_view kSpace = " \t\r\n";

/// What to say of a file that holds tensors in a form we never read.
std::string_view remedyOf(std::string_view start) {
  if (start.starts_with("\x80")) {
    return "it is a pickle, which is never unpickled; in Python: "
           "safetensors.torch.save_file(tensors, 'tensors.safetensors')";
  }
  if (start.starts_with("\x89HDF")) {
    return "it is an HDF5 file; write its arrays as npz or safetensors";
  }
  return "it is no safetensors, npy or npz file and no index of shards";
}

/// A length below the format's bound leaves zeros in its upper bytes, which no text has.
bool looksLikeSafetensors(std::string_view start) {
  return start.size() > 8 && start[8] == '{' && start[6] == '\0' && start[7] == '\0';
}

bool looksLikeJson(std::string_view start) {
  const std::size_t first = start.find_first_not_of(kSpace);
  return first != std::string_view::npos && start[first] == '{' &&
         start.find('\0') == std::string_view::npos;
}

Opened openContent(FileContent content, const std::string& path, const OpenOptions& options) {
  NEURONCHECK_TRY(const std::string start, content.source()->readUpTo(0, kStart));
  if (start.empty()) {
    return inputError("it is empty");
  }
  if (startsLikeNpy(start)) {
    return openNpy(std::move(content), path, options);
  }
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) {
    return openNpz(std::move(content), path, options);
  }
  if (looksLikeSafetensors(start)) {
    return openSafetensors(std::move(content), path, options);
  }
  if (!path.empty() && looksLikeJson(start)) {
    return openIndex(content, path, options);
  }
  return inputError(std::string(remedyOf(start)));
}

}  // namespace

Opened within(Opened file, const std::string& layer) {
  if (!file) {
    return tl::unexpected(std::move(file).error().within(layer));
  }
  return file;
}

Result<void> checkUnique(std::span<const std::string> names) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(names.size());
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return inputError(fmt::format("the name '{}' occurs twice", scanner::printable(name, 120)));
    }
  }
  return {};
}

Opened openTensorFile(const std::string& path, const OpenOptions& options) {
  const auto body = [&]() -> Opened {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return openFolder(path, options);
    }
    NEURONCHECK_TRY(FileContent content, FileContent::open(path));
    return openContent(std::move(content), path, options);
  };
  return within(body(), path);
}

Opened openTensorBytes(std::span<const std::byte> bytes, const OpenOptions& options) {
  return openContent(FileContent::ofMemory(bytes), {}, options);
}

}  // namespace neuroncheck::tensor_io

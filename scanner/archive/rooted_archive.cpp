// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/rooted_archive.h"

#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::scanner {
namespace {

/// Archives of a later file version may say things this program and its libtorch do not know.
/// Source: kMaxSupportedFileFormatVersion of caffe2/serialize/versions.h, torch 2.13.
constexpr std::uint64_t kNewestVersion = 10;

}  // namespace

RootedArchive::RootedArchive(ZipArchive zip) : zip_(std::move(zip)) {
  if (const auto root = commonRoot(zip_.entries())) {
    prefix_ = std::string(*root) + "/";
  }
}

std::string_view RootedArchive::name(std::size_t index) const {
  return zip_.entries()[index].name.substr(prefix_.size());
}

std::optional<std::size_t> RootedArchive::find(std::string_view name) const {
  return zip_.find(prefix_ + std::string(name));
}

bool RootedArchive::hasFolder(std::string_view folder) const {
  for (std::size_t i = 0; i < count(); ++i) {
    if (name(i).starts_with(folder)) {
      return true;
    }
  }
  return false;
}

Result<void> checkFileVersion(const RootedArchive& archive) {
  const auto index = archive.find("version");
  if (!index) {
    return {};  // archives of PyTorch 1.0 have none
  }
  NEURONCHECK_TRY(const std::string text, archive.zip().readStart(*index, 20));
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || version > kNewestVersion) {
    return inputError(
        fmt::format("its file version is {}, and {} is the newest this program knows",
                    error == std::errc() ? std::to_string(version) : "'" + printable(text) + "'",
                    kNewestVersion));
  }
  return {};
}

}  // namespace neuroncheck::scanner

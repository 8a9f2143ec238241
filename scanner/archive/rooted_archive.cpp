// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/rooted_archive.h"

#include <utility>

namespace neuroncheck::scanner {

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

}  // namespace neuroncheck::scanner

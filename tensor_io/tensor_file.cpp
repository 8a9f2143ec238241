// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/tensor_file.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "tensor_io/mapped_file.h"

namespace neuroncheck::tensor_io {

TensorFile::TensorFile(TensorFileKind kind, std::string label, std::vector<std::string> names,
                       std::map<std::string, std::string> metadata)
    : kind_(kind),
      label_(std::move(label)),
      names_(std::move(names)),
      metadata_(std::move(metadata)) {
  places_.reserve(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    NEURONCHECK_CHECK(places_.emplace(names_[i], i).second, "a tensor's name occurs twice");
  }
}

std::optional<std::size_t> TensorFile::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

Error TensorFile::named(Error error, std::string_view name) const {
  // The shard has named itself and the tensor.
  if (kind_ == TensorFileKind::Shards && error.code != ErrorCode::Nothing) {
    return error;
  }
  Error out = std::move(error).within(fmt::format("tensor '{}'", scanner::printable(name, 120)));
  return label_.empty() ? std::move(out) : std::move(out).within(label_);
}

Error TensorFile::absent(std::string_view name) const {
  return named(fail(ErrorCode::Nothing, "there is none of that name").value(), name);
}

void TensorEntry::release(std::size_t first, std::size_t count) const {
  if (mapped && first < bytes.size()) {
    releasePages(bytes.subspan(first, std::min(count, bytes.size() - first)));
  }
}

Result<TensorHead> TensorFile::head(std::string_view name) const {
  const auto index = find(name);
  if (!index) {
    return tl::unexpected(absent(name));
  }
  return headAt(*index).map_error([&](Error error) { return named(std::move(error), name); });
}

Result<TensorEntry> TensorFile::entry(std::string_view name) const {
  const auto index = find(name);
  if (!index) {
    return tl::unexpected(absent(name));
  }
  return entryAt(*index).map_error([&](Error error) { return named(std::move(error), name); });
}

Result<void> TensorFile::verify(std::string_view name, const Reading& reading) const {
  const auto index = find(name);
  if (!index) {
    return tl::unexpected(absent(name));
  }
  return verifyAt(*index, reading).map_error([&](Error error) {
    return named(std::move(error), name);
  });
}

Result<void> TensorFile::verifyAt(std::size_t /*index*/, const Reading& /*reading*/) const {
  return {};
}

}  // namespace neuroncheck::tensor_io

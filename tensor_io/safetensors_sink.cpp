// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "scanner/archive/printable.h"
#include "scanner/safetensors/header.h"
#include "tensor_io/descriptor.h"
#include "tensor_io/sinks.h"

namespace neuroncheck::tensor_io {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::size_t kMaxHeader = 100'000'000;
constexpr std::size_t kAlignment = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = scanner::utf8Length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

struct Written {
  TensorHead head;
  scanner::SafetensorsWord word;
  std::uint64_t offset = 0;  // in the file the data wait in
};

/// The header stands first and counts every tensor, so the data wait in a file without a name until
/// all are known.
class SafetensorsSink final : public TensorSink {
 public:
  SafetensorsSink(Descriptor file, Descriptor waiting, std::map<std::string, std::string> metadata)
      : file_(std::move(file)), waiting_(std::move(waiting)), metadata_(std::move(metadata)) {}

 private:
  Result<void> beginTensor() override {
    const auto word = scanner::safetensorsWord(current().dtype);
    if (!word) {
      return fail(ErrorCode::Usage, fmt::format("safetensors has no dtype for {}",
                                                neuroncheck::name(current().dtype)));
    }
    if (!isUtf8(current().name) || current().name == kMetadataKey) {
      return fail(ErrorCode::Usage, "safetensors cannot hold such a name");
    }
    if (current().dtype == DType::Float4E2M1FNx2 && current().sizes.empty()) {
      return fail(ErrorCode::Usage, "safetensors holds no scalar of a packed dtype");
    }
    written_.push_back({.head = current(), .word = *word, .offset = end_});
    return {};
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    NEURONCHECK_TRY_VOID(waiting_.write(bytes, end_, ErrorCode::Output));
    end_ += bytes.size();
    return {};
  }

  Result<void> finishTensor() override { return {}; }

  Result<void> close() override {
    // As the reference writer: every tensor is then aligned to its elements.
    std::ranges::sort(written_, [](const Written& a, const Written& b) {
      return std::tie(b.word.rank, a.head.name) < std::tie(a.word.rank, b.head.name);
    });
    NEURONCHECK_TRY(const std::string header, headerText());
    NEURONCHECK_TRY_VOID(file_.write(std::as_bytes(std::span(header)), 0, ErrorCode::Output));
    std::uint64_t offset = header.size();
    for (const Written& tensor : written_) {
      NEURONCHECK_TRY_VOID(copy(tensor, offset));
      offset += tensor.head.byteCount;
    }
    return {};
  }

  [[nodiscard]] Result<std::string> headerText() const {
    const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
    std::string text = "{";
    if (!metadata_.empty()) {
      text +=
          fmt::format("{}:{}", quoted(std::string(kMetadataKey)), nlohmann::json(metadata_).dump());
    }
    std::uint64_t offset = 0;
    for (const Written& tensor : written_) {
      std::vector<std::int64_t> shape = tensor.head.sizes;
      if (tensor.head.dtype == DType::Float4E2M1FNx2) {
        shape.back() *= 2;
      }
      const std::uint64_t end = offset + tensor.head.byteCount;
      text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          text.size() > 1 ? "," : "", quoted(tensor.head.name), tensor.word.word,
                          fmt::join(shape, ","), offset, end);
      offset = end;
    }
    text += "}";
    text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
    if (text.size() > kMaxHeader) {
      return fail(ErrorCode::Usage, fmt::format("the header has {} bytes, safetensors takes {}",
                                                text.size(), kMaxHeader));
    }
    std::string out;
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) {
      out += static_cast<char>(text.size() >> (8 * i) & 0xFFU);
    }
    return out + text;
  }

  [[nodiscard]] Result<void> copy(const Written& tensor, std::uint64_t offset) const {
    std::vector<std::byte> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(tensor.head.byteCount, kChunk)));
    for (std::uint64_t done = 0; done < tensor.head.byteCount;) {
      const auto piece = std::span(buffer).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(tensor.head.byteCount - done, kChunk)));
      NEURONCHECK_TRY_VOID(waiting_.read(piece, tensor.offset + done, ErrorCode::Output));
      NEURONCHECK_TRY_VOID(file_.write(piece, offset + done, ErrorCode::Output));
      done += piece.size();
    }
    return {};
  }

  Descriptor file_;
  Descriptor waiting_;
  std::map<std::string, std::string> metadata_;
  std::vector<Written> written_;
  std::uint64_t end_ = 0;
};

}  // namespace

Sink safetensorsSink(const std::string& path, const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    if (!isUtf8(key) || !isUtf8(value)) {
      return fail(ErrorCode::Usage, "metadata of safetensors are UTF-8 texts");
    }
  }
  NEURONCHECK_TRY(Descriptor file, Descriptor::create(path));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  NEURONCHECK_TRY(Descriptor waiting,
                  Descriptor::unnamed(folder.empty() ? "." : folder, ErrorCode::Output));
  return std::make_unique<SafetensorsSink>(std::move(file), std::move(waiting), metadata);
}

}  // namespace neuroncheck::tensor_io

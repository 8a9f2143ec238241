// SPDX-License-Identifier: Apache-2.0
#include "scanner/identify/safetensors.h"

#include <fmt/format.h>

#include "scanner/archive/bytes.h"
#include "scanner/archive/zip_directory.h"
#include "scanner/pt2/document.h"
#include "scanner/safetensors/header.h"

namespace neuroncheck::scanner {

Result<std::optional<std::string>> describeSafetensors(const ByteSource& source) {
  constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own bound
  constexpr std::size_t kPrefix = 8;
  constexpr int kDepth = 16;
  NEURONCHECK_TRY(const std::string start, source.readUpTo(0, kPrefix + 2));
  if (start.size() <= kPrefix || start[kPrefix] != '{') {
    return std::nullopt;
  }
  const std::uint64_t length = le64(start, 0);
  const bool opens = start.ends_with("{\"") || start.ends_with("{}");
  if (length < 2 || (length > kMaxHeader && !opens)) {
    return std::nullopt;
  }
  if (length > kMaxHeader || length > source.size() - kPrefix) {
    return std::optional<std::string>(
        fmt::format("damaged header: it claims {} bytes of {}", length, source.size()));
  }
  PaddedBytes header(static_cast<std::size_t>(length));
  NEURONCHECK_TRY_VOID(source.read(kPrefix, std::span<char>(header.data(), header.size())));
  if (const auto fits = pt2::checkMemory(header.view(), kMostHeaderMemory); !fits) {
    return std::optional<std::string>("header that is not read: " + fits.error().text());
  }
  const auto document = pt2::Document::parse(header, kDepth);
  if (!document) {
    return std::optional<std::string>("damaged header: " + document.error().text());
  }
  const auto object = pt2::asObject(document->root(), "the header");
  if (!object) {
    return std::optional<std::string>("damaged header: " + object.error().text());
  }
  std::size_t count = 0;
  for (const simdjson::dom::key_value_pair pair : *object) {
    count += pair.key == "__metadata__" ? 0 : 1;
  }
  return std::optional<std::string>(fmt::format("{} {}", count, count == 1 ? "tensor" : "tensors"));
}

}  // namespace neuroncheck::scanner

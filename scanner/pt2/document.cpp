// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/document.h"

#include <algorithm>
#include <string>

namespace neuroncheck::scanner::pt2 {
namespace {

Result<Json> parseOnce(simdjson::dom::parser& parser, const PaddedBytes& text) {
  static_assert(PaddedBytes::kPadding >= simdjson::SIMDJSON_PADDING);
  Json root;
  const auto error =
      parser.parse(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), false)
          .get(root);
  if (error == simdjson::DEPTH_ERROR) {
    return inputError("the JSON is nested too deeply");
  }
  if (error != simdjson::SUCCESS) {
    return inputError(
        fmt::format("the JSON is not well formed: {}", simdjson::error_message(error)));
  }
  return root;
}

}  // namespace

Result<Document> Document::parse(const PaddedBytes& text, int maxDepth) {
  Document document;
  document.parser_ = std::make_unique<simdjson::dom::parser>();
  if (document.parser_->allocate(std::max<std::size_t>(text.size(), 1),
                                 static_cast<std::size_t>(maxDepth)) != simdjson::SUCCESS) {
    return inputError(fmt::format("no memory to parse {} bytes of JSON", text.size()));
  }
  auto root = parseOnce(*document.parser_, text);
  if (!root) {
    if (const auto quoted = quoteNonFinite(text.view())) {
      // The document copies its strings, so the quoted text need not outlive the parse.
      root = parseOnce(*document.parser_, *quoted);
    }
  }
  if (!root) {
    return tl::unexpected(std::move(root).error());
  }
  document.root_ = *root;
  return document;
}

Result<void> checkMemory(std::string_view text, std::uint64_t most) {
  constexpr std::uint64_t kPerByte = 2;
  constexpr std::uint64_t kPerValue = 28;
  const auto marks = static_cast<std::uint64_t>(std::ranges::count_if(
      text, [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; }));
  const std::uint64_t needed = kPerByte * text.size() + kPerValue * marks;
  if (needed > most) {
    return inputError(
        fmt::format("its {} bytes of JSON with {} values would take {} MB, more than "
                    "the limit of {} MB",
                    text.size(), marks, needed >> 20U, most >> 20U));
  }
  return {};
}

std::optional<PaddedBytes> quoteNonFinite(std::string_view text) {
  std::string out;
  bool inString = false;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      i += c == '\\' ? 1 : 0;
      inString = c != '"';
      continue;
    }
    if (c == '"') {
      inString = true;
      continue;
    }
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (c == word.front() && text.substr(i).starts_with(word)) {
        out.append(text.substr(copied, i - copied)).append("\"").append(word).append("\"");
        i += word.size() - 1;
        copied = i + 1;
        break;
      }
    }
  }
  if (copied == 0) {
    return std::nullopt;
  }
  out.append(text.substr(copied));
  return PaddedBytes(out);
}

}  // namespace neuroncheck::scanner::pt2

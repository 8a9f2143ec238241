// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/result.h"
#include "scanner/archive/bytes.h"
#include "scanner/pt2/json.h"

namespace neuroncheck::scanner::pt2 {

/// A parsed JSON record; values taken from it live as long as it does.
class Document {
 public:
  /// Nesting deeper than `maxDepth` is an Error. Bare `NaN` and `Infinity`, which Python's json
  /// module wrote into files of torch 2.6 and older, are read as the strings that newer versions
  /// write.
  [[nodiscard]] static Result<Document> parse(const PaddedBytes& text, int maxDepth);

  [[nodiscard]] Json root() const { return root_; }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;
  Json root_;
};

/// Fails when a parsed `text` could take more than `most` bytes: a value of one character takes the
/// parser about thirty.
[[nodiscard]] Result<void> checkMemory(std::string_view text, std::uint64_t most);

/// `text` with quotes around bare NaN, Infinity and -Infinity outside strings; nullopt when there
/// are none.
[[nodiscard]] std::optional<PaddedBytes> quoteNonFinite(std::string_view text);

}  // namespace neuroncheck::scanner::pt2

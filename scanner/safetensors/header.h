// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// One tensor as the header of a safetensors file describes it.
struct SafetensorsTensor {
  std::string name;
  std::string word;                 ///< dtype as the file spells it: "F32"
  DType dtype = DType::Unknown;     ///< Unknown for a word we do not know
  std::vector<std::int64_t> sizes;  ///< as torch has them: of F4 the last one counts pairs
  /// First byte and one past the last, counted from the start of the data and within them; both 0
  /// when the file's offsets are not.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string problem;  ///< why it cannot be as described; empty when it can
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;  ///< in the order of the header, duplicates included
  std::map<std::string, std::string> metadata;
  std::uint64_t dataOffset = 0;  ///< where the data start in the file
  std::uint64_t dataBytes = 0;
};

/// Memory that a parsed header may take: room for some hundred thousand tensors.
inline constexpr std::uint64_t kMostHeaderMemory = std::uint64_t{128} << 20;

/// Reads the header of a safetensors file: eight bytes of length, then that much JSON, at most 100
/// MB (https://github.com/huggingface/safetensors, README "Format"). A tensor whose offsets do not
/// fit its shape or the file is kept with its problem; whether tensors overlap is not looked at.
/// Fails with Input when the header is damaged.
[[nodiscard]] Result<SafetensorsHeader> readSafetensorsHeader(const ByteSource& source);

/// Gives a problem to tensors whose data overlap another's or leave bytes that are of none, and
/// whose name occurs twice: the format's own reader wants every byte to belong to exactly one
/// tensor, and of two entries with one name it takes one. A file with others hides something.
void markPlaces(SafetensorsHeader& header);

/// The format's word for a dtype and its place in the order in which the reference writer lays
/// dtypes out (widest last); nullopt for a dtype the format lacks.
struct SafetensorsWord {
  std::string_view word;
  std::size_t rank = 0;
};
[[nodiscard]] std::optional<SafetensorsWord> safetensorsWord(DType dtype);

}  // namespace neuroncheck::scanner

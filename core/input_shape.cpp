// SPDX-License-Identifier: Apache-2.0
#include "core/input_shape.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck {
namespace {

// Larger tensors exist nowhere; the bound keeps products within 64 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// Sizes of "2x3"; false for anything else.
bool readSizes(std::string_view text, std::vector<std::int64_t>& sizes) {
  std::int64_t elements = 1;
  while (!text.empty()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || (size != 0 && elements > kMostElements / size)) {
      return false;
    }
    elements *= size;
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) {
      return true;
    }
    if (text.front() != 'x' || text.size() == 1) {
      return false;
    }
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace

Result<InputShape> InputShape::parse(std::string_view text) {
  InputShape shape;
  const std::size_t colon = text.find(':');
  bool good = !text.empty() && readSizes(text.substr(0, colon), shape.sizes);
  if (colon != std::string_view::npos) {
    const auto dtype = parseDType(text.substr(colon + 1));
    good = good && dtype && *dtype != DType::Unknown;
    shape.dtype = dtype.value_or(DType::Unknown);
  }
  if (!good) {
    return fail(ErrorCode::Usage,
                fmt::format("--input-shape '{}': sizes joined by x and, if it is not float32, a "
                            "dtype: 1x3x224x224, 1x128:int64, or :int64 for no dimension",
                            text));
  }
  return shape;
}

std::string InputShape::str() const {
  return fmt::format("{}:{}", fmt::join(sizes, "x"), name(dtype));
}

}  // namespace neuroncheck

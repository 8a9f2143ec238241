// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/enum_table.h"

namespace neuroncheck {
namespace {

constexpr EnumWords<9> kLayouts{"unknown",    "sparse_coo", "sparse_csr",
                                "sparse_csc", "sparse_bsr", "sparse_bsc",
                                "_mkldnn",    "strided",    "jagged"};
constexpr EnumWords<5> kMemoryFormats{"unknown", "contiguous_format", "channels_last",
                                      "channels_last_3d", "preserve_format"};

std::string_view unqualified(std::string_view text) {
  constexpr std::string_view kPrefix = "torch.";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

bool isOne(const SymInt& size) { return !size.isSymbolic() && size.value == 1; }
bool isZero(const SymInt& size) { return !size.isSymbolic() && size.value == 0; }

SymExprPtr expression(const SymInt& value) {
  return value.isSymbolic() ? value.expr : SymExpr::makeInteger(value.value);
}

// nullopt when a plain product leaves int64.
std::optional<SymInt> product(const SymInt& a, const SymInt& b) {
  if (a.isSymbolic() || b.isSymbolic()) {
    return SymInt(SymExpr::makeCall("Mul", {expression(a), expression(b)}));
  }
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a.value, b.value, &out)) {
    return std::nullopt;
  }
  return SymInt(out);
}

// Do the strides grow densely along `order`, innermost dimension first? A symbolic size is taken to
// be neither 0 nor 1, as torch's shape environment does for the sizes it guards on; a
// data-dependent one leaves the answer open.
std::optional<bool> denseInOrder(const TensorSpec& spec, const std::vector<std::size_t>& order) {
  if (std::any_of(spec.sizes.begin(), spec.sizes.end(), isZero)) {
    return true;
  }
  const bool dataDependent =
      std::any_of(spec.sizes.begin(), spec.sizes.end(),
                  [](const SymInt& size) { return size.isSymbolic() && size.expr->isUnbacked(); });
  SymInt expected(1);
  bool open = false;
  for (const std::size_t dim : order) {
    const SymInt& size = spec.sizes[dim];
    const SymInt& stride = spec.strides[dim];
    if (isOne(size)) {
      continue;
    }
    if (!(stride == expected)) {
      const bool decided = !stride.isSymbolic() && !expected.isSymbolic() && !dataDependent;
      if (decided) {
        return false;
      }
      open = true;
    }
    auto next = product(expected, size);
    if (!next) {
      return std::nullopt;
    }
    expected = *std::move(next);
  }
  return open ? std::nullopt : std::optional(true);
}

}  // namespace

std::string_view name(Layout layout) { return enumWord(kLayouts, layout); }
std::string_view name(MemoryFormat format) { return enumWord(kMemoryFormats, format); }

std::optional<Layout> parseLayout(std::string_view text) {
  return enumOf<Layout>(kLayouts, unqualified(text));
}

std::optional<MemoryFormat> parseMemoryFormat(std::string_view text) {
  return enumOf<MemoryFormat>(kMemoryFormats, unqualified(text));
}

Layout layoutFromExportCode(std::int64_t code) {
  constexpr auto kLast = static_cast<std::int64_t>(Layout::Strided);
  return code >= 0 && code <= kLast ? static_cast<Layout>(code) : Layout::Unknown;
}

MemoryFormat memoryFormatFromExportCode(std::int64_t code) {
  constexpr auto kLast = static_cast<std::int64_t>(MemoryFormat::Preserve);
  return code >= 0 && code <= kLast ? static_cast<MemoryFormat>(code) : MemoryFormat::Unknown;
}

bool isSparse(Layout layout) {
  return layout == Layout::SparseCoo || layout == Layout::SparseCsr ||
         layout == Layout::SparseCsc || layout == Layout::SparseBsr || layout == Layout::SparseBsc;
}

std::string Device::str() const { return index ? type + ":" + std::to_string(*index) : type; }

bool TensorSpec::isSymbolic() const {
  const auto symbolic = [](const SymInt& value) { return value.isSymbolic(); };
  return std::any_of(sizes.begin(), sizes.end(), symbolic) ||
         std::any_of(strides.begin(), strides.end(), symbolic) || storageOffset.isSymbolic();
}

std::optional<std::int64_t> TensorSpec::elementCount() const {
  if (!hasShape) {
    return std::nullopt;
  }
  const bool symbolic =
      std::any_of(sizes.begin(), sizes.end(), [](const SymInt& s) { return s.isSymbolic(); });
  if (symbolic) {
    return std::nullopt;
  }
  // An empty tensor has no elements however large its other sizes are.
  if (std::any_of(sizes.begin(), sizes.end(), isZero)) {
    return 0;
  }
  std::int64_t count = 1;
  for (const SymInt& size : sizes) {
    if (size.value < 0 || __builtin_mul_overflow(count, size.value, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<std::int64_t> TensorSpec::byteCount() const {
  const std::optional<std::int64_t> count = elementCount();
  const std::int64_t bytes = itemSize(dtype);
  std::int64_t out = 0;
  if (!count || bytes == 0 || __builtin_mul_overflow(*count, bytes, &out)) {
    return std::nullopt;
  }
  return out;
}

std::optional<bool> TensorSpec::isContiguous() const {
  if (!hasShape) {
    return std::nullopt;
  }
  if (std::any_of(sizes.begin(), sizes.end(), isZero) || sizes.empty()) {
    return true;
  }
  if (strides.size() != sizes.size()) {
    return std::nullopt;
  }
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = order.size() - 1 - i;
  }
  return denseInOrder(*this, order);
}

bool TensorSpec::isChannelsLast() const {
  const bool spatial = sizes.size() == 4 || sizes.size() == 5;
  if (!spatial || strides.size() != sizes.size() || isContiguous() == true) {
    return false;
  }
  // Channels innermost, then the spatial dimensions from last to first, then the batch.
  std::vector<std::size_t> order{1};
  for (std::size_t dim = sizes.size() - 1; dim >= 2; --dim) {
    order.push_back(dim);
  }
  order.push_back(0);
  return denseInOrder(*this, order) == true;
}

std::string TensorSpec::str() const {
  std::string out(shortName(dtype));
  if (!hasShape) {
    return out + "[?]";
  }
  out += '[';
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += sizes[i].str();
  }
  return out + ']';
}

}  // namespace neuroncheck

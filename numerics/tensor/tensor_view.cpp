// SPDX-License-Identifier: Apache-2.0
#include "numerics/tensor/tensor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

namespace neuroncheck::numerics {
namespace {

using Wide = __int128;

/// Lowest and highest element a view reaches, in elements from the start of its bytes.
std::pair<Wide, Wide> reach(const TensorView& view) {
  Wide low = view.offset;
  Wide high = view.offset;
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    const Wide span = Wide{view.sizes[d] - 1} * view.strides[d];
    (span < 0 ? low : high) += span;
  }
  return {low, high};
}
}  // namespace

DType componentOf(DType dtype) {
  switch (dtype) {
    case DType::Complex32:
      return DType::Float16;
    case DType::Complex64:
      return DType::Float32;
    case DType::Complex128:
      return DType::Float64;
    default:
      return dtype;
  }
}

Result<std::int64_t> elementCount(std::span<const std::int64_t> sizes) {
  if (const auto negative = std::ranges::find_if(sizes, [](auto size) { return size < 0; });
      negative != sizes.end()) {
    return inputError(fmt::format("a size is negative: {}", *negative));
  }
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    return 0;
  }
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(count, size, &count)) {
      return inputError(
          fmt::format("[{}] has more elements than 64 bits can count", fmt::join(sizes, ",")));
    }
  }
  return count;
}

std::vector<std::int64_t> contiguousStrides(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

std::vector<std::int64_t> positionOf(std::int64_t linear, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> position(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    position[d] = linear % sizes[d];
    linear /= sizes[d];
  }
  return position;
}

std::int64_t linearOf(std::span<const std::int64_t> position, std::span<const std::int64_t> sizes) {
  std::int64_t linear = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    linear = linear * sizes[d] + position[d];
  }
  return linear;
}

Result<TensorView> TensorView::make(DType dtype, std::span<const std::byte> bytes,
                                    std::vector<std::int64_t> sizes,
                                    std::vector<std::int64_t> strides, std::int64_t offset) {
  const std::int64_t item = itemSize(dtype);
  if (item == 0 || kind(dtype) == DTypeKind::Quantized || dtype == DType::Float4E2M1FNx2) {
    return inputError(fmt::format("a tensor of dtype {} cannot be compared by element",
                                  neuroncheck::name(dtype)));
  }
  if (strides.size() != sizes.size()) {
    return inputError(fmt::format("{} sizes but {} strides", sizes.size(), strides.size()));
  }
  NEURONCHECK_TRY(const std::int64_t count, elementCount(sizes));
  TensorView view{dtype, bytes, std::move(sizes), std::move(strides), offset};
  if (count == 0) {
    return view;
  }
  const auto [low, high] = reach(view);
  if (low < 0 || (high + 1) * item > static_cast<Wide>(bytes.size())) {
    return inputError(fmt::format("{} with strides [{}] and offset {} reaches beyond its {} bytes",
                                  view.str(), fmt::join(view.strides, ","), offset, bytes.size()));
  }
  return view;
}

Result<TensorView> TensorView::contiguous(DType dtype, std::span<const std::byte> bytes,
                                          std::vector<std::int64_t> sizes) {
  NEURONCHECK_TRY([[maybe_unused]] const std::int64_t count, elementCount(sizes));
  auto strides = contiguousStrides(sizes);
  return make(dtype, bytes, std::move(sizes), std::move(strides));
}

std::int64_t TensorView::count() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    product *= size;
  }
  return product;
}

bool TensorView::isContiguous() const {
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != step) {
      return count() == 0;
    }
    step *= sizes[d];
  }
  return true;
}

TensorView TensorView::asReal() const {
  if (!isComplex(dtype)) {
    return *this;
  }
  TensorView real = *this;
  real.dtype = componentOf(dtype);
  for (std::int64_t& stride : real.strides) {
    stride *= 2;
  }
  real.offset *= 2;
  real.sizes.push_back(2);
  real.strides.push_back(1);
  return real;
}

std::string TensorView::str() const {
  return fmt::format("{}[{}]", shortName(dtype), fmt::join(sizes, ","));
}

ElementReader::ElementReader(const TensorView& view)
    : view_(view), contiguous_(view.isContiguous()), item_(itemSize(view.dtype)) {}

std::int64_t ElementReader::placeOf(std::int64_t linear) const {
  std::int64_t place = view_.offset;
  for (std::size_t d = view_.sizes.size(); d-- > 0;) {
    place += (linear % view_.sizes[d]) * view_.strides[d];
    linear /= view_.sizes[d];
  }
  return place;
}

std::span<const std::byte> ElementReader::raw(std::int64_t first, std::int64_t count) {
  if (count == 0) {
    return {};
  }
  const auto item = static_cast<std::size_t>(item_);
  const auto bytes = static_cast<std::size_t>(count) * item;
  if (contiguous_) {
    return view_.bytes.subspan(static_cast<std::size_t>(view_.offset + first) * item, bytes);
  }
  buffer_.resize(bytes);
  std::byte* out = buffer_.data();
  // Whole rows of the last dimension at a time: only the first element of each needs a division.
  const std::int64_t row = view_.sizes.back();
  const std::int64_t step = view_.strides.back() * item_;
  while (count > 0) {
    const std::int64_t run = std::min(row - first % row, count);
    const std::byte* from = view_.bytes.data() + placeOf(first) * item_;
    for (std::int64_t i = 0; i < run; ++i, from += step, out += item) {
      std::copy_n(from, item, out);
    }
    first += run;
    count -= run;
  }
  return buffer_;
}

void askFor([[maybe_unused]] const std::byte* run, [[maybe_unused]] std::size_t ahead,
            [[maybe_unused]] std::size_t count) {
#if defined(__GNUC__)
  constexpr std::size_t kLine = 64;
  // The place may lie beyond the tensor: nothing is read there, and asking does no harm.
  for (std::size_t at = 0; at < count; at += kLine) {
    __builtin_prefetch(run + ahead + at);
  }
#endif
}

void decodeAhead(DType dtype, std::span<const std::byte> raw, std::span<double> out) {
  const auto item = static_cast<std::size_t>(itemSize(dtype));
  for (std::size_t from = 0; from < out.size(); from += kAhead) {
    const std::size_t count = std::min(kAhead, out.size() - from);
    askFor(raw.data() + from * item, raw.size(), count * item);
    decodeRun(dtype, raw.subspan(from * item, count * item), out.subspan(from, count));
  }
}

void ElementReader::values(std::int64_t first, std::span<double> out) {
  decodeAhead(view_.dtype, raw(first, static_cast<std::int64_t>(out.size())), out);
}

void ElementReader::integers(std::int64_t first, std::span<std::int64_t> out) {
  decodeIntegers(view_.dtype, raw(first, static_cast<std::int64_t>(out.size())), out);
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#include "numerics/tensor/tensor_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

namespace neuroncheck::numerics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<double> readAll(const TensorView& view) {
  std::vector<double> out(static_cast<std::size_t>(view.count()));
  ElementReader(view).values(0, out);
  return out;
}

TEST(TensorView, RefusesWhatReachesBeyondItsBytes) {
  const std::vector<float> data(6);
  const auto bytes = bytesOf(data);
  const auto why = [&](auto... args) {
    auto view = TensorView::make(args...);
    return view ? std::string("accepted") : view.error().message;
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2, 3}, Sizes{3, 1}, 0), "accepted");
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2, 3}, Sizes{3, 1}, 1), HasSubstr("reaches beyond"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2, 3}, Sizes{-3, 1}, 0),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2, 3}, Sizes{-3, 1}, 3), "accepted");
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{1000000}, Sizes{0}, 5), "accepted");
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2, 1LL << 62}, Sizes{0, 1LL << 62}, 0),
              HasSubstr("more elements than 64 bits"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{1LL << 40, 2}, Sizes{1LL << 40, 1}, 0),
              HasSubstr("reaches beyond"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{-1}, Sizes{1}, 0), HasSubstr("negative"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{2}, Sizes{}, 0), HasSubstr("1 sizes but 0 strides"));
  EXPECT_THAT(why(DType::QInt8, bytes, Sizes{2}, Sizes{1}, 0), HasSubstr("qint8"));
  EXPECT_THAT(why(DType::Float4E2M1FNx2, bytes, Sizes{2}, Sizes{1}, 0), HasSubstr("cannot be"));
  EXPECT_THAT(why(DType::Float32, bytes, Sizes{0, 9}, Sizes{9, 1}, 77), "accepted");
}

TEST(TensorView, ReadsStridesOffsetsAndRankZero) {
  std::vector<float> data(12);
  std::iota(data.begin(), data.end(), 0.0F);
  const auto bytes = bytesOf(data);
  EXPECT_THAT(readAll(*TensorView::make(DType::Float32, bytes, {2, 3}, {1, 4}, 1)),
              ElementsAre(1, 5, 9, 2, 6, 10));
  EXPECT_THAT(readAll(*TensorView::make(DType::Float32, bytes, {2, 2}, {0, 3}, 2)),
              ElementsAre(2, 5, 2, 5));
  EXPECT_THAT(readAll(*TensorView::make(DType::Float32, bytes, {}, {}, 7)), ElementsAre(7));
  EXPECT_THAT(readAll(*TensorView::make(DType::Float32, bytes, {3}, {-2}, 6)),
              ElementsAre(6, 4, 2));
  EXPECT_THAT(readAll(*TensorView::make(DType::Float32, bytes, {2, 0}, {5, 5}, 3)), ElementsAre());
  EXPECT_EQ(TensorView::contiguous(DType::Float32, bytes, {3, 4})->str(), "f32[3,4]");
}

TEST(TensorView, ComplexIsPairsOfComponents) {
  const std::vector<float> data{1, 2, 3, 4, 5, 6};
  const auto view = TensorView::make(DType::Complex64, bytesOf(data), {2}, {2}, 0);
  const TensorView real = view->asReal();
  EXPECT_THAT(real.sizes, ElementsAre(2, 2));
  EXPECT_THAT(readAll(real), ElementsAre(1, 2, 5, 6));
}

TEST(TensorView, IntegersAreExactBeyondDoubles) {
  const std::vector<std::int64_t> data{(1LL << 53) + 1, std::numeric_limits<std::int64_t>::min()};
  const auto view = TensorView::contiguous(DType::Int64, bytesOf(data), {2});
  std::vector<std::int64_t> out(2);
  ElementReader(*view).integers(0, out);
  EXPECT_EQ(out, data);
}

TEST(TensorView, EveryNarrowPatternReadsAsDecodeSays) {
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float8E4M3FN, DType::Float8E5M2,
                            DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ, DType::Float8E8M0FNU}) {
    const Format format = *formatOf(dtype);
    const auto item = static_cast<std::size_t>(itemSize(dtype));
    const std::size_t count = std::size_t{1} << (8 * item);
    std::vector<std::byte> bytes(count * item);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(bytes.data() + i * item, &i, item);
    }
    const auto values =
        readAll(*TensorView::contiguous(dtype, bytes, {static_cast<std::int64_t>(count)}));
    for (std::size_t i = 0; i < count; ++i) {
      const double expected = decode(format, i);
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(values[i]) : values[i] == expected)
          << name(format) << ' ' << i;
      ASSERT_EQ(std::signbit(values[i]), std::signbit(expected)) << name(format) << ' ' << i;
    }
  }
}

RC_GTEST_PROP(TensorView, ARunIsThatPartOfTheWhole, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange(1, 6));
  const auto order = *rc::gen::element(0, 1, 2);
  std::vector<std::int64_t> strides = contiguousStrides(sizes);
  if (order == 1) {
    strides = {1, sizes[0], sizes[0] * sizes[1]};
  } else if (order == 2) {
    strides = {0, 2, 1};
  }
  std::vector<std::int32_t> data(400);
  std::iota(data.begin(), data.end(), 0);
  const auto view = TensorView::make(DType::Int32, bytesOf(data), sizes, strides, 3);
  RC_ASSERT(view.has_value());
  const auto whole = readAll(*view);
  const auto first = *rc::gen::inRange<std::size_t>(0, whole.size());
  const auto count = *rc::gen::inRange<std::size_t>(0, whole.size() - first + 1);
  std::vector<double> part(count);
  ElementReader(*view).values(static_cast<std::int64_t>(first), part);
  RC_ASSERT(
      std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
  // And each element is where its position says.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto at = positionOf(static_cast<std::int64_t>(i), sizes);
    RC_ASSERT(linearOf(at, sizes) == static_cast<std::int64_t>(i));
    const auto place = 3 + at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
    RC_ASSERT(whole[i] == static_cast<double>(place));
  }
}

TEST(TensorView, EncodesElementsOfEveryDtype) {
  std::array<std::byte, 8> out{};
  const auto bits = [&](DType dtype, double value) {
    out.fill(std::byte{0});
    encodeElement(dtype, value, out.data());
    std::uint64_t whole = 0;
    std::memcpy(&whole, out.data(), 8);
    return whole;
  };
  EXPECT_EQ(bits(DType::Int8, -1), 0xffU);
  EXPECT_EQ(bits(DType::UInt8, 257), 1U);
  EXPECT_EQ(bits(DType::UInt64, 0x1p63), std::uint64_t{1} << 63);
  EXPECT_EQ(bits(DType::Int64, -2), ~std::uint64_t{1});
  EXPECT_EQ(bits(DType::Bool, 0.5), 1U);
  EXPECT_EQ(bits(DType::BFloat16, 1.0), 0x3f80U);
}

}  // namespace
}  // namespace neuroncheck::numerics

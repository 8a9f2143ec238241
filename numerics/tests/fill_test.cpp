// SPDX-License-Identifier: Apache-2.0
// What every fill promises: the same bytes whatever is asked for, by whom and where.
#include "numerics/fill/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <set>
#include <thread>

#include "core/content_hash.h"
#include "numerics/fill/counter_random.h"
#include "numerics/tests/fill_support.h"

namespace neuroncheck::numerics {
namespace {

using testing::HasSubstr;

std::uint64_t hashOf(const std::vector<std::byte>& bytes) {
  return contentHash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// A request of each fill that is legal for the dtype; nullopt where the fill has no meaning.
std::optional<FillRequest> sample(FillId fill, DType dtype, std::int64_t rows, std::int64_t columns,
                                  int variant) {
  FillRequest asked = request(fill, dtype, {rows, columns}, variant);
  asked.k = columns;
  asked.reductionAxis = -1;
  asked.conditionLog2 = 4;
  asked.op = "aten::exp";
  return Filler::make(asked) ? std::optional(asked) : std::nullopt;
}

TEST(Fill, GoldenHashes) {
  struct Golden {
    FillId fill;
    int variant;
    DType dtype;
    std::uint64_t hash;
  };
  const std::vector<Golden> goldens = {
      {FillId::DenseIntegers, 0, DType::BFloat16, 0xa79e46a9efa1c9bb},
      {FillId::DenseIntegers, 0, DType::Int8, 0xf5b7aefeef7274f4},
      {FillId::SparseIntegers, 0, DType::Float32, 0xdc03a982def57175},
      {FillId::SparseIntegers, 1, DType::Float8E5M2, 0x9cc9bcf9edab512d},
      {FillId::Normal, 0, DType::Float32, 0xe7a3d2fc56349131},
      {FillId::Normal, 1, DType::Float64, 0xbb582de0ce147f6b},
      {FillId::Normal, 2, DType::BFloat16, 0xbe98418e73733355},
      {FillId::Normal, 0, DType::Complex64, 0x4c4aa62f1ef97fbf},
      {FillId::UniformPositive, 0, DType::Float16, 0x68e05897642f9e6e},
      {FillId::SpecialValues, 0, DType::Float32, 0x4a6b8cc7730d0f49},
      {FillId::SpecialValues, 0, DType::Int64, 0x7f9f9628b325f50c},
      {FillId::Cancellation, 0, DType::Float32, 0x2a25899b04e2a39d},
      {FillId::Cancellation, 2, DType::BFloat16, 0x2f1e6d9a8d4860a5},
      {FillId::Cancellation, 3, DType::Float32, 0x7f57a31123649926},
      {FillId::Cancellation, 4, DType::Float64, 0xb9028bd57c988fc4},
      {FillId::BitPatterns, 0, DType::Float16, 0x662ea999ed0995b0},
      {FillId::BitPatterns, 1, DType::Float64, 0x1c0d0c9e73c60f3b},
      {FillId::Exhaustive, 0, DType::Float32, 0xe8e6aaa4c5758c8e},
      {FillId::PositionCodes, 1, DType::BFloat16, 0x84a95a7e403e0b09},
      {FillId::DomainEdges, 0, DType::Float32, 0x9868c3942fcb1faa},
  };
  for (const Golden& golden : goldens) {
    FillRequest asked = request(golden.fill, golden.dtype, {5, 300}, golden.variant);
    asked.k = 300;
    asked.reductionAxis = 1;
    asked.tensor = 1;
    asked.op = "aten::exp";
    const std::uint64_t hash = hashOf(bytesOfFill(asked));
    EXPECT_EQ(hash, golden.hash) << "{FillId(" << static_cast<int>(golden.fill) << "), "
                                 << golden.variant << ", DType::" << name(golden.dtype) << ", 0x"
                                 << std::hex << hash << "},";
  }
}

RC_GTEST_PROP(Fill, ARunIsThatPartOfTheWhole, ()) {
  const auto id = static_cast<FillId>(*rc::gen::inRange<std::size_t>(0, kFillCount));
  const DType dtype = *rc::gen::elementOf(everyDType());
  const auto asked = sample(id, dtype, *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 200),
                            *rc::gen::inRange(0, 5));
  RC_PRE(asked.has_value());
  const auto whole = bytesOfFill(*asked);
  const auto filler = Filler::make(*asked);
  const auto item = itemSize(dtype);
  const auto first = *rc::gen::inRange<std::int64_t>(0, filler->count());
  const auto count = *rc::gen::inRange<std::int64_t>(0, filler->count() - first + 1);
  std::vector<std::byte> part(static_cast<std::size_t>(count * item));
  RC_ASSERT(fill(*asked, first, part).has_value());
  RC_ASSERT(std::equal(part.begin(), part.end(), whole.begin() + first * item));
}

TEST(Fill, ThreadsAndTheirNumberDoNotMatter) {
  FillRequest asked = request(FillId::Normal, DType::BFloat16, {100, 1000});
  const auto whole = bytesOfFill(asked);
  const auto filler = Filler::make(asked);
  for (const std::size_t threads : {2U, 3U, 7U}) {
    std::vector<std::byte> bytes(whole.size());
    const std::size_t share = whole.size() / 2 / threads + 1;
    {
      std::vector<std::jthread> pool;
      for (std::size_t t = 0; t < threads; ++t) {
        pool.emplace_back([&, t] {
          const std::size_t first = t * share;
          const std::size_t count = std::min(share, whole.size() / 2 - first);
          filler->write(static_cast<std::int64_t>(first),
                        std::span(bytes).subspan(first * 2, count * 2));
        });
      }
    }
    EXPECT_TRUE(bytes == whole) << threads;
  }
}

TEST(Fill, SeedsAndTensorsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint32_t tensor = 0; tensor < 3; ++tensor) {
      FillRequest asked = request(FillId::Normal, DType::Float32, {64}, 0, seed);
      asked.tensor = tensor;
      seen.insert(hashOf(bytesOfFill(asked)));
    }
  }
  EXPECT_EQ(seen.size(), 60U);
}

TEST(Fill, RefusesWhatItCannotMake) {
  EXPECT_THAT(whyNot(request(FillId::Normal, DType::QInt8, {3})), HasSubstr("qint8 cannot be"));
  EXPECT_THAT(whyNot(request(FillId::Normal, DType::Float32, {3, -1})), HasSubstr("negative"));
  EXPECT_THAT(whyNot(request(FillId::Normal, DType::Float32, {3}, 3)),
              HasSubstr("variants 0 to 2"));
  EXPECT_THAT(whyNot(request(FillId::Cancellation, DType::Int32, {3})),
              HasSubstr("nothing cancels in int32"));
  EXPECT_THAT(whyNot(request(FillId::DenseIntegers, DType::Float8E8M0FNU, {3})),
              HasSubstr("powers of two"));
  FillRequest asked = request(FillId::DenseIntegers, DType::Float32, {3});
  asked.k = 1 << 25;
  EXPECT_THAT(whyNot(asked), HasSubstr("not exact up to"));
  asked.k = 0;
  EXPECT_THAT(whyNot(asked), HasSubstr("at least 1"));
  asked = request(FillId::SparseIntegers, DType::Float32, {3});
  asked.reductionAxis = 1;
  EXPECT_THAT(whyNot(asked), HasSubstr("dimension 1 of a tensor with 1"));
  std::vector<std::byte> three(12);
  EXPECT_FALSE(fill(request(FillId::Normal, DType::Float32, {3}), 1, three));
  EXPECT_FALSE(fill(request(FillId::Normal, DType::Float32, {3}), -1, three));
  EXPECT_FALSE(fill(request(FillId::Normal, DType::Float32, {3}), 0, std::span(three).first(5)));
  EXPECT_TRUE(fill(request(FillId::Normal, DType::Float32, {3}), 0, three));
}

TEST(Fill, EmptyTensorsAndRankZero) {
  for (std::size_t i = 0; i < kFillCount; ++i) {
    FillRequest asked = request(static_cast<FillId>(i), DType::Float32, {0, 7});
    EXPECT_TRUE(bytesOfFill(asked).empty()) << i;
    asked.sizes = {};
    EXPECT_EQ(bytesOfFill(asked).size(), 4U) << i;
    EXPECT_EQ(parseFill(name(asked.fill)), asked.fill);
  }
  EXPECT_FALSE(parseFill("G11"));
}

TEST(CounterRandom, IsPhiloxByPosition) {
  const CounterRandom random(42, 3);
  std::vector<std::uint64_t> run(300);
  random.words(CounterRandom::Stream::Values, 17, run);
  std::set<std::uint64_t> unique;
  for (std::size_t i = 0; i < run.size(); ++i) {
    EXPECT_EQ(run[i], random.word(CounterRandom::Stream::Values, 17 + static_cast<int>(i)));
    unique.insert(run[i]);
    unique.insert(random.word(CounterRandom::Stream::Rows, 17 + static_cast<int>(i)));
    unique.insert(
        CounterRandom(42, 4).word(CounterRandom::Stream::Values, 17 + static_cast<int>(i)));
  }
  EXPECT_EQ(unique.size(), 900U);
  EXPECT_EQ(unitInterval(0), 0x1p-53);
  EXPECT_EQ(unitInterval(~std::uint64_t{0}), 1 - 0x1p-53);
  EXPECT_EQ(below(0, 7), 0);
  EXPECT_EQ(below(~std::uint64_t{0}, 7), 6);
}

RC_GTEST_PROP(IndexPermutation, IsOne, ()) {
  const auto size = *rc::gen::inRange<std::int64_t>(1, 700);
  const IndexPermutation order(size, *rc::gen::arbitrary<std::uint64_t>());
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t at = order.at(i);
    RC_ASSERT(at >= 0 && at < size && !seen[static_cast<std::size_t>(at)]);
    seen[static_cast<std::size_t>(at)] = true;
  }
}

TEST(NormalQuantile, AgreesWithBoost) {
  const boost::math::normal_distribution<double> normal;
  for (int i = 1; i < 20000; ++i) {
    const double p = i / 20000.0;
    EXPECT_NEAR(normalQuantile(p), boost::math::quantile(normal, p), 2e-15 * 5) << p;
  }
  for (int e = 2; e <= 53; ++e) {
    const double p = std::ldexp(1.0, -e);
    const double expected = boost::math::quantile(normal, p);
    EXPECT_NEAR(normalQuantile(p) / expected, 1, 4e-15) << p;
    EXPECT_EQ(normalQuantile(1 - p), -normalQuantile(1 - (1 - p))) << p;
  }
}

}  // namespace
}  // namespace neuroncheck::numerics

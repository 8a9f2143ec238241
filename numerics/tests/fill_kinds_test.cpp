// SPDX-License-Identifier: Apache-2.0
// What each fill is for: exactness of G1 and G2, places of G2, distributions of G3 and G4 (by the
// tests of random results), conditions of G6, completeness of G5 and G8, uniqueness of G9, edges of
// G10.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "numerics/format/float_format.h"
#include "numerics/random/distribution_tests.h"
#include "numerics/random/independence.h"
#include "numerics/tests/fill_support.h"

namespace neuroncheck::numerics {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// Sums of a matrix product's terms in fp32, in an order chosen by `shuffle`.
void expectExactInFp32(const std::vector<double>& a, const std::vector<double>& b, std::int64_t m,
                       std::int64_t k, std::int64_t n, double most) {
  std::mt19937 order(1);
  std::vector<std::size_t> terms(static_cast<std::size_t>(k));
  std::iota(terms.begin(), terms.end(), std::size_t{0});
  const auto columns = static_cast<std::size_t>(n);
  for (std::int64_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::int64_t exact = 0;
      double magnitude = 0;
      const auto term = [&](std::size_t i) {
        return a[static_cast<std::size_t>(row * k) + i] * b[i * columns + column];
      };
      for (const std::size_t i : terms) {
        exact += static_cast<std::int64_t>(term(i));
        magnitude += std::abs(term(i));
      }
      ASSERT_LE(magnitude, most);
      for (int repeat = 0; repeat < 3; ++repeat) {
        float sum = 0;
        for (const std::size_t i : terms) {
          sum += static_cast<float>(term(i));
        }
        ASSERT_EQ(static_cast<double>(sum), static_cast<double>(exact));
        std::shuffle(terms.begin(), terms.end(), order);
      }
    }
  }
}

TEST(DenseIntegers, SumsAreExactInEveryOrder) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Float8E4M3FN,
                            DType::Float8E5M2, DType::Int8, DType::Int32, DType::UInt8}) {
    for (const std::int64_t k : {1, 129, 3000}) {
      FillRequest a = request(FillId::DenseIntegers, dtype, {4, k});
      a.k = k;
      FillRequest b = a;
      b.tensor = 1;
      b.sizes = {k, 4};
      const auto left = valuesOf(a);
      EXPECT_THAT(left, Each(Not(0.0))) << name(dtype);
      expectExactInFp32(left, valuesOf(b), 4, k, 4, 0x1p24);
    }
  }
  // The range shrinks with k, and grows again for a plain sum.
  FillRequest asked = request(FillId::DenseIntegers, DType::Float32, {4096});
  const auto most = [&] {
    const auto values = valuesOf(asked);
    return *std::max_element(values.begin(), values.end());
  };
  EXPECT_EQ(most(), 64);
  asked.k = 1 << 20;
  EXPECT_EQ(most(), 4);
  asked.factors = 1;
  EXPECT_EQ(most(), 16);
  asked.accumulatorLimit = 0x1p31;
  EXPECT_EQ(most(), 64);
}

TEST(SparseIntegers, ExactInTheOutputWithNonZerosWhereTilesEnd) {
  for (const DType dtype :
       {DType::Float32, DType::BFloat16, DType::Float16, DType::Float8E4M3FN, DType::Float8E5M2}) {
    for (const std::int64_t k : {1, 2, 127, 128, 129, 513, 3000}) {
      FillRequest a = request(FillId::SparseIntegers, dtype, {5, k});
      a.k = k;
      a.reductionAxis = 1;
      FillRequest b = a;
      b.tensor = 1;
      b.sizes = {k, 5};
      b.reductionAxis = 0;
      b.variant = 1;
      const auto left = valuesOf(a);
      const auto right = valuesOf(b);
      EXPECT_THAT(right, Each(Not(0.0)));
      expectExactInFp32(left, right, 5, k, 5, exactIntegers(dtype));
      for (std::int64_t row = 0; row < 5; ++row) {
        for (const std::int64_t place :
             {std::int64_t{0}, std::int64_t{127}, std::int64_t{128}, std::int64_t{255},
              std::int64_t{256}, std::int64_t{511}, std::int64_t{512}, k - 1}) {
          if (place < k) {
            EXPECT_NE(left[static_cast<std::size_t>(row * k + place)], 0) << k << ' ' << place;
          }
        }
      }
      if (k == 3000) {
        // Sparse all the same, and at other places in each row.
        const auto zeros = std::count(left.begin(), left.end(), 0.0);
        EXPECT_GT(static_cast<double>(zeros), 0.8 * static_cast<double>(left.size()));
        if (dtype == DType::Float32) {
          EXPECT_LT(static_cast<double>(zeros), 0.9 * static_cast<double>(left.size()));
        }
      }
    }
  }
  FillRequest narrow = request(FillId::SparseIntegers, DType::Float32, {1000});
  narrow.reductionAxis = 0;
  narrow.outputLimit = 7;
  EXPECT_THAT(whyNot(narrow), HasSubstr("8 forced terms do not fit"));
}

TEST(SparseIntegers, ElementwiseKeepsLastRowsAndColumns) {
  const auto values = valuesOf(request(FillId::SparseIntegers, DType::Float32, {9, 300}));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % 300;
    if (i / 300 == 8 || column == 0 || column == 127 || column == 128 || column == 299) {
      EXPECT_NE(values[i], 0) << i;
    }
  }
  EXPECT_GT(std::count(values.begin(), values.end(), 0.0), 1500);
}

TEST(Reals, FollowTheirDistributions) {
  const auto judge = [](FillId fill, int variant, double scale, const Distribution& distribution,
                        DType dtype, std::uint64_t seed) {
    const Sampler sampler = [&](std::uint64_t s, std::int64_t n) {
      auto values = valuesOf(request(fill, dtype, {n}, variant, s));
      std::for_each(values.begin(), values.end(), [&](double& v) { v *= scale; });
      return Result<std::vector<double>>(std::move(values));
    };
    const Quantisation quantisation{formatOf(dtype).value_or(Format::Float64)};
    auto tests = distributionTests(distribution, quantisation);
    for (auto& test : independenceTests()) {
      tests.push_back(std::move(test));
    }
    for (const SampleTest& test : tests) {
      const auto finding = judgeInTwoStages(sampler, test, seed);
      // A narrow format rounds up to 1, which torch's sampler must not; this is no sampler of
      // torch.
      if (finding->test != RandomTest::Support || dtype == DType::Float64) {
        EXPECT_EQ(finding->verdict, RandomVerdict::Pass) << name(dtype) << ' ' << finding->words;
      }
    }
  };
  const auto normal = *Distribution::make(DistributionKind::Normal, 0, 1);
  const auto uniform = *Distribution::make(DistributionKind::Uniform, 0, 1);
  for (const DType dtype : {DType::Float64, DType::Float32, DType::BFloat16}) {
    judge(FillId::Normal, 0, 1, normal, dtype, 5);
    judge(FillId::UniformPositive, 0, 1, uniform, dtype, 6);
  }
  judge(FillId::Normal, 1, 0x1p20, normal, DType::Float32, 7);
  judge(FillId::Normal, 2, 0x1p-10, normal, DType::Float32, 8);
  // fp16 and fp8 stay finite; integers are small and of either sign.
  EXPECT_THAT(valuesOf(request(FillId::Normal, DType::Float8E4M3FN, {9999}, 2)),
              Each(testing::AllOf(testing::Le(448), testing::Ge(-448))));
  const auto integers = valuesOf(request(FillId::Normal, DType::Int8, {9999}));
  EXPECT_THAT(integers, Contains(testing::Lt(-20)));
  EXPECT_THAT(integers, Contains(testing::Gt(20)));
  EXPECT_THAT(valuesOf(request(FillId::UniformPositive, DType::Float16, {99999})),
              Each(testing::Gt(0)));
}

TEST(SpecialValues, MeetEveryCombination) {
  for (const DType dtype : everyDType()) {
    const std::int64_t size = specialValueCount(dtype);
    if (size == 0) {
      continue;  // complex: its components are filled
    }
    FillRequest a = request(FillId::SpecialValues, dtype, {size * size});
    a.operands = 2;
    FillRequest b = a;
    b.tensor = 1;
    const auto item = static_cast<std::size_t>(itemSize(dtype));
    const auto left = bytesOfFill(a);
    const auto right = bytesOfFill(b);
    std::set<std::string> pairs;
    for (std::size_t i = 0; i < left.size(); i += item) {
      pairs.insert(std::string(reinterpret_cast<const char*>(left.data()) + i, item) +
                   std::string(reinterpret_cast<const char*>(right.data()) + i, item));
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(size * size)) << name(dtype);
  }
  const auto values =
      valuesOf(request(FillId::SpecialValues, DType::Float32, {specialValueCount(DType::Float32)}));
  for (const double expected :
       {0.0, 0x1p-149, 0x1p-126, 1.0, 0x1.fffffep127, HUGE_VAL, -HUGE_VAL}) {
    EXPECT_THAT(values, Contains(expected));
  }
  EXPECT_EQ(std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }), 1);
  EXPECT_EQ(std::count_if(values.begin(), values.end(),
                          [](double v) { return v == 0 && std::signbit(v); }),
            1);
  const auto integers =
      valuesOf(request(FillId::SpecialValues, DType::Int64, {specialValueCount(DType::Int64)}));
  for (const double expected :
       {0x1p24 - 1, 0x1p24, 0x1p24 + 1, 0x1p31, -0x1p31, 0x1p53 - 1, -0x1p63}) {
    EXPECT_THAT(integers, Contains(expected));
  }
}

/// Condition of the dot product of row and column: 2 sum |x y| / |sum x y|, in 128-bit integers so
/// that no method is shared with the maker.
double conditionOf(const std::vector<double>& x, const std::vector<double>& y) {
  __int128 sum = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Factors are multiples of 2^-40 below 2^20.
    const auto a = static_cast<std::int64_t>(std::ldexp(x[i], 40));
    const auto b = static_cast<std::int64_t>(std::ldexp(y[i], 40));
    EXPECT_EQ(std::ldexp(static_cast<double>(a), -40), x[i]);
    EXPECT_EQ(std::ldexp(static_cast<double>(b), -40), y[i]);
    sum += static_cast<__int128>(a) * b;
    magnitude += std::abs(x[i] * y[i]);
  }
  return 2 * magnitude / std::abs(std::ldexp(static_cast<double>(sum), -80));
}

TEST(Cancellation, DotProductsHaveTheConditionAskedFor) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16}) {
    for (const int condition : {8, 16, 24}) {
      for (const std::int64_t k : {64, 513}) {
        if (dtype == DType::Float16 && condition > 20) {
          continue;  // out of its range
        }
        FillRequest a = request(FillId::Cancellation, dtype, {3, k},
                                static_cast<int>(CancellationVariant::LeftFactor));
        a.reductionAxis = 1;
        a.conditionLog2 = condition;
        FillRequest b = a;
        b.tensor = 1;
        b.sizes = {k, 3};
        b.reductionAxis = 0;
        b.variant = static_cast<int>(CancellationVariant::RightFactor);
        const auto left = valuesOf(a);
        const auto right = valuesOf(b);
        for (std::int64_t row = 0; row < 3; ++row) {
          const std::vector<double> x(left.begin() + row * k, left.begin() + (row + 1) * k);
          std::vector<double> y;
          for (std::int64_t i = 0; i < k; ++i) {
            y.push_back(right[static_cast<std::size_t>(i * 3 + row)]);
          }
          EXPECT_NEAR(std::log2(conditionOf(x, y)), condition, 1)
              << name(dtype) << ' ' << k << " 2^" << condition;
        }
      }
    }
  }
  // A sum: its terms are the right factor, the left one is all ones.
  FillRequest sum = request(FillId::Cancellation, DType::Float32, {500},
                            static_cast<int>(CancellationVariant::RightFactor));
  sum.factors = 1;
  EXPECT_NEAR(std::log2(conditionOf(std::vector<double>(500, 1.0), valuesOf(sum))), 16, 1);
  sum.conditionLog2 = 400;
  EXPECT_THAT(whyNot(sum), HasSubstr("no sum of 500 terms of float32 has condition 2^400"));
  sum.sizes = {3};
  sum.conditionLog2 = 60;
  EXPECT_THAT(whyNot(sum), HasSubstr("no sum of 3 terms"));
}

TEST(Cancellation, PairsAndMeans) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float64}) {
    const auto pairs = valuesOf(request(FillId::Cancellation, dtype, {1001}));
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const double left = pairs[i] + pairs[i + 1];
      EXPECT_NE(left, 0);
      EXPECT_LE(std::abs(left), 16 * ulp(*formatOf(dtype), pairs[i]));
    }
  }
  for (const auto& [variant, mean] : {std::pair{1, 10.0}, {2, 1000.0}}) {
    const auto values = valuesOf(request(FillId::Cancellation, DType::Float32, {4000}, variant));
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 4000, mean, 0.1);
    EXPECT_THAT(valuesOf(request(FillId::Cancellation, DType::Float8E4M3FN, {999}, variant)),
                Each(testing::Lt(400)));
  }
}

TEST(BitPatterns, CoverTheRange) {
  const auto anything = valuesOf(request(FillId::BitPatterns, DType::Float16, {20000}));
  EXPECT_THAT(anything, Contains(testing::IsNan()));
  EXPECT_THAT(anything, Contains(HUGE_VAL).Times(testing::Lt(5)));
  for (const DType dtype : everyDType()) {
    if (!isFloating(dtype)) {
      continue;
    }
    const auto values = valuesOf(request(FillId::BitPatterns, dtype, {40000}, 1));
    std::map<int, int> exponents;
    for (const double v : values) {
      ASSERT_TRUE(std::isfinite(v)) << name(dtype);
      ++exponents[v == 0 ? -9999 : std::ilogb(v)];
    }
    const FormatTraits& t = traits(*formatOf(dtype));
    EXPECT_GT(exponents[t.maxExponent()], 0) << name(dtype);
    EXPECT_GT(exponents[t.minExponent()], 0) << name(dtype);
  }
  const auto widths = valuesOf(request(FillId::BitPatterns, DType::Int64, {4000}, 1));
  EXPECT_THAT(widths, Contains(testing::Gt(0x1p62)));
  EXPECT_THAT(widths, Contains(testing::AllOf(testing::Gt(1), testing::Lt(100))));
}

TEST(Exhaustive, EveryPatternOrEvenlySpreadOnes) {
  for (const DType dtype : {DType::BFloat16, DType::Int16, DType::Float8E5M2, DType::UInt8}) {
    const auto item = static_cast<std::size_t>(itemSize(dtype));
    const auto bytes = bytesOfFill(request(FillId::Exhaustive, dtype, {65536}));
    std::set<std::string> patterns;
    for (std::size_t i = 0; i < bytes.size(); i += item) {
      patterns.insert(std::string(reinterpret_cast<const char*>(bytes.data()) + i, item));
    }
    EXPECT_EQ(patterns.size(), item == 2 ? 65536U : 256U) << name(dtype);
  }
  // 256 x 256 pairs of two 8-bit operands.
  FillRequest a = request(FillId::Exhaustive, DType::Float8E4M3FN, {256, 256});
  a.operands = 2;
  FillRequest b = a;
  b.tensor = 1;
  const auto left = bytesOfFill(a);
  const auto right = bytesOfFill(b);
  std::set<std::pair<std::byte, std::byte>> pairs;
  for (std::size_t i = 0; i < left.size(); ++i) {
    pairs.emplace(left[i], right[i]);
  }
  EXPECT_EQ(pairs.size(), 65536U);
  // One fp32 pattern of each of 2^16 equal parts.
  const auto bytes = bytesOfFill(request(FillId::Exhaustive, DType::Float32, {65536}));
  for (std::size_t i = 0; i < 65536; ++i) {
    std::uint32_t pattern = 0;
    std::memcpy(&pattern, bytes.data() + 4 * i, 4);
    ASSERT_EQ(pattern >> 16U, i);
  }
}

TEST(PositionCodes, TellEveryElementApart) {
  for (const DType dtype : everyDType()) {
    if (isComplex(dtype)) {
      continue;
    }
    const std::int64_t count = 20000;
    const int passes = positionPasses(dtype, count);
    std::vector<std::vector<double>> codes(static_cast<std::size_t>(count));
    for (int pass = 0; pass < passes; ++pass) {
      const auto digits = valuesOf(request(FillId::PositionCodes, dtype, {100, 200}, pass));
      for (std::size_t i = 0; i < digits.size(); ++i) {
        codes[i].push_back(digits[i]);
      }
    }
    EXPECT_EQ(std::set<std::vector<double>>(codes.begin(), codes.end()).size(), 20000U)
        << name(dtype);
    EXPECT_THAT(whyNot(request(FillId::PositionCodes, dtype, {100, 200}, passes)),
                HasSubstr("digits in"));
  }
  EXPECT_EQ(positionBase(DType::BFloat16), 128);
  EXPECT_EQ(positionPasses(DType::BFloat16, 128 * 128), 2);
  EXPECT_EQ(positionPasses(DType::BFloat16, 128 * 128 + 1), 3);
  EXPECT_EQ(positionPasses(DType::Float32, 1 << 24), 1);
}

TEST(DomainEdges, ComeFromTheTable) {
  FillRequest asked = request(FillId::DomainEdges, DType::Float32, {200});
  asked.op = "aten::exp";
  const auto exp = valuesOf(asked);
  // The last finite result and the first infinite one.
  EXPECT_THAT(exp, Contains(testing::Truly([](double v) {
                return std::isfinite(std::exp(static_cast<float>(v))) && v > 88.7;
              })));
  EXPECT_THAT(exp, Contains(testing::Truly([](double v) {
                return std::isinf(std::exp(static_cast<float>(v))) && std::isfinite(v) && v < 88.8;
              })));
  asked.op = "aten::pow.Tensor_Tensor";
  const auto base = valuesOf(asked);
  asked.tensor = 1;
  const auto exponent = valuesOf(asked);
  bool found = false;
  for (std::size_t i = 0; i < base.size(); ++i) {
    found = found || (base[i] == -1 && std::isinf(exponent[i]));
  }
  EXPECT_TRUE(found);
  asked.op = "aten::softmax.int";
  asked.sizes = {8, 25};
  const auto rows = valuesOf(asked);
  EXPECT_THAT(std::vector<double>(rows.begin(), rows.begin() + 25), Each(-HUGE_VAL));
  EXPECT_THAT(std::vector<double>(rows.begin() + 25, rows.begin() + 50), Contains(testing::Gt(-9)));
  asked.op = "aten::no_such_operator";
  EXPECT_THAT(valuesOf(asked), Contains(testing::IsNan()));
  asked.dtype = DType::UInt8;
  asked.op = "aten::sort.stable";
  EXPECT_THAT(valuesOf(asked), Each(testing::AnyOf(0.0, 1.0)));
}

}  // namespace
}  // namespace neuroncheck::numerics

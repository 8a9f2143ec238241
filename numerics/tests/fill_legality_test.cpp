// SPDX-License-Identifier: Apache-2.0
#include "numerics/fill/legality_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "numerics/tests/fill_support.h"

namespace neuroncheck::numerics {
namespace {

using testing::Each;
using testing::HasSubstr;

FillRequest with(Legality legality, DType dtype, std::vector<std::int64_t> sizes,
                 FillId fill = FillId::Normal, std::uint64_t seed = 1) {
  FillRequest asked = request(fill, dtype, std::move(sizes), 0, seed);
  asked.legality = legality;
  asked.op = "aten::exp";
  return asked;
}

Legality legality(LegalityKind kind, double low = 0, double high = 1) {
  Legality result;
  result.kind = kind;
  result.low = low;
  result.high = high;
  return result;
}

bool isLegal(LegalityKind kind, double v, double low, double high) {
  switch (kind) {
    case LegalityKind::NonZero:
      return v != 0;
    case LegalityKind::Positive:
      return v > 0;
    case LegalityKind::NonNegative:
      return v >= 0;
    case LegalityKind::Range:
      return v >= low && v <= high;
    case LegalityKind::OpenRange:
      return v > low && v < high;
    case LegalityKind::Sign:
      return v == 1 || v == -1;
    case LegalityKind::Index:
      return v >= low && v < high && v == std::floor(v);
    default:
      return true;
  }
}

RC_GTEST_PROP(Legality, HoldsForEveryFill, ()) {
  const auto id = static_cast<FillId>(*rc::gen::inRange<std::size_t>(0, kFillCount));
  const DType dtype = *rc::gen::elementOf(everyDType());
  const LegalityKind kind = *rc::gen::element(
      LegalityKind::NonZero, LegalityKind::Positive, LegalityKind::NonNegative, LegalityKind::Range,
      LegalityKind::OpenRange, LegalityKind::Sign, LegalityKind::Index);
  RC_PRE(kind != LegalityKind::Sign || itemSize(dtype) == 0 ||
         neuroncheck::kind(dtype) == DTypeKind::SignedInt || isFloating(dtype));
  RC_PRE(dtype != DType::Float8E8M0FNU);
  const double low = *rc::gen::inRange(0, 3);
  const double high = low + *rc::gen::inRange(2, 5);
  auto asked = with(legality(kind, low, high), dtype, {7, *rc::gen::inRange<std::int64_t>(1, 200)},
                    id, *rc::gen::arbitrary<std::uint64_t>());
  RC_PRE(Filler::make(asked).has_value());
  for (const double v : valuesOf(asked)) {
    RC_ASSERT(isLegal(kind, v, low, high));
  }
}

TEST(Legality, DomainLimitsStandBackForFillsThatSeekEdges) {
  Legality domain = legality(LegalityKind::Positive);
  domain.hard = false;
  EXPECT_THAT(valuesOf(with(domain, DType::Float32, {500}, FillId::SpecialValues)),
              testing::Contains(-HUGE_VAL));
  EXPECT_THAT(valuesOf(with(domain, DType::Float32, {500}, FillId::Normal)), Each(testing::Gt(0)));
  domain.hard = true;
  EXPECT_THAT(valuesOf(with(domain, DType::Float32, {500}, FillId::SpecialValues)),
              Each(testing::Gt(0)));
}

TEST(Legality, IntegerOnlyKindsLeaveFloatsAlone) {
  const auto divisor = legality(LegalityKind::NonZeroInteger);
  EXPECT_THAT(valuesOf(with(divisor, DType::Int32, {5000})), Each(testing::Ne(0)));
  EXPECT_THAT(valuesOf(with(divisor, DType::Float32, {200}, FillId::SpecialValues)),
              testing::Contains(0.0));
}

TEST(Legality, IndicesMeetBothEndsAndStayInside) {
  const auto values = valuesOf(with(legality(LegalityKind::Index, 0, 10), DType::Int64, {1000}));
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values.back(), 9);
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 10U);
  EXPECT_THAT(whyNot(with(legality(LegalityKind::Index, 0, 0), DType::Int64, {3})),
              HasSubstr("no index lies in [0, 0)"));
  EXPECT_THAT(whyNot(with(legality(LegalityKind::Index, 0, 0), DType::Int64, {0})), "accepted");
  EXPECT_THAT(whyNot(with(legality(LegalityKind::Index, 0, 1000), DType::Int8, {3})),
              HasSubstr("int8 cannot hold"));
}

RC_GTEST_PROP(Legality, UniqueIndicesAndPermutationsAlongTheirAxis, ()) {
  const auto axis = *rc::gen::inRange<std::int64_t>(-3, 3);
  const auto sizes =
      *rc::gen::container<std::vector<std::int64_t>>(3, rc::gen::inRange<std::int64_t>(1, 9));
  const bool permutation = *rc::gen::arbitrary<bool>();
  const std::int64_t length = sizes[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)];
  const std::int64_t range = permutation ? length : length + *rc::gen::inRange(0, 20);
  auto rule = legality(permutation ? LegalityKind::Permutation : LegalityKind::UniqueIndex, 0,
                       static_cast<double>(range));
  rule.axis = axis;
  const auto values = valuesOf(with(rule, DType::Int32, sizes));
  const auto dim = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
  std::map<std::vector<std::int64_t>, std::set<double>> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto at = positionOf(static_cast<std::int64_t>(i), sizes);
    at[dim] = 0;
    RC_ASSERT(values[i] >= 0 && values[i] < static_cast<double>(range));
    RC_ASSERT(rows[at].insert(values[i]).second);
  }
  rule.axis.reset();
  rule.kind = LegalityKind::UniqueIndex;
  rule.high = static_cast<double>(values.size()) - 1;
  RC_ASSERT(whyNot(with(rule, DType::Int32, sizes)).find("different indices") != std::string::npos);
}

TEST(Legality, SortedOffsetsLengthsAndPartitions) {
  for (const std::int64_t n : {1, 2, 17, 400}) {
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int32}) {
      const auto values = valuesOf(with(legality(LegalityKind::Sorted, -4, 4), dtype, {3, n}));
      for (std::int64_t row = 0; row < 3; ++row) {
        EXPECT_TRUE(std::is_sorted(values.begin() + row * n, values.begin() + (row + 1) * n));
      }
      EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(-4), testing::Le(4))));
    }
    for (const double high : {0.0, 5.0, 1000.0}) {
      const auto offsets =
          valuesOf(with(legality(LegalityKind::Offsets, 0, high), DType::Int64, {n}));
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
      EXPECT_LE(offsets.back(), high);
      const auto parts =
          valuesOf(with(legality(LegalityKind::Partition, 0, high), DType::Int64, {n}));
      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0.0), high);
      EXPECT_THAT(parts, Each(testing::Ge(0)));
      if (n > 1) {
        const auto closed =
            valuesOf(with(legality(LegalityKind::ClosedOffsets, 0, high), DType::Int64, {n}));
        EXPECT_EQ(closed.back(), high);
        EXPECT_TRUE(std::is_sorted(closed.begin(), closed.end()));
      }
    }
    const auto lengths = valuesOf(with(legality(LegalityKind::Lengths, 1, 9), DType::Int64, {n}));
    EXPECT_EQ(lengths.front(), 9);
    EXPECT_TRUE(std::is_sorted(lengths.rbegin(), lengths.rend()));
    EXPECT_THAT(lengths, Each(testing::AllOf(testing::Ge(1), testing::Le(9))));
  }
  EXPECT_THAT(whyNot(with(legality(LegalityKind::Lengths, 1, 0), DType::Int64, {2})),
              HasSubstr("no length"));
}

TEST(Legality, MasksNeverHideARowUnlessAsked) {
  for (const std::int64_t n : {1, 2, 3, 64}) {
    for (const DType dtype : {DType::Bool, DType::Float32, DType::BFloat16}) {
      for (const LegalityKind kind : {LegalityKind::Mask, LegalityKind::Masked}) {
        Legality rule = legality(kind);
        const auto hiddenRows = [&] {
          const auto values = valuesOf(with(rule, dtype, {200, n}));
          const double stays = dtype == DType::Bool ? (kind == LegalityKind::Mask ? 1 : 0) : 0;
          int hidden = 0;
          for (std::int64_t row = 0; row < 200; ++row) {
            const auto first = values.begin() + row * n;
            hidden += std::count(first, first + n, stays) == 0 ? 1 : 0;
            // And something goes, where there is room for both.
            EXPECT_TRUE(n == 1 || std::count(first, first + n, stays) < n);
          }
          return hidden;
        };
        EXPECT_EQ(hiddenRows(), 0);
        rule.allowFullyMasked = true;
        EXPECT_NEAR(hiddenRows(), 50, 25);
      }
    }
  }
  const auto additive = valuesOf(with(legality(LegalityKind::Mask), DType::Float32, {9, 9}));
  EXPECT_THAT(additive, Each(testing::AnyOf(0.0, -HUGE_VAL)));
}

TEST(Legality, WeightsHaveAsManyPositiveOnesAsAreDrawn) {
  const auto values = valuesOf(with(legality(LegalityKind::Weights, 5), DType::Float32, {300, 7}));
  EXPECT_THAT(values, Each(testing::Ge(0)));
  EXPECT_THAT(values, testing::Contains(0.0));
  for (std::size_t row = 0; row < 300; ++row) {
    EXPECT_GE(std::count_if(values.begin() + static_cast<std::ptrdiff_t>(row * 7),
                            values.begin() + static_cast<std::ptrdiff_t>(row * 7 + 7),
                            [](double v) { return v > 0; }),
              5);
  }
  EXPECT_THAT(whyNot(with(legality(LegalityKind::Weights, 8), DType::Float32, {3, 7})),
              HasSubstr("8 of 7 weights"));
}

/// By Cholesky: every pivot clearly positive.
bool isPositiveDefinite(std::vector<double> a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t p = 0; p < j; ++p) {
        a[i * n + j] -= a[i * n + p] * a[j * n + p];
      }
      if (i == j && a[j * n + j] < 0.5) {
        return false;
      }
      a[i * n + j] = i == j ? std::sqrt(a[j * n + j]) : a[i * n + j] / a[j * n + j];
    }
  }
  return true;
}

TEST(Legality, TheTestOfDefinitenessCanFail) {
  EXPECT_TRUE(isPositiveDefinite({2, 1, 1, 2}, 2));
  EXPECT_FALSE(isPositiveDefinite({2, 3, 3, 2}, 2));
}

TEST(Legality, MatricesAreWhatTheyAreCalled) {
  for (const std::size_t n : {1U, 2U, 5U, 33U}) {
    const auto size = static_cast<std::int64_t>(n);
    for (const DType dtype : {DType::Float32, DType::BFloat16}) {
      const auto at = [&](LegalityKind kind) {
        return valuesOf(with(legality(kind), dtype, {2, size, size}));
      };
      const auto definite = at(LegalityKind::PositiveDefinite);
      for (std::size_t batch = 0; batch < 2; ++batch) {
        const auto first = definite.begin() + static_cast<std::ptrdiff_t>(batch * n * n);
        const std::vector<double> matrix(first, first + static_cast<std::ptrdiff_t>(n * n));
        EXPECT_TRUE(isPositiveDefinite(matrix, n)) << n;
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            EXPECT_EQ(matrix[i * n + j], matrix[j * n + i]);
          }
        }
      }
      const auto lower = at(LegalityKind::LowerTriangular);
      const auto upper = at(LegalityKind::UpperTriangular);
      const auto square = at(LegalityKind::WellConditioned);
      for (std::size_t i = 0; i < n; ++i) {
        double others = 0;
        for (std::size_t j = 0; j < n; ++j) {
          EXPECT_TRUE(j <= i || lower[i * n + j] == 0);
          EXPECT_TRUE(j >= i || upper[i * n + j] == 0);
          others += i == j ? 0 : std::abs(square[i * n + j]);
        }
        EXPECT_GT(lower[i * n + i], 0);
        EXPECT_GT(square[i * n + i], 1.5 * others);
      }
    }
  }
  EXPECT_THAT(whyNot(with(legality(LegalityKind::PositiveDefinite), DType::Float32, {2, 3})),
              HasSubstr("square"));
}

TEST(LegalityTable, EveryRowIsAnArgumentOfTheCatalogue) {
  std::map<std::string, std::string> schemas;
  std::ifstream file(std::string(NEURONCHECK_SOURCE_DIR) +
                     "/datasets/catalogue/torch-2.13.0/ops.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    schemas[row["name"]] = row["schema"];
  }
  ASSERT_GT(schemas.size(), 2000U);
  const auto has = [](const std::string& schema, const std::string& argument) {
    for (const char* end : {",", ")", "="}) {
      if (schema.find(" " + argument + end) != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  for (const LegalityRule& rule : LegalityTable::builtIn().rules()) {
    bool found = false;
    for (const auto& [op, schema] : schemas) {
      if (op != rule.op && !op.starts_with(rule.op + ".")) {
        continue;
      }
      bool all = has(schema, rule.argument);
      for (const LegalityBound& bound : {rule.low, rule.high}) {
        all = all && (bound.argument.empty() || has(schema, bound.argument));
      }
      found = found || all;
    }
    EXPECT_TRUE(found) << rule.op << ' ' << rule.argument;
    EXPECT_FALSE(rule.why.empty()) << rule.op;
  }
}

TEST(LegalityTable, RulesResolveToNumbers) {
  const LegalityTable& table = LegalityTable::builtIn();
  OperandFacts facts;
  facts.sizes = [](std::string_view argument) -> std::optional<std::vector<std::int64_t>> {
    if (argument == "self" || argument == "weight") {
      return std::vector<std::int64_t>{4, 6, 8};
    }
    return std::nullopt;
  };
  facts.integer = [](std::string_view argument) -> std::optional<std::int64_t> {
    return argument == "dim" ? std::optional<std::int64_t>(-2) : std::nullopt;
  };
  const auto at = [&](std::string_view op, std::string_view argument) {
    return *resolve(*table.find(op, argument), facts);
  };
  EXPECT_EQ(at("aten::gather", "index").high, 6);
  EXPECT_EQ(at("aten::take", "index").high, 192);
  EXPECT_EQ(at("aten::embedding", "indices").high, 4);
  EXPECT_EQ(at("aten::scatter.src", "index").kind, LegalityKind::UniqueIndex);
  EXPECT_EQ(at("aten::scatter.src", "index").axis, -2);
  EXPECT_EQ(at("aten::scatter.value", "index").kind, LegalityKind::Index);
  EXPECT_EQ(at("aten::index_add_", "index").high, 6);
  EXPECT_EQ(at("aten::bernoulli.p", "self").kind, LegalityKind::Any);
  EXPECT_EQ(at("aten::div.Tensor_mode", "other").kind, LegalityKind::NonZeroInteger);
  EXPECT_EQ(table.find("aten::add.Tensor", "other"), nullptr);
  EXPECT_THAT(
      resolve(*table.find("aten::embedding_dense_backward", "indices"), facts).error().message,
      HasSubstr("num_weights is unknown"));
  EXPECT_THAT(resolve(*table.find("aten::nll_loss2d", "target"),
                      {[](std::string_view) { return std::optional(std::vector<std::int64_t>{3}); },
                       facts.integer})
                  .error()
                  .message,
              HasSubstr("no dimension 1"));
}

TEST(LegalityTable, ErrorsNameTheRow) {
  const auto why = [](std::string_view row) {
    const auto table =
        LegalityTable::parse("op\targument\tlegality\tstrength\twhy\n" + std::string(row));
    return table ? std::string("accepted") : table.error().text();
  };
  EXPECT_EQ(why("a\tb\tindex(0, c.size(-1)) along 1\thard\tw\n"), "accepted");
  EXPECT_THAT(why("a\tb\tindex\n"), HasSubstr("row 2: 3 columns instead of 5"));
  EXPECT_THAT(why("a\tb\tindx(0, 1)\thard\tw"), HasSubstr("row 2 (a b): 'indx(0, 1)' is no"));
  EXPECT_THAT(why("a\tb\tindex(0, 1\thard\tw"), HasSubstr("row 2 (a b): column 11: ')'"));
  EXPECT_THAT(why("a\tb\tindex(0, c.size())\thard\tw"), HasSubstr("a dimension is expected"));
  EXPECT_THAT(why("a\tb\tindex(, 1)\thard\tw"), HasSubstr("a number or an argument"));
  EXPECT_THAT(why("a\tb\tindex(0, 1) x\thard\tw"), HasSubstr("not understood"));
  EXPECT_THAT(why("a\tb\tindex(0, 1)\tsoft\tw"), HasSubstr("neither hard nor domain"));
  EXPECT_THAT(why("# c\na\tb\tany\thard\tw\na\tb\tany\thard\tw"),
              HasSubstr("row 4 (a b): a second"));
  EXPECT_THAT(why("\tb\tany\thard\tw"), HasSubstr("row 2 ( b): an operator"));
  for (std::size_t i = 0; i < kLegalityKindCount; ++i) {
    const auto kind = static_cast<LegalityKind>(i);
    EXPECT_EQ(parseLegalityKind(name(kind)), kind);
  }
}

}  // namespace
}  // namespace neuroncheck::numerics

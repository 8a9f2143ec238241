// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr SelectionPromise kFirst{.firstOfTies = true};
constexpr SelectionPromise kSet{.sorted = false};
constexpr SelectionPromise kAscending{.largest = false};
constexpr SelectionPromise kThird{.largest = false, .firstRank = 2};

struct Case {
  std::vector<double> operand;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> indexSizes;
  std::optional<std::int64_t> dimension;
  SelectionPromise promise;
  std::vector<double> margins;
  std::vector<double> values;

  [[nodiscard]] Judgement judge() const {
    const auto operandBytes = testing::encoded(DType::Float32, operand);
    const auto valueBytes = testing::encoded(DType::Float32, values);
    SelectionRequest request;
    request.indices =
        *TensorView::contiguous(DType::Int64, std::as_bytes(std::span(indices)), indexSizes);
    request.expected = {DType::Int64, indexSizes, std::nullopt};
    request.operand = *TensorView::contiguous(DType::Float32, operandBytes, sizes);
    request.dimension = dimension;
    request.promise = promise;
    request.margins = margins;
    if (!values.empty()) {
      request.values = *TensorView::contiguous(DType::Float32, valueBytes, indexSizes);
    }
    return judgeSelection(request);
  }
};

Case topk(std::vector<std::int64_t> indices) {
  return {{1, 1, 0, 1}, {4}, std::move(indices), {2}, 0, {}, {}, {}};
}

TEST(Selection, TopkTiesMayBeBrokenEitherWay) {
  EXPECT_EQ(topk({0, 1}).judge().state, CaseState::Pass);
  const Judgement tie = topk({1, 3}).judge();
  EXPECT_EQ(tie.state, CaseState::Pass);
  EXPECT_THAT(tie.notes, Contains(HasSubstr("ties were broken")));
  const Judgement wrong = topk({1, 2}).judge();
  EXPECT_EQ(wrong.state, CaseState::Mismatch);
  EXPECT_THAT(wrong.reason, HasSubstr("index 2 holds 0 where index 1 holds 1"));
}

TEST(Selection, OutOfRangeAndRepeatedIndices) {
  EXPECT_THAT(topk({0, 4}).judge().reason, HasSubstr("outside [0, 4)"));
  EXPECT_THAT(topk({-1, 0}).judge().reason, HasSubstr("outside [0, 4)"));
  EXPECT_THAT(topk({3, 3}).judge().reason, HasSubstr("twice"));
}

TEST(Selection, ArgmaxPromisesTheFirstOfTies) {
  Case argmax{{3, 7, 7, 1}, {4}, {2}, {}, std::nullopt, kFirst, {}, {}};
  EXPECT_EQ(argmax.judge().state, CaseState::Mismatch);
  argmax.indices = {1};
  EXPECT_EQ(argmax.judge().state, CaseState::Pass);
}

TEST(Selection, NanIsTheLargest) {
  Case argmax{{3, kNan, 7, 1}, {4}, {2}, {}, std::nullopt, kFirst, {}, {}};
  EXPECT_EQ(argmax.judge().state, CaseState::Mismatch);
  argmax.indices = {1};
  EXPECT_EQ(argmax.judge().state, CaseState::Pass);
  const Case sorted{{3, kNan, 7, 1}, {4}, {3, 0, 2, 1}, {4}, 0, kAscending, {}, {}};
  EXPECT_EQ(sorted.judge().state, CaseState::Pass);
  Case argmin{{3, kNan, 7, 1}, {4}, {3}, {}, std::nullopt, kAscending, {}, {}};
  EXPECT_EQ(argmin.judge().state, CaseState::Pass);
  argmin.promise.nanFirst = true;
  EXPECT_EQ(argmin.judge().state, CaseState::Mismatch);
  argmin.indices = {1};
  EXPECT_EQ(argmin.judge().state, CaseState::Pass);
}

TEST(Selection, AnyDimensionOfAnyRank) {
  // [2,3,2] along dimension 1.
  Case middle{
      {1, 9, 5, 8, 3, 7, 4, 2, 6, 0, 5, 1}, {2, 3, 2}, {1, 0, 1, 0}, {2, 2}, 1, kFirst, {}, {}};
  EXPECT_EQ(middle.judge().state, CaseState::Pass);
  middle.indices = {1, 0, 1, 2};
  EXPECT_EQ(middle.judge().state, CaseState::Mismatch);
}

TEST(Selection, ASetNeedsNoOrderAListDoes) {
  Case set{{5, 9, 1, 7}, {4}, {3, 1}, {2}, 0, kSet, {}, {}};
  EXPECT_EQ(set.judge().state, CaseState::Pass);
  set.promise.sorted = true;
  EXPECT_EQ(set.judge().state, CaseState::Mismatch);
  set.promise.sorted = false;
  set.indices = {3, 0};
  EXPECT_EQ(set.judge().state, CaseState::Mismatch);
}

TEST(Selection, CloseValuesMayGoEitherWayWithinTheirMargins) {
  Case near{{1.0, 1.0 + 1e-6, 0}, {3}, {0}, {}, std::nullopt, kFirst, {}, {}};
  EXPECT_EQ(near.judge().state, CaseState::Mismatch);
  near.margins = {1e-6, 1e-6, 1e-6};
  EXPECT_EQ(near.judge().state, CaseState::Pass);
  near.indices = {2};
  EXPECT_EQ(near.judge().state, CaseState::Mismatch);
}

TEST(Selection, ValuesHaveToFitTheirIndices) {
  Case both{{5, 9, 1, 7}, {4}, {1, 3}, {2}, 0, {}, {}, {9, 7}};
  EXPECT_EQ(both.judge().state, CaseState::Pass);
  both.values = {9, 5};
  EXPECT_THAT(both.judge().reason, HasSubstr("the value output is 5, but index 3 holds 7"));
}

TEST(Selection, KthValueHasARank) {
  Case third{{5, 9, 1, 7}, {4}, {3}, {}, 0, kThird, {}, {}};
  EXPECT_EQ(third.judge().state, CaseState::Pass);
  third.indices = {1};
  EXPECT_EQ(third.judge().state, CaseState::Mismatch);
}

TEST(Selection, OneValueOnlyShowsNothing) {
  const Case flat{{2, 2, 2}, {3}, {1}, {}, std::nullopt, {}, {}, {}};
  EXPECT_EQ(flat.judge().state, CaseState::Mistrusted);
  const Case empty{{}, {0}, {}, {0}, 0, {}, {}, {}};
  EXPECT_EQ(empty.judge().state, CaseState::Mistrusted);
  const Case wide{{2, 3}, {2}, {0, 1, 0}, {3}, 0, {}, {}, {}};
  EXPECT_EQ(wide.judge().state, CaseState::ShapeDtypeMismatch);
}

RC_GTEST_PROP(Selection, AStableSortPassesAndASwapOfUnequalsFails, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const auto n = *rc::gen::inRange<std::int64_t>(2, 40);
  std::vector<double> operand(static_cast<std::size_t>(n));
  std::ranges::generate(operand, [&] { return static_cast<double>(random() % 8); });
  operand[0] = 9;
  std::vector<std::int64_t> order(operand.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t i) { return operand[static_cast<std::size_t>(i)]; };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return value(a) > value(b); });
  Case sorted{operand, {n}, order, {n}, 0, kFirst, {}, {}};
  RC_ASSERT(sorted.judge().state == CaseState::Pass);
  const auto a = *rc::gen::inRange<std::size_t>(0, order.size());
  const auto b = *rc::gen::inRange<std::size_t>(0, order.size());
  std::swap(sorted.indices[a], sorted.indices[b]);
  const bool unequal = value(order[a]) != value(order[b]);
  if (unequal) {
    sorted.promise.firstOfTies = false;
    RC_ASSERT(sorted.judge().state == CaseState::Mismatch);
  } else if (a != b) {
    RC_ASSERT(sorted.judge().state == CaseState::Mismatch);
    sorted.promise.firstOfTies = false;
    RC_ASSERT(sorted.judge().state == CaseState::Pass);
  }
}

}  // namespace
}  // namespace neuroncheck::numerics

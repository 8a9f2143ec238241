// SPDX-License-Identifier: Apache-2.0
// Index outputs of operators that choose: judged by what they point at.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "numerics/tests/mutation/subjects.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 24;
constexpr std::int64_t kColumns = 300;  // more than 8 bits and bf16 can number
constexpr std::int64_t kTop = 8;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Ask {
  std::int64_t k = 1;  ///< indices of a row
  std::int64_t firstRank = 0;
  bool largest = true;
  bool lastOfTies = false;
};

bool before(double a, double b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) {
    return largest ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
  }
  return largest ? a > b : a < b;
}

/// Indices within each row, as numbers.
Values chosenFrom(const Values& x, const Ask& ask) {
  Values out;
  for (std::int64_t first = 0; first < std::ssize(x); first += kColumns) {
    std::vector<std::int64_t> order(kColumns);
    std::iota(order.begin(), order.end(), 0);
    if (ask.lastOfTies) {
      std::ranges::reverse(order);
    }
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
      return before(at(x, first + a), at(x, first + b), ask.largest);
    });
    out.insert(out.end(), order.begin() + ask.firstRank, order.begin() + ask.firstRank + ask.k);
  }
  return out;
}

template <typename F>
Values each(Values indices, const F& f) {
  for (std::int64_t i = 0; i < std::ssize(indices); ++i) {
    at(indices, i) = f(at(indices, i), i);
  }
  return indices;
}

Values mappedOperand(Values x, double (*f)(double)) {
  std::ranges::transform(x, x.begin(), f);
  return x;
}

/// Indices that were counted, stored or offset wrongly.
void addNumberFaults(Subject& s, const Values& right, std::int64_t k) {
  s.fault("one off", each(right, [](double i, std::int64_t) { return i == 0 ? 1 : i - 1; }));
  s.fault("counted from one", each(right, [](double i, std::int64_t) { return i + 1; }));
  s.fault("counted from the end", each(right, [](double i, std::int64_t) { return i - kColumns; }));
  s.fault("within a tile of 128",
          each(right, [](double i, std::int64_t) { return std::fmod(i, 128); }));
  s.fault("in 8 bits", each(right, [](double i, std::int64_t) { return std::fmod(i, 256); }));
  s.fault("through bf16",
          each(right, [](double i, std::int64_t) { return roundTo(Format::BFloat16, i); }));
  s.fault("into the whole tensor", each(right, [k](double i, std::int64_t place) {
            return i + static_cast<double>(place / k * kColumns);
          }));
  s.fault("row 0 throughout",
          each(right, [&](double, std::int64_t place) { return at(right, place % k); }));
  s.fault("one index wrong", each(right, [k](double i, std::int64_t place) {
            return place == 13 * k ? std::fmod(i + 7, kColumns) : i;
          }));
}

/// Values that were compared wrongly.
void addOrderFaults(Subject& s, const Values& x, const Ask& ask) {
  Ask other = ask;
  other.largest = !ask.largest;
  s.fault("other end", chosenFrom(x, other));
  s.fault("by size", chosenFrom(mappedOperand(x, [](double v) { return std::abs(v); }), ask));
  Values cut = x;
  const double worst = ask.largest ? -std::numeric_limits<double>::infinity()
                                   : std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < std::ssize(cut); ++i) {
    at(cut, i) = i % kColumns < 256 ? at(x, i) : worst;
  }
  s.fault("first 256 of a row only", chosenFrom(cut, ask));
  s.fault("compared in bf16", chosenFrom(roundedTo(Format::BFloat16, x), ask));
  const bool nans = std::ranges::any_of(x, [](double v) { return std::isnan(v); });
  if (nans) {
    Values blind = x;
    for (double& v : blind) {
      v = std::isnan(v) ? worst : v;
    }
    // Where NaN comes last anyway, losing it in a tie with infinity is no other order.
    s.fault("NaN passed over", chosenFrom(blind, ask));
  }
  if (s.chosen->promise.firstOfTies) {
    other = ask;
    other.lastOfTies = true;
    s.fault("last of ties", chosenFrom(x, other));
  }
}

void addListFaults(Subject& s, const Values& right, std::int64_t k) {
  const auto swapped = [&](std::int64_t a, std::int64_t b, bool twice) {
    Values out = right;
    for (std::int64_t r = 0; r < kRows; ++r) {
      at(out, r * k + a) = at(right, r * k + b);
      at(out, r * k + b) = twice ? at(right, r * k + b) : at(right, r * k + a);
    }
    return out;
  };
  s.fault("one index twice", swapped(2, 5, true));
  if (s.chosen->promise.sorted) {
    s.fault("two places swapped", swapped(2, 5, false));
    Values reversed = right;
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::reverse(reversed.begin() + r * k, reversed.begin() + (r + 1) * k);
    }
    s.fault("reversed", std::move(reversed));
  }
}

/// Rows of which every fourth has its largest, its smallest and another value twice, and every
/// sixth has two NaN where they are asked for.
Values operandOf(const Subject& s, Format format, bool nans) {
  Values x = fill(Family::Normal, format, kRows * kColumns, seedOf(s, 1));
  for (std::int64_t r = 0; r < kRows; ++r) {
    double* row = x.data() + r * kColumns;
    if (r % 4 == 0) {
      row[290] = *std::max_element(row, row + kColumns);
      row[3] = *std::min_element(row, row + kColumns);
      row[77] = row[200];
    }
    if (nans && r % 6 == 1) {
      row[19] = kNan;
      row[280] = kNan;
    }
  }
  return x;
}

/// Whether two results have the same indices in each row, in whatever order.
bool sameSets(Values a, Values b, std::int64_t k) {
  for (std::int64_t first = 0; first < std::ssize(a); first += k) {
    std::sort(a.begin() + first, a.begin() + first + k);
    std::sort(b.begin() + first, b.begin() + first + k);
  }
  return a == b;
}

struct Operator {
  const char* name;
  const char* aten;
  std::size_t output;
  Ask ask;
  SelectionPromise promise;
};

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = {
      {"argmax", "aten::argmax", 0, {}, {.firstOfTies = true}},
      {"max.dim, indices", "aten::max.dim", 1, {}, {.firstOfTies = true}},
      {"topk, indices", "aten::topk", 1, {.k = kTop}, {}},
      {"topk unsorted, indices", "aten::topk", 1, {.k = kTop}, {.sorted = false}},
      {"sort, indices", "aten::sort", 1, {.k = kColumns, .largest = false}, {.largest = false}},
      {"argsort, stable", "aten::argsort", 0, {.k = kColumns}, {.firstOfTies = true}},
      {"kthvalue, index",
       "aten::kthvalue",
       1,
       {.firstRank = 9, .largest = false},
       {.largest = false, .firstRank = 9}},
  };
  return all;
}

Subject chosen(DType dtype, const Operator& op, bool nans) {
  Subject s = subjectOf(op.name, DType::Int64,
                        fmt::format("{} {}", shortName(dtype), nans ? "with NaN" : "normal"),
                        {kRows, op.ask.k}, shippedRule(op.aten, op.output), 1);
  const Values x = operandOf(s, *formatOf(dtype), nans);
  s.chosen = Subject::Chosen{x, dtype, kColumns, op.promise};
  s.truth = chosenFrom(x, op.ask);
  s.legal.emplace_back("first of ties", s.truth);
  if (!op.promise.firstOfTies) {
    Ask last = op.ask;
    last.lastOfTies = true;
    s.legal.emplace_back("last of ties", chosenFrom(x, last));
  }
  if (!op.promise.sorted) {
    Values reversed = s.truth;
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::reverse(reversed.begin() + r * kTop, reversed.begin() + (r + 1) * kTop);
    }
    s.legal.emplace_back("reversed", std::move(reversed));
  }
  addNumberFaults(s, s.truth, op.ask.k);
  addOrderFaults(s, x, op.ask);
  if (op.ask.k > 1) {
    addListFaults(s, s.truth, op.ask.k);
  }
  if (op.ask.firstRank > 0) {
    Ask other = op.ask;
    ++other.firstRank;
    s.fault("rank one off", chosenFrom(x, other));
  }
  addOutputFaults(s);
  if (!op.promise.sorted) {
    // A set in another order is the same set.
    std::erase_if(s.faults, [&](const InjectedFault& fault) {
      return sameSets(fault.result, s.truth, op.ask.k);
    });
  }
  return s;
}

}  // namespace

std::vector<Subject> selectionSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const Operator& op : operators()) {
    subjects.push_back(chosen(dtype, op, false));
    subjects.push_back(chosen(dtype, op, true));
  }
  return subjects;
}

}  // namespace neuroncheck::numerics::testing

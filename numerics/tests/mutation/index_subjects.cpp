// SPDX-License-Identifier: Apache-2.0
// Operators that move values: bits must agree. Index outputs of topk, sort and argmax have a rule
// of their own: selection_subjects.cpp.
#include <algorithm>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/kernels/indexing.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 24;
constexpr std::int64_t kColumns = 40;
constexpr std::int64_t kTableRows = 1000;
constexpr std::int64_t kWidth = 8;

Subject exact(std::string op, std::string_view aten, DType dtype, std::vector<std::int64_t> sizes) {
  return subjectOf(std::move(op), dtype, "normal", std::move(sizes), shippedRule(aten), 1);
}

void right(Subject& s, Values values) {
  s.truth = values;
  s.legal.emplace_back("moved", std::move(values));
}

Indices indices(std::int64_t n, std::int64_t limit, std::uint64_t seed) {
  Random random(seed);
  Indices out;
  for (std::int64_t i = 0; i < n; ++i) {
    out.push_back(random.below(limit));
  }
  return out;
}

template <typename F>
Indices mapped(Indices values, const F& f) {
  std::ranges::transform(values, values.begin(), f);
  return values;
}

Subject gather(DType dtype) {
  Subject s = exact("gather", "aten::gather", dtype, {kRows, kWidth});
  const Values x = fill(Family::Normal, s.format(), kRows * kColumns, seedOf(s, 1));
  const Indices index = indices(kRows * kWidth, kColumns, seedOf(s, 2));
  const auto take = [&](const Indices& i) { return gatherLast(x, kRows, kColumns, i, kWidth); };
  right(s, take(index));
  s.fault("indices one off", take(mapped(index, [](auto i) { return (i + 1) % kColumns; })));
  s.fault("clamped to a tile of 32",
          take(mapped(index, [](auto i) { return std::min<std::int64_t>(i, 31); })));
  s.fault("wrapped at 32", take(mapped(index, [](auto i) { return i % 32; })));
  s.fault("row 0 throughout", [&] {
    Values out;
    for (const std::int64_t i : index) {
      out.push_back(at(x, i));
    }
    return out;
  }());
  s.fault("other axis", [&] {
    Values out;
    for (std::int64_t i = 0; i < std::ssize(index); ++i) {
      out.push_back(at(x, at(index, i) % kRows * kColumns + i % kWidth));
    }
    return out;
  }());
  addOutputFaults(s, true);
  return s;
}

Subject rowsTaken(DType dtype, const std::string& op) {
  Subject s = exact(op, "aten::" + op, dtype, {kRows, kWidth});
  const Values x = fill(Family::Normal, s.format(), kTableRows * kWidth, seedOf(s, 1));
  Indices index = indices(kRows, kTableRows, seedOf(s, 2));
  index[3] = 0;
  index[4] = kTableRows - 1;
  index[5] = 257;
  const auto take = [&](const Indices& i) { return takeRows(x, kWidth, i); };
  right(s, take(index));
  s.fault("indices one off", take(mapped(index, [](auto i) { return (i + 1) % kTableRows; })));
  s.fault("indices in 8 bits", take(mapped(index, [](auto i) { return i & 255; })));
  s.fault("indices through bf16", take(mapped(index, [](auto i) {
            return std::min(
                static_cast<std::int64_t>(roundTo(Format::BFloat16, static_cast<double>(i))),
                kTableRows - 1);
          })));
  s.fault("last row read as row 0",
          take(mapped(index, [](auto i) { return i == kTableRows - 1 ? 0 : i; })));
  s.fault("first index for the first two", [&] {
    Indices other = index;
    other[1] = other[0];
    return take(other);
  }());
  s.fault("row 0 reads zero", [&] {
    Values out = s.truth;
    std::fill_n(out.begin() + 3 * kWidth, kWidth, 0.0);
    return out;
  }());
  addOutputFaults(s, true);
  return s;
}

Subject scatter(DType dtype) {
  const std::int64_t sources = 200;
  Subject s = subjectOf("scatter_add", dtype, "normal", {kRows, kWidth},
                        shippedRule("aten::scatter_add"), 201);
  const Values target = fill(Family::Normal, s.format(), kRows * kWidth, seedOf(s, 1));
  const Values source = fill(Family::Normal, s.format(), sources * kWidth, seedOf(s, 2));
  const Indices index = indices(sources, kRows, seedOf(s, 3));
  const Machine exactly = Machine::exact();
  s.truth = scatterAdd(exactly, target, kWidth, index, source);
  s.magnitude = scatterAdd(exactly, absolute(target), kWidth, index, absolute(source));
  const Machine m(Format::Float32);
  s.legal.emplace_back("in order", scatterAdd(m, target, kWidth, index, source));
  s.legal.emplace_back("reversed", scatterAdd(Machine(Format::Float32, Order::Reversed), target,
                                              kWidth, index, source));
  s.fault("duplicates lost", [&] {
    Values out = target;
    for (std::int64_t i = 0; i < std::ssize(source); ++i) {
      const std::int64_t place = at(index, i / kWidth) * kWidth + i % kWidth;
      at(out, place) = at(target, place) + at(source, i);
    }
    return out;
  }());
  s.fault("one update lost", [&] {
    Values less = source;
    std::fill_n(less.begin() + 77 * kWidth, kWidth, 0.0);
    return scatterAdd(m, target, kWidth, index, less);
  }());
  s.fault("target taken for zero", scatterAdd(m, Values(target.size()), kWidth, index, source));
  s.fault(
      "indices one off",
      scatterAdd(m, target, kWidth, mapped(index, [](auto i) { return (i + 1) % kRows; }), source));
  s.fault("added in bf16", scatterAdd(Machine(Format::BFloat16), target, kWidth, index, source));
  addOutputFaults(s, true);
  return s;
}

Subject selected(DType dtype) {
  Subject s = exact("where", "aten::where", dtype, {kRows, kColumns});
  const std::int64_t n = kRows * kColumns;
  const Values yes = fill(Family::Normal, s.format(), n, seedOf(s, 1));
  const Values no = fill(Family::Normal, s.format(), n, seedOf(s, 2));
  const Indices condition = indices(n, 2, seedOf(s, 3));
  right(s, where(condition, yes, no));
  s.fault("condition inverted", where(condition, no, yes));
  s.fault("condition one off", [&] {
    Indices other = condition;
    std::rotate(other.begin(), other.begin() + 1, other.end());
    return where(other, yes, no);
  }());
  s.fault("condition of the first row throughout", [&] {
    Indices other;
    for (std::int64_t i = 0; i < n; ++i) {
      other.push_back(at(condition, i % kColumns));
    }
    return where(other, yes, no);
  }());
  s.fault("multiplied and added", [&] {
    Values out;
    const Machine m(Format::BFloat16);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto c = static_cast<double>(at(condition, i));
      out.push_back(m(m(c * at(yes, i)) + m((1 - c) * at(no, i))));
    }
    return out;
  }());
  addOutputFaults(s, true);
  return s;
}

Subject joined(DType dtype) {
  Subject s = exact("cat", "aten::cat", dtype, {kRows, kColumns + kWidth});
  const Values a = fill(Family::Normal, s.format(), kRows * kColumns, seedOf(s, 1));
  const Values b = fill(Family::Normal, s.format(), kRows * kWidth, seedOf(s, 2));
  right(s, catLast(a, kColumns, b, kWidth));
  s.fault("other order", catLast(b, kWidth, a, kColumns));
  s.fault("along the other dimension", [&] {
    Values out = a;
    out.insert(out.end(), b.begin(), b.end());
    return out;
  }());
  s.fault("second part one column off", catLast(a, kColumns, rotated(b, kWidth, 1), kWidth));
  s.fault("second part unwritten", catLast(a, kColumns, Values(b.size(), 0.0), kWidth));
  s.fault("second part of row 0 throughout", [&] {
    Values other = b;
    for (std::int64_t i = 0; i < std::ssize(b); ++i) {
      at(other, i) = at(b, i % kWidth);
    }
    return catLast(a, kColumns, other, kWidth);
  }());
  addOutputFaults(s, true);
  return s;
}

Subject turned(DType dtype) {
  Subject s = exact("transpose and copy", "aten::clone", dtype, {kColumns, kRows});
  const Values x = fill(Family::Normal, s.format(), kRows * kColumns, seedOf(s, 1));
  right(s, strided(x, kColumns, kRows, 1, kColumns));
  s.fault("strides ignored", x);
  s.fault("row stride one short", strided(x, kColumns, kRows, 1, kColumns - 1));
  s.fault("offset one off", strided(rotated(x, std::ssize(x), 1), kColumns, kRows, 1, kColumns));
  s.fault("shape not turned", x);
  s.faults.back().sizes = {kRows, kColumns};
  s.fault("only full tiles of 32 turned", [&] {
    Values out = x;
    for (std::int64_t i = 0; i < std::ssize(x); ++i) {
      const std::int64_t row = i / kRows;
      at(out, i) = row < 32 ? at(s.truth, i) : at(x, i);
    }
    return out;
  }());
  addOutputFaults(s, true);
  return s;
}

/// Values of topk (k = 8) and of sort.
Subject ordered(DType dtype, const std::string& op, std::int64_t k) {
  Subject s = exact(op, k == kWidth ? "aten::topk" : "aten::sort", dtype, {kRows, k});
  Values x = fill(Family::Normal, s.format(), kRows * kColumns, seedOf(s, 1));
  for (std::int64_t r = 0; r < kRows; ++r) {
    // The largest is there twice.
    at(x, r * kColumns + 1) = topkValues(x, kColumns, 1)[static_cast<std::size_t>(r)];
  }
  right(s, topkValues(x, kColumns, k));
  s.fault("smallest", topkValues(x, kColumns, k, false));
  s.fault("by size", topkValues(absolute(x), kColumns, k));
  s.fault("ties once", [&] {
    Values out = s.truth;
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::rotate(out.begin() + r * k, out.begin() + r * k + 1, out.begin() + (r + 1) * k);
      at(out, (r + 1) * k - 1) = at(out, (r + 1) * k - 2);
    }
    return out;
  }());
  s.fault("first 32 of a row only", [&] {
    Values cut = x;
    for (std::int64_t i = 0; i < std::ssize(x); ++i) {
      at(cut, i) = i % kColumns < 32 ? at(x, i) : -100;
    }
    return topkValues(cut, kColumns, k);
  }());
  s.fault("not sorted", [&] {
    Values out = s.truth;
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::swap(at(out, r * k + 2), at(out, r * k + 5));
    }
    return out;
  }());
  addOutputFaults(s, true);
  return s;
}

/// Integer sums that pass 2^24 and 2^31.
Subject integers(const std::string& op, DType dtype, double scale) {
  Subject s = subjectOf(op, dtype, scale > 0x1p24 ? "beyond 2^31" : "beyond 2^24", {kRows},
                        shippedRule("aten::sum"), 64);
  Random random(seedOf(s, 1));
  Values single, wrapped, wide;
  for (std::int64_t r = 0; r < kRows; ++r) {
    std::int64_t sum = 0;
    float narrow = 0;
    for (int i = 0; i < 64; ++i) {
      const std::int64_t x = random.below(static_cast<std::int64_t>(scale)) | 1;
      sum += x;
      narrow += static_cast<float>(x);
    }
    s.truth.push_back(static_cast<double>(sum));
    wide.push_back(static_cast<double>(static_cast<float>(sum)));
    single.push_back(static_cast<double>(narrow));
    wrapped.push_back(static_cast<double>(static_cast<std::int32_t>(sum)));
  }
  s.legal.emplace_back("exact", s.truth);
  s.fault("rounded to fp32", std::move(wide), HypothesisId::IntegerThroughFloat32);
  s.fault("summed in fp32", std::move(single));
  if (dtype == DType::Int64) {
    s.fault("narrowed to 32 bits", std::move(wrapped), HypothesisId::Int64AsInt32);
  }
  Values off = s.truth;
  off[5] += 1;
  s.fault("one element one off", std::move(off));
  addOutputFaults(s);
  return s;
}

}  // namespace

std::vector<Subject> indexSubjects(DType dtype) {
  std::vector<Subject> subjects;
  subjects.push_back(gather(dtype));
  subjects.push_back(rowsTaken(dtype, "index_select"));
  subjects.push_back(rowsTaken(dtype, "embedding"));
  subjects.push_back(scatter(dtype));
  subjects.push_back(selected(dtype));
  subjects.push_back(joined(dtype));
  subjects.push_back(turned(dtype));
  subjects.push_back(ordered(dtype, "topk, values", kWidth));
  subjects.push_back(ordered(dtype, "sort, values", kColumns));
  return subjects;
}

std::vector<Subject> integerSubjects() {
  std::vector<Subject> subjects;
  subjects.push_back(integers("sum", DType::Int64, 0x1p22));
  subjects.push_back(integers("sum", DType::Int64, 0x1p30));
  subjects.push_back(integers("sum", DType::Int32, 0x1p22));
  return subjects;
}

}  // namespace neuroncheck::numerics::testing

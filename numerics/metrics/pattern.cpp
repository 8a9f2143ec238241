// SPDX-License-Identifier: Apache-2.0
#include "numerics/metrics/pattern.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::numerics {
namespace {

/// Longer dimensions are not counted index by index.
constexpr std::int64_t kLongestDimension = 65536;
constexpr std::size_t kIndicesShown = 8;

std::string ordinalWord(std::int64_t n) {
  const std::int64_t tens = n % 100;
  const std::string_view ending = tens >= 11 && tens <= 13 ? "th"
                                  : n % 10 == 1            ? "st"
                                  : n % 10 == 2            ? "nd"
                                  : n % 10 == 3            ? "rd"
                                                           : "th";
  return fmt::format("{}{}", n, ending);
}

/// Where the wrong elements lie; the value they read is added by text().
std::string placeText(const Pattern& p) {
  const std::string_view word = p.rank >= 2 && p.dimension == p.rank - 2   ? " (rows)"
                                : p.rank >= 2 && p.dimension == p.rank - 1 ? " (columns)"
                                                                           : "";
  const auto slices = [&] {
    return fmt::format("slices of dimension {}{}: {}{}", p.dimension, word,
                       fmt::join(p.indices, ", "),
                       p.indices.size() == kIndicesShown ? ", ..." : "");
  };
  switch (p.kind) {
    case PatternKind::None:
      return "nothing";
    case PatternKind::Single:
      return "a single element";
    case PatternKind::All:
      return "every element";
    case PatternKind::Slices:
      return "whole " + slices();
    case PatternKind::Tail:
      return fmt::format("everything from linear index {} on", p.begin);
    case PatternKind::TileEdge:
      return fmt::format("only at the edges of {}-element tiles of dimension {}", p.step,
                         p.dimension);
    case PatternKind::Strided:
      return fmt::format("every {} element, from linear index {}", ordinalWord(p.step), p.begin);
    case PatternKind::Region:
      return "within " + slices();
    case PatternKind::Scattered:
      break;
  }
  return "scattered";
}

}  // namespace

std::string_view name(PatternKind kind) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "none", "single", "all", "slices", "tail", "tile-edge", "strided", "region", "scattered"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string Pattern::text() const {
  return oneValue ? fmt::format("{}, all read {}: not written?", placeText(*this), *oneValue)
                  : placeText(*this);
}

PatternCollector::PatternCollector(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {
  for (const std::int64_t size : sizes_) {
    perIndex_.emplace_back(size <= kLongestDimension ? static_cast<std::size_t>(size) : 0);
  }
}

void PatternCollector::add(std::int64_t linear, double actual) {
  // Every NaN is one value here: payloads say nothing of who wrote.
  const auto bits = std::isnan(actual) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(actual);
  if (count_ == 0) {
    first_ = last_ = linear;
    valueBits_ = bits;
  }
  oneValue_ = oneValue_ && bits == valueBits_;
  step_ = std::gcd(step_, linear - first_);
  first_ = std::min(first_, linear);
  last_ = std::max(last_, linear);
  ++count_;
  std::int64_t rest = linear;
  for (std::size_t d = sizes_.size(); d-- > 0;) {
    const std::int64_t index = rest % sizes_[d];
    rest /= sizes_[d];
    if (!perIndex_[d].empty()) {
      ++perIndex_[d][static_cast<std::size_t>(index)];
    }
  }
}

void PatternCollector::merge(const PatternCollector& other) {
  if (other.count_ == 0) {
    return;
  }
  if (count_ == 0) {
    *this = other;
    return;
  }
  oneValue_ = oneValue_ && other.oneValue_ && valueBits_ == other.valueBits_;
  step_ = std::gcd(std::gcd(step_, other.step_), other.first_ - first_);
  first_ = std::min(first_, other.first_);
  last_ = std::max(last_, other.last_);
  count_ += other.count_;
  for (std::size_t d = 0; d < perIndex_.size(); ++d) {
    for (std::size_t i = 0; i < perIndex_[d].size(); ++i) {
      perIndex_[d][i] += other.perIndex_[d][i];
    }
  }
}

std::int64_t PatternCollector::total() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{1}, std::multiplies<>());
}

/// Wrong elements in few slices of one dimension; whole slices beat parts, fewer slices beat more.
bool PatternCollector::slicePattern(Pattern& pattern) const {
  std::size_t fewest = 0;
  for (std::size_t d = 0; d < perIndex_.size(); ++d) {
    const auto& counts = perIndex_[d];
    std::vector<std::int64_t> touched;
    bool whole = true;
    const std::int64_t slice = sizes_[d] == 0 ? 0 : total() / sizes_[d];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0) {
        touched.push_back(static_cast<std::int64_t>(i));
        whole = whole && counts[i] == slice;
      }
    }
    // A slice of one element is a place, not a pattern; half of the slices is no "few".
    if (touched.empty() || slice < 2 || 2 * touched.size() > counts.size()) {
      continue;
    }
    const bool better = pattern.kind == PatternKind::None ||
                        (whole && pattern.kind == PatternKind::Region) ||
                        (whole == (pattern.kind == PatternKind::Slices) && touched.size() < fewest);
    if (better) {
      fewest = touched.size();
      touched.resize(std::min(touched.size(), kIndicesShown));
      pattern.kind = whole ? PatternKind::Slices : PatternKind::Region;
      pattern.dimension = static_cast<std::int64_t>(d);
      pattern.indices = std::move(touched);
    }
  }
  return pattern.kind == PatternKind::Slices;
}

bool PatternCollector::tilePattern(Pattern& pattern) const {
  for (const std::int64_t tile : {512, 128, 32}) {
    for (std::size_t d = 0; d < perIndex_.size(); ++d) {
      const auto& counts = perIndex_[d];
      if (std::ssize(counts) <= tile) {
        continue;  // one tile has no inner edge
      }
      std::int64_t inside = 0;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(i) % tile;
        inside += at == 0 || at == tile - 1 ? 0 : counts[i];
      }
      if (inside == 0) {
        pattern.kind = PatternKind::TileEdge;
        pattern.dimension = static_cast<std::int64_t>(d);
        pattern.step = tile;
        return true;
      }
    }
  }
  return false;
}

Pattern PatternCollector::geometry() const {
  Pattern pattern;
  pattern.rank = std::ssize(sizes_);
  pattern.begin = first_;
  const auto is = [&](PatternKind kind) {
    pattern.kind = kind;
    return pattern;
  };
  if (count_ == 0) {
    return pattern;
  }
  if (count_ == total()) {
    return is(PatternKind::All);
  }
  if (count_ == 1) {
    return is(PatternKind::Single);
  }
  if (slicePattern(pattern)) {
    return pattern;
  }
  if (count_ == total() - first_ && count_ < total() / 2) {
    pattern.indices.clear();
    pattern.dimension = -1;
    return is(PatternKind::Tail);
  }
  Pattern tiles = pattern;
  if (count_ > 2 && tilePattern(tiles)) {
    tiles.indices.clear();
    return tiles;
  }
  if (step_ > 1 && count_ > 2 && count_ == (last_ - first_) / step_ + 1) {
    pattern.indices.clear();
    pattern.dimension = -1;
    pattern.step = step_;
    return is(PatternKind::Strided);
  }
  return pattern.kind == PatternKind::Region ? pattern : is(PatternKind::Scattered);
}

Pattern PatternCollector::classify() const {
  Pattern pattern = geometry();
  if (oneValue_ && count_ > 2) {
    pattern.oneValue = std::bit_cast<double>(valueBits_);
  }
  return pattern;
}

}  // namespace neuroncheck::numerics

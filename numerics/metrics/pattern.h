// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace neuroncheck::numerics {

/// What the places of the wrong elements have in common: the first thing a person asks.
enum class PatternKind : std::uint8_t {
  None,       ///< nothing is wrong
  Single,     ///< one element
  All,        ///< every element
  Slices,     ///< whole slices of one dimension: rows, columns, channels
  Tail,       ///< everything from one linear index on
  TileEdge,   ///< the first or last places of 32-, 128- or 512-element tiles of one dimension
  Strided,    ///< every n-th element
  Region,     ///< within one or few slices of one dimension, not the whole of them
  Scattered,  ///< no order that this knows
};

struct Pattern {
  PatternKind kind = PatternKind::None;
  std::int64_t rank = 0;
  std::int64_t dimension = -1;        ///< of Slices, TileEdge, Region
  std::vector<std::int64_t> indices;  ///< slices of that dimension, at most 8
  std::int64_t step = 0;              ///< of Strided; tile size of TileEdge
  std::int64_t begin = -1;            ///< first wrong linear index
  /// More than two wrong elements that all read this one value: nobody wrote them, or all alike.
  std::optional<double> oneValue;
  /// "whole slices of dimension 0 (rows): 3, 7", "every 2nd element"; ", all read 0: not written?".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] std::string_view name(PatternKind kind);

/// Collects the places of wrong elements; bounded memory (one counter per index of a dimension, up
/// to 65,536 each), mergeable in any order.
class PatternCollector {
 public:
  PatternCollector() = default;
  explicit PatternCollector(std::vector<std::int64_t> sizes);

  /// One wrong element; `actual` is what was read there.
  void add(std::int64_t linear, double actual);
  void merge(const PatternCollector& other);

  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] Pattern classify() const;

 private:
  [[nodiscard]] Pattern geometry() const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] bool slicePattern(Pattern& pattern) const;
  [[nodiscard]] bool tilePattern(Pattern& pattern) const;

  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<std::int64_t>> perIndex_;  ///< [dimension][index] wrong elements
  std::int64_t count_ = 0;
  std::int64_t first_ = -1;
  std::int64_t last_ = -1;
  std::int64_t step_ = 0;  ///< greatest common divisor of the distances from first_
  bool oneValue_ = true;
  std::uint64_t valueBits_ = 0;
};

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "numerics/tests/kernels/random.h"

namespace neuroncheck::numerics::testing {

/// In which order a machine adds up. All of them are legal.
enum class Order : std::uint8_t {
  Sequential,
  Reversed,
  Blocks,    ///< blocks of 128, their sums one after the other
  Pairwise,  ///< halves, recursively
  Lanes,     ///< eight interleaved accumulators, as vector units do
  Fused,     ///< sequential, products not rounded before they are added
};
inline constexpr std::array kLegalOrders = {Order::Sequential, Order::Reversed, Order::Blocks,
                                            Order::Pairwise,   Order::Lanes,    Order::Fused};
[[nodiscard]] inline std::string_view name(Order order) {
  constexpr std::array<std::string_view, 6> names = {"sequential", "reversed", "blocks of 128",
                                                     "pairwise",   "8 lanes",  "fused"};
  return names.at(static_cast<std::size_t>(order));
}

inline constexpr std::int64_t kTile = 128;

/// A machine whose every operation is rounded to one format. Values are doubles: a sum, product,
/// quotient or root of numbers of a format with at most 25 significant bits, worked out in fp64 and
/// rounded, is what the format's own operation gives (Figueroa 1995).
class Machine {
 public:
  explicit Machine(Format format, Order order = Order::Sequential,
                   Rounding rounding = Rounding::NearestEven)
      : format_(format), order_(order), rounding_(rounding), exact_(format == Format::Float64) {
    const FormatTraits& t = traits(format);
    shift_ = 53 - t.significandBits;
    mask_ = ~((std::uint64_t{1} << shift_) - 1);
    const bool nearest = rounding == Rounding::NearestEven && !exact_;
    half_ = nearest ? (std::uint64_t{1} << (shift_ - 1)) - 1 : 0;
    even_ = nearest ? 1 : 0;
    least_ = t.minNormal();
    most_ = t.maxFinite();
  }
  /// The machine of the truth.
  [[nodiscard]] static Machine exact() { return Machine(Format::Float64); }
  /// The same machine; its running sum is rounded to `format` after every 128 terms.
  [[nodiscard]] Machine withTileSums(Format format) const {
    Machine other(*this);
    other.tileFormat_ = format;
    other.tiles_ = true;
    return other;
  }

  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] Order order() const { return order_; }

  double operator()(double x) const {
    const double size = std::abs(x);
    if (exact_ || !(size >= least_ && size <= most_)) {
      return exact_ || x == 0 ? x : roundTo(format_, x, rounding_);
    }
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    bits += half_ + ((bits >> shift_) & even_);
    return std::bit_cast<double>(bits & mask_);
  }
  [[nodiscard]] double exp(double x) const { return (*this)(std::exp(x)); }
  [[nodiscard]] double log(double x) const { return (*this)(std::log(x)); }
  [[nodiscard]] double sqrt(double x) const { return (*this)(std::sqrt(x)); }

  /// term(0) + ... + term(n - 1); terms are numbers of the format.
  template <typename Term>
  [[nodiscard]] double sum(std::int64_t n, const Term& term) const {
    if (tiles_) {
      return tiled(n, term);
    }
    switch (order_) {
      case Order::Blocks: {
        double total = 0;
        for (std::int64_t from = 0; from < n; from += kTile) {
          total = (*this)(total + run(from, std::min(n, from + kTile), term));
        }
        return total;
      }
      case Order::Reversed: {
        double total = 0;
        for (std::int64_t i = n; i-- > 0;) {
          total = (*this)(total + term(i));
        }
        return total;
      }
      case Order::Pairwise:
        return n == 0 ? 0 : halves(0, n, term);
      case Order::Lanes:
        return lanes(n, term);
      case Order::Sequential:
      case Order::Fused:
        break;
    }
    return run(0, n, term);
  }

  /// a(0) b(0) + ... : products rounded, but where they are fused with the addition.
  template <typename Left, typename Right>
  [[nodiscard]] double dot(std::int64_t n, const Left& a, const Right& b) const {
    if (order_ == Order::Fused) {
      return sum(n, [&](std::int64_t i) { return a(i) * b(i); });
    }
    return sum(n, [&](std::int64_t i) { return (*this)(a(i) * b(i)); });
  }

 private:
  template <typename Term>
  [[nodiscard]] double run(std::int64_t from, std::int64_t to, const Term& term) const {
    double total = 0;
    for (std::int64_t i = from; i < to; ++i) {
      total = (*this)(total + term(i));
    }
    return total;
  }
  template <typename Term>
  [[nodiscard]] double halves(std::int64_t from, std::int64_t to, const Term& term) const {
    if (to - from == 1) {
      return term(from);
    }
    const std::int64_t middle = from + (to - from) / 2;
    return (*this)(halves(from, middle, term) + halves(middle, to, term));
  }
  template <typename Term>
  [[nodiscard]] double lanes(std::int64_t n, const Term& term) const {
    std::array<double, 8> lane{};
    for (std::int64_t i = 0; i < n; ++i) {
      double& total = lane.at(static_cast<std::size_t>(i % 8));
      total = (*this)(total + term(i));
    }
    return run(0, 8, [&](std::int64_t i) { return lane.at(static_cast<std::size_t>(i)); });
  }
  template <typename Term>
  [[nodiscard]] double tiled(std::int64_t n, const Term& term) const {
    const Machine coarse(tileFormat_);
    double total = 0;
    for (std::int64_t from = 0; from < n; from += kTile) {
      total = coarse(total + run(from, std::min(n, from + kTile), term));
    }
    return total;
  }

  Format format_;
  Order order_;
  Rounding rounding_;
  bool exact_;
  bool tiles_ = false;
  Format tileFormat_ = Format::Float32;
  int shift_ = 0;
  std::uint64_t mask_ = 0, half_ = 0, even_ = 0;
  double least_ = 0, most_ = 0;
};

/// Index of a vector by a signed number.
template <typename T>
[[nodiscard]] auto& at(T& values, std::int64_t i) {
  return values[static_cast<std::size_t>(i)];
}

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace neuroncheck::numerics {

/// Elements that share a random counter: a run of them is made at once.
inline constexpr std::int64_t kFillChunk = 64;

/// Random bits by position: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, from Random123) keyed
/// by the seed, counting (chunk, place in it and stream, tensor). No state, so any element can be
/// asked for, in any order, from any thread.
class CounterRandom {
 public:
  /// Independent numbers for one element.
  enum class Stream : std::uint32_t { Values, Legality, Rows, Matrix, Shared };

  CounterRandom(std::uint64_t seed, std::uint32_t tensor) : seed_(seed), tensor_(tensor) {}

  /// 64 random bits of element `index`.
  [[nodiscard]] std::uint64_t word(Stream stream, std::int64_t index) const;
  /// Those of elements first, first + 1, ...
  void words(Stream stream, std::int64_t first, std::span<std::uint64_t> out) const;

 private:
  std::uint64_t seed_;
  std::uint32_t tensor_;
};

/// In (0, 1), a multiple of 2^-53 that is never an end; exact.
[[nodiscard]] double unitInterval(std::uint64_t word);
/// An integer in [0, size), size > 0, by multiplication; the bias is below size / 2^64.
[[nodiscard]] std::int64_t below(std::uint64_t word, std::int64_t size);

/// A permutation of 0 .. size-1 whose places can be asked for one by one: a Feistel network over
/// the next power of four, walked until it comes back below `size`.
class IndexPermutation {
 public:
  IndexPermutation(std::int64_t size, std::uint64_t key);
  [[nodiscard]] std::int64_t at(std::int64_t place) const;

 private:
  std::uint64_t size_;
  std::uint64_t key_;
  unsigned halfBits_;
};

/// The standard normal quantile of p in (0, 1), to about 1e-15, by additions, multiplications,
/// divisions and square roots only, so that every machine gives the same bits.
[[nodiscard]] double normalQuantile(double p);

}  // namespace neuroncheck::numerics

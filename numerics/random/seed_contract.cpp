// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/seed_contract.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "numerics/random/independence.h"

namespace neuroncheck::numerics {
namespace {

RandomFinding bitwise(RandomTest test, std::span<const std::byte> expected,
                      std::span<const std::byte> actual, std::string_view what) {
  const auto n = static_cast<std::int64_t>(expected.size());
  if (expected.empty() && actual.empty()) {
    return mistrusted(test, 0, "nothing was drawn");
  }
  if (expected.size() != actual.size()) {
    return failed(test, n,
                  fmt::format("{}: {} bytes and {} bytes", what, expected.size(), actual.size()));
  }
  const auto at = std::mismatch(expected.begin(), expected.end(), actual.begin()).first;
  if (at == expected.end()) {
    return passed(test, n, fmt::format("{}: bitwise equal", what));
  }
  return failed(test, n,
                fmt::format("{}: they differ from byte {} on", what, at - expected.begin()));
}

}  // namespace

RandomFinding sameSeedTest(std::span<const std::byte> first, std::span<const std::byte> second,
                           std::uint64_t seed) {
  RandomFinding finding = bitwise(RandomTest::SameSeed, first, second, "two runs of one seed");
  finding.seeds = {seed};
  return finding;
}

RandomFinding differentSeedsTest(std::span<const std::byte> first,
                                 std::span<const std::byte> second, std::size_t itemSize,
                                 std::uint64_t firstSeed, std::uint64_t secondSeed) {
  const std::size_t n = std::min(first.size(), second.size()) / itemSize;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < n; ++i) {
    equal += std::memcmp(first.data() + i * itemSize, second.data() + i * itemSize, itemSize) == 0
                 ? 1U
                 : 0U;
  }
  const double chance =
      std::max(collisionProbability(first, itemSize), collisionProbability(second, itemSize));
  const auto count = static_cast<std::int64_t>(n);
  const auto finish = [&](RandomFinding finding) {
    finding.statistic = static_cast<double>(equal);
    finding.seeds = {firstSeed, secondSeed};
    return finding;
  };
  if (n == 0 || std::pow(chance, static_cast<double>(n)) > kFailBelow) {
    return finish(mistrusted(RandomTest::DifferentSeeds, count,
                             "two seeds may well give the same few values"));
  }
  const double expected = static_cast<double>(n) * chance;
  // The chance is an estimate from these same values, so one more than its count is allowed.
  const double most = expected + kSigmaLimit * std::sqrt(expected + 1) + 1;
  std::string words = fmt::format("{} of {} elements are equal for two seeds, by chance {:.1f}",
                                  equal, n, expected);
  return finish(equal == n || static_cast<double>(equal) > most
                    ? failed(RandomTest::DifferentSeeds, count, std::move(words))
                    : passed(RandomTest::DifferentSeeds, count, std::move(words)));
}

RandomFinding stateRestoredTest(std::span<const std::byte> saved,
                                std::span<const std::byte> restored) {
  return bitwise(RandomTest::StateRestored, saved, restored, "draws from a restored state");
}

RandomFinding forkIsolatedTest(std::span<const std::byte> without,
                               std::span<const std::byte> withFork) {
  return bitwise(RandomTest::ForkIsolated, without, withFork,
                 "the outer stream with and without a fork");
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/content_hash.h"
#include "numerics/random/independence.h"

namespace neuroncheck::numerics {
namespace {

/// Blocks may agree by chance this often before a test of them says nothing.
constexpr double kChanceAllowed = 1e-9;

std::uint64_t hashOf(std::span<const std::byte> bytes) {
  return contentHash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

RandomFinding judge(std::span<const std::span<const std::byte>> blocks, double elementsPerBlock,
                    double collision, std::int64_t n) {
  const auto count = static_cast<double>(blocks.size());
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    hashes.emplace_back(hashOf(blocks[i]), i);
  }
  std::sort(hashes.begin(), hashes.end());
  const auto same =
      std::adjacent_find(hashes.begin(), hashes.end(), [&](const auto& a, const auto& b) {
        return a.first == b.first && std::ranges::equal(blocks[a.second], blocks[b.second]);
      });
  const double byChance = count * count / 2 * std::pow(collision, elementsPerBlock);
  if (blocks.size() < 2 || byChance > kChanceAllowed) {
    return mistrusted(RandomTest::DuplicateBlocks, n,
                      "blocks are too few, too small or too alike for equal ones to mean anything");
  }
  if (same == hashes.end()) {
    return passed(RandomTest::DuplicateBlocks, n,
                  fmt::format("no two of {} blocks are equal", blocks.size()));
  }
  return failed(RandomTest::DuplicateBlocks, n,
                fmt::format("blocks {} and {} of {} are equal", same->second,
                            std::next(same)->second, blocks.size()));
}

}  // namespace

double collisionProbability(std::span<const std::byte> bytes, std::size_t itemSize) {
  constexpr std::size_t kMost = 65536;
  const std::size_t n = std::min(bytes.size() / itemSize, kMost);
  if (n < 2) {
    return 1;
  }
  std::vector<std::string_view> items;
  items.reserve(n);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  for (std::size_t i = 0; i < n; ++i) {
    items.emplace_back(text + i * itemSize, itemSize);
  }
  std::sort(items.begin(), items.end());
  double pairs = 0;
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first + 1;
    while (end < n && items[end] == items[first]) {
      ++end;
    }
    const auto equal = static_cast<double>(end - first);
    pairs += equal * (equal - 1);
    first = end;
  }
  const auto all = static_cast<double>(n) * static_cast<double>(n - 1);
  return std::max(pairs, 2.0) / all;
}

RandomFinding duplicateBlockTest(std::span<const std::byte> bytes, std::size_t itemSize,
                                 std::size_t blockBytes) {
  NEURONCHECK_CHECK(itemSize > 0 && blockBytes % itemSize == 0 && blockBytes > 0,
                    "blocks of whole elements");
  std::vector<std::span<const std::byte>> blocks;
  for (std::size_t at = 0; at + blockBytes <= bytes.size(); at += blockBytes) {
    blocks.push_back(bytes.subspan(at, blockBytes));
  }
  const std::size_t elements = blockBytes / itemSize;
  return judge(blocks, static_cast<double>(elements), collisionProbability(bytes, itemSize),
               static_cast<std::int64_t>(bytes.size() / itemSize));
}

RandomFinding duplicateBufferTest(std::span<const std::span<const std::byte>> buffers,
                                  std::size_t itemSize) {
  std::size_t smallest = buffers.empty() ? 0 : buffers.front().size();
  std::size_t total = 0;
  double collision = 0;
  for (const auto& buffer : buffers) {
    smallest = std::min(smallest, buffer.size());
    total += buffer.size();
    collision = std::max(collision, collisionProbability(buffer, itemSize));
  }
  const std::size_t elements = smallest / itemSize;
  return judge(buffers, static_cast<double>(elements), collision,
               static_cast<std::int64_t>(total / itemSize));
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/dropout.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "numerics/format/float_format.h"
#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::array<std::string_view, kDropoutScaleCount> kScaleNames = {
    "x / (1 - p) rounded once", "x times 1 / (1 - p) in fp32", "x times 1 / (1 - p), both in fp32",
    "x times 1 / (1 - p) rounded to the format"};

struct Buffers {
  Format format = Format::Float32;
  std::size_t item = 4;
  std::size_t count = 0;

  [[nodiscard]] std::uint64_t pattern(std::span<const std::byte> bytes, std::size_t i) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * item, item);
    return bits;
  }
  [[nodiscard]] double value(std::span<const std::byte> bytes, std::size_t i) const {
    return decode(format, pattern(bytes, i));
  }
};

Result<Buffers> buffersOf(const DropoutSample& sample) {
  const auto format = formatOf(sample.dtype);
  if (!format || isComplex(sample.dtype)) {
    return inputError(fmt::format("dropout of {} is not judged", name(sample.dtype)));
  }
  if (!(sample.p >= 0 && sample.p <= 1)) {
    return inputError(fmt::format("dropout probability {} is outside [0, 1]", sample.p));
  }
  const auto item = static_cast<std::size_t>(itemSize(sample.dtype));
  if (sample.input.size() != sample.output.size() || sample.input.size() % item != 0) {
    return inputError(fmt::format("dropout of {} bytes gave {} bytes", sample.input.size(),
                                  sample.output.size()));
  }
  return Buffers{*format, item, sample.input.size() / item};
}

/// The value a survivor has, still in double where the format rounds it.
double scaled(DropoutScale scale, Format format, double x, double p) {
  switch (scale) {
    case DropoutScale::RoundedOnce:
      return x / (1 - p);
    case DropoutScale::Float32Reciprocal:
      // A double stays one: there the reciprocal is in fp64.
      return format == Format::Float64
                 ? x * (1 / (1 - p))
                 : static_cast<double>(static_cast<float>(x) * static_cast<float>(1 / (1 - p)));
    case DropoutScale::Float32Complement:
      return static_cast<double>(static_cast<float>(x) * (1.0F / static_cast<float>(1 - p)));
    case DropoutScale::ReciprocalInFormat:
      break;
  }
  return x * roundTo(format, 1 / (1 - p));
}

/// Which scales explain every survivor so far, and what the mask looks like.
struct Tally {
  std::array<bool, kDropoutScaleCount> explains{true, true, true, true};
  std::int64_t judged = 0;
  std::int64_t zeros = 0;
  std::optional<std::size_t> firstOff;  ///< first survivor not rounded once

  void add(const Buffers& buffers, std::size_t i, double x, std::uint64_t actual, double p) {
    const double y = decode(buffers.format, actual);
    const double expected =
        roundTo(buffers.format, scaled(DropoutScale::RoundedOnce, buffers.format, x, p));
    if (!std::isfinite(x) || expected == 0) {
      explains = x == 0 && y != 0 ? std::array<bool, kDropoutScaleCount>{} : explains;
      firstOff = x == 0 && y != 0 && !firstOff ? i : firstOff;
      return;
    }
    ++judged;
    if (y == 0) {
      ++zeros;
      return;
    }
    for (std::size_t s = 0; s < kDropoutScaleCount; ++s) {
      const double value = scaled(static_cast<DropoutScale>(s), buffers.format, x, p);
      if (encode(buffers.format, value) != actual) {
        explains.at(s) = false;
        firstOff = s == 0 && !firstOff ? i : firstOff;
      }
    }
  }
  [[nodiscard]] std::optional<DropoutScale> scale() const {
    for (std::size_t s = 0; s < kDropoutScaleCount; ++s) {
      if (explains.at(s)) {
        return static_cast<DropoutScale>(s);
      }
    }
    return std::nullopt;
  }
};

/// What is wrong with the survivors, if anything.
std::optional<std::string> wrongScale(const Tally& tally) {
  const auto scale = tally.scale();
  if (scale && *scale != DropoutScale::ReciprocalInFormat) {
    return std::nullopt;
  }
  const std::string first = fmt::format("survivors are not x / (1 - p) rounded once, first at {}",
                                        tally.firstOff.value_or(0));
  return scale ? fmt::format("{}: they are {}", first, name(*scale)) : first;
}

RandomFinding judgeCount(const Tally& tally, double p, std::int64_t n) {
  const auto judged = static_cast<double>(tally.judged);
  const double deviation = std::sqrt(judged * p * (1 - p));
  // Neither "no zero" nor "all zeros" would be off by more than the limit.
  if (deviation == 0 || judged * std::min(p, 1 - p) / deviation <= kSigmaLimit) {
    return mistrusted(RandomTest::Dropout, n,
                      fmt::format("{} elements are too few to count zeros", tally.judged));
  }
  const double z = (static_cast<double>(tally.zeros) - judged * p) / deviation;
  std::string words = fmt::format("{} of {} elements are zero at p = {}, z = {:.2f}; survivors {}",
                                  tally.zeros, tally.judged, p, z, name(*tally.scale()));
  RandomFinding finding = std::abs(z) <= kSigmaLimit
                              ? passed(RandomTest::Dropout, n, std::move(words))
                              : failed(RandomTest::Dropout, n, std::move(words));
  finding.statistic = z;
  finding.p = twoSidedNormal(z);
  return finding;
}

}  // namespace

std::string_view name(DropoutScale scale) {
  return kScaleNames.at(static_cast<std::size_t>(scale));
}

Result<RandomFinding> dropoutTest(const DropoutSample& sample) {
  NEURONCHECK_TRY(const Buffers buffers, buffersOf(sample));
  const auto n = static_cast<std::int64_t>(buffers.count);
  if (n == 0) {
    return mistrusted(RandomTest::Dropout, n, "nothing was dropped or kept");
  }
  if (sample.p == 0) {
    const bool same = std::ranges::equal(sample.input, sample.output);
    return same ? passed(RandomTest::Dropout, n, "p = 0 changes no bit")
                : failed(RandomTest::Dropout, n, "p = 0 changes its input");
  }
  if (sample.p == 1) {
    std::size_t i = 0;
    while (i < buffers.count && buffers.value(sample.output, i) == 0) {
      ++i;
    }
    return i == buffers.count
               ? passed(RandomTest::Dropout, n, "p = 1 leaves nothing")
               : failed(RandomTest::Dropout, n, fmt::format("p = 1 leaves element {}", i));
  }
  Tally tally;
  for (std::size_t i = 0; i < buffers.count; ++i) {
    tally.add(buffers, i, buffers.value(sample.input, i), buffers.pattern(sample.output, i),
              sample.p);
  }
  if (auto wrong = wrongScale(tally)) {
    return failed(RandomTest::Dropout, n, std::move(*wrong));
  }
  return judgeCount(tally, sample.p, n);
}

Result<RandomFinding> dropoutBackwardTest(const DropoutSample& sample,
                                          std::span<const std::byte> gradOutput,
                                          std::span<const std::byte> gradInput) {
  NEURONCHECK_TRY(const Buffers buffers, buffersOf(sample));
  if (gradOutput.size() != sample.output.size() || gradInput.size() != sample.output.size()) {
    return inputError("gradients of dropout have the size of its output");
  }
  const auto n = static_cast<std::int64_t>(buffers.count);
  Tally tally;
  std::int64_t told = 0;
  for (std::size_t i = 0; i < buffers.count; ++i) {
    const double x = buffers.value(sample.input, i);
    const double grad = buffers.value(gradOutput, i);
    if (x == 0 || grad == 0 || !std::isfinite(x) || !std::isfinite(grad)) {
      continue;
    }
    const bool kept = buffers.value(sample.output, i) != 0;
    const std::uint64_t actual = buffers.pattern(gradInput, i);
    if (kept != (decode(buffers.format, actual) != 0)) {
      return failed(RandomTest::DropoutBackward, n,
                    fmt::format("element {} was {} forward and {} backward", i,
                                kept ? "kept" : "dropped", kept ? "dropped" : "kept"));
    }
    ++told;
    if (kept && sample.p < 1) {
      tally.add(buffers, i, grad, actual, sample.p);
    }
  }
  if (told == 0) {
    return mistrusted(RandomTest::DropoutBackward, n, "no element tells of the mask");
  }
  if (auto wrong = wrongScale(tally)) {
    return failed(RandomTest::DropoutBackward, n, "gradients: " + *wrong);
  }
  return passed(RandomTest::DropoutBackward, n,
                fmt::format("{} elements have one mask forward and backward", told));
}

}  // namespace neuroncheck::numerics

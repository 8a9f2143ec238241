// SPDX-License-Identifier: Apache-2.0
#include "numerics/metrics/metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "numerics/metrics/block_loops.h"

namespace neuroncheck::numerics {

std::string_view name(Fault fault) {
  static constexpr std::array<std::string_view, kFaultCount> kNames = {
      "none",         "beyond-bound", "nan-appeared",  "nan-lost",
      "inf-appeared", "inf-lost",     "inf-saturated", "zero-sign"};
  return kNames.at(static_cast<std::size_t>(fault));
}

AllcloseTolerance assertCloseDefaults(Format format) {
  switch (format) {
    case Format::Float64:
      return {1e-7, 1e-7};
    case Format::Float16:
      return {1e-3, 1e-5};
    case Format::BFloat16:
      return {1.6e-2, 1e-5};
    case Format::Float32:
    case Format::TFloat32:
      return {1.3e-6, 1e-5};
    default:
      // torch compares float8 exactly; a tolerance of its own does not exist.
      return {0, 0};
  }
}

std::size_t RatioHistogram::binOf(double ratio) {
  if (!(ratio > 0)) {
    return 0;
  }
  if (std::isinf(ratio)) {
    return kBins - 1;
  }
  const int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(ratio) >> 52) & 0x7ff) - 1023;
  return static_cast<std::size_t>(
      std::clamp(exponent - kFirstExponent + 1, 0, static_cast<int>(kBins) - 1));
}

/// Bin by bin from the top: comparing all elements with one bin costs less than counting them one
/// by one, as long as the bins are few.
void RatioHistogram::add(std::span<const double> ratios, double largest) {
  constexpr int kMostBins = 14;
  detail::Codes codes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
  while (!ratios.empty()) {
    const std::size_t n = std::min(detail::kBlock, ratios.size());
    detail::ratioBins(n, ratios.data(), codes);
    const std::int64_t zeros = detail::countCode(codes, 0);
    counts_.front() += zeros;
    std::int64_t left = static_cast<std::int64_t>(n) - zeros;
    const auto top = static_cast<int>(binOf(largest));
    int bin = top;
    for (const int last = std::max(top - kMostBins, 0); left > 0 && bin > last; --bin) {
      const std::int64_t times = detail::countCode(codes, static_cast<std::uint8_t>(bin));
      counts_[static_cast<std::size_t>(bin)] += times;
      left -= times;
    }
    for (std::size_t i = 0; left > 0 && i < n; ++i) {
      if (codes[i] != 0 && (codes[i] <= bin || codes[i] > top)) {
        ++counts_[codes[i]];
        --left;
      }
    }
    ratios = ratios.subspan(n);
  }
}

void RatioHistogram::merge(const RatioHistogram& other) {
  for (std::size_t i = 0; i < kBins; ++i) {
    counts_.at(i) += other.counts_.at(i);
  }
}

std::int64_t RatioHistogram::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

double RatioHistogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(total());
  double seen = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    seen += static_cast<double>(counts_.at(i));
    if (seen >= wanted && seen > 0) {
      return i == 0           ? 0
             : i == kBins - 1 ? std::numeric_limits<double>::infinity()
                              : std::ldexp(1.0, static_cast<int>(i) + kFirstExponent);
    }
  }
  return 0;
}

void Metrics::keep(const Place& place) {
  const auto before = [](const Place& a, const Place& b) {
    return a.ratio != b.ratio ? a.ratio > b.ratio : a.index < b.index;
  };
  if (worst.size() == kWorstKept && !before(place, worst.back())) {
    return;
  }
  worst.insert(std::upper_bound(worst.begin(), worst.end(), place, before), place);
  if (worst.size() > kWorstKept) {
    worst.pop_back();
  }
}

void Metrics::add(const BlockSums& sums) {
  squaredError.add(sums.squaredError);
  squaredTruth.add(sums.squaredTruth);
  squaredActual.add(sums.squaredActual);
  product.add(sums.product);
  signedError.add(sums.signedError);
  absoluteError.add(sums.absoluteError);
  absoluteTruth.add(sums.absoluteTruth);
  signedRatio.add(sums.signedRatio);
  outwardRatio.add(sums.outwardRatio);
  squaredRounding.add(sums.squaredRounding);
  squaredEmulated.add(sums.squaredEmulated);
  truthMin = std::min(truthMin, sums.truthMin);
  truthMax = std::max(truthMax, sums.truthMax);
  actualMin = std::min(actualMin, sums.actualMin);
  actualMax = std::max(actualMax, sums.actualMax);
}

void Metrics::merge(const Metrics& other) {
  count += other.count;
  finitePairs += other.finitePairs;
  maxAbs.merge(other.maxAbs);
  maxRel.merge(other.maxRel);
  const Extreme before = maxUlp;
  maxUlp.merge(other.maxUlp);
  maxUlpSigned = maxUlp == before ? maxUlpSigned : other.maxUlpSigned;
  maxUlpDistance.merge(other.maxUlpDistance);
  maxRatio.merge(other.maxRatio);
  neededRtol.merge(other.neededRtol);
  relUndefined += other.relUndefined;
  ratios.merge(other.ratios);
  squaredError.add(other.squaredError);
  squaredTruth.add(other.squaredTruth);
  squaredActual.add(other.squaredActual);
  product.add(other.product);
  signedError.add(other.signedError);
  absoluteError.add(other.absoluteError);
  absoluteTruth.add(other.absoluteTruth);
  signedRatio.add(other.signedRatio);
  outwardRatio.add(other.outwardRatio);
  squaredRounding.add(other.squaredRounding);
  squaredEmulated.add(other.squaredEmulated);
  hasEmulated = hasEmulated || other.hasEmulated;
  classes.merge(other.classes);
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    faults.at(i) += other.faults.at(i);
  }
  zeroSignDiffers += other.zeroSignDiffers;
  signDiffers += other.signDiffers;
  beyondMaximal += other.beyondMaximal;
  beyondUnstable += other.beyondUnstable;
  uselessBounds += other.uselessBounds;
  saturatedTruth += other.saturatedTruth;
  allcloseFailures += other.allcloseFailures;
  truthMin = std::min(truthMin, other.truthMin);
  truthMax = std::max(truthMax, other.truthMax);
  actualMin = std::min(actualMin, other.actualMin);
  actualMax = std::max(actualMax, other.actualMax);
  pattern.merge(other.pattern);
  for (const Place& place : other.worst) {
    keep(place);
  }
}

std::int64_t Metrics::wrong() const {
  return std::accumulate(faults.begin() + 1, faults.end(), std::int64_t{0});
}

std::optional<double> Metrics::relativeL2() const {
  const double truth = squaredTruth.value();
  if (truth == 0 || !std::isfinite(truth)) {
    return std::nullopt;
  }
  return std::sqrt(squaredError.value() / truth);
}

std::optional<double> Metrics::errorRatio() const {
  const double error = squaredError.value();
  const double floor = std::max(squaredRounding.value(), squaredEmulated.value());
  if (floor == 0 || !std::isfinite(error)) {
    return error == 0 ? std::optional<double>(0) : std::nullopt;
  }
  return std::sqrt(error / floor);
}

std::optional<double> Metrics::sqnr() const {
  const double truth = squaredTruth.value();
  const double error = squaredError.value();
  if (truth == 0 || !std::isfinite(truth) || !std::isfinite(error)) {
    return std::nullopt;
  }
  return error == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(truth / error);
}

std::optional<double> Metrics::cosine() const {
  const double norms = std::sqrt(squaredTruth.value()) * std::sqrt(squaredActual.value());
  if (norms == 0 || !std::isfinite(norms)) {
    return std::nullopt;
  }
  return std::clamp(product.value() / norms, -1.0, 1.0);
}

double Metrics::outwardBias() const {
  return finitePairs == 0 ? 0 : outwardRatio.value() / std::sqrt(static_cast<double>(finitePairs));
}

double Metrics::bias() const {
  return finitePairs == 0 ? 0 : signedRatio.value() / std::sqrt(static_cast<double>(finitePairs));
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#include "numerics/fill/fill.h"

#include <fmt/format.h>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "numerics/fill/fill_plan.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::array<std::string_view, kFillCount> kNames = {"G1", "G2", "G3", "G4", "G5",
                                                             "G6", "G7", "G8", "G9", "G10"};

/// Fills that are made of what other fills avoid: only hard limits hold them.
bool seeksEdges(FillId fill) {
  return fill == FillId::SpecialValues || fill == FillId::BitPatterns ||
         fill == FillId::Exhaustive || fill == FillId::DomainEdges;
}

Result<void> normaliseAxis(std::optional<std::int64_t>& axis, std::size_t rank,
                           std::string_view what) {
  if (!axis) {
    return {};
  }
  const auto dims = static_cast<std::int64_t>(rank);
  if (*axis < -dims || *axis >= dims) {
    return inputError(fmt::format("{} {} of a tensor with {} dimensions", what, *axis, dims));
  }
  axis = *axis < 0 ? *axis + dims : *axis;
  return {};
}

Result<FillPlan> planOf(FillRequest request) {
  FillPlan plan;
  if (itemSize(request.dtype) == 0 || kind(request.dtype) == DTypeKind::Quantized ||
      request.dtype == DType::Float4E2M1FNx2) {
    return inputError(fmt::format("{} cannot be filled", name(request.dtype)));
  }
  NEURONCHECK_TRY(plan.count, elementCount(request.sizes));
  NEURONCHECK_TRY_VOID(
      normaliseAxis(request.reductionAxis, request.sizes.size(), "reduction over dimension"));
  NEURONCHECK_TRY_VOID(
      normaliseAxis(request.legality.axis, request.sizes.size(), "uniqueness along dimension"));
  if (request.k < 1 || request.factors < 1 || request.operands < 1 || request.variant < 0) {
    return inputError("a fill needs k, factors and operands of at least 1 and a variant from 0");
  }
  if (isComplex(request.dtype)) {
    request.dtype = componentOf(request.dtype);
    request.sizes.push_back(2);
    NEURONCHECK_TRY(plan.count, elementCount(request.sizes));
    // Each component of a product of complex numbers is the sum of two.
    request.k *= request.factors > 1 ? 2 : 1;
  }
  plan.format = formatOf(request.dtype);
  plan.random = CounterRandom(request.seed, request.tensor);
  plan.request = std::move(request);
  return plan;
}

Result<ElementSource> sourceOf(const FillPlan& plan) {
  switch (plan.request.fill) {
    case FillId::DenseIntegers:
      return denseIntegers(plan);
    case FillId::SparseIntegers:
      return sparseIntegers(plan);
    case FillId::Normal:
      return normalValues(plan);
    case FillId::UniformPositive:
      return uniformValues(plan);
    case FillId::SpecialValues:
      return specialValues(plan);
    case FillId::Cancellation:
      return cancellation(plan);
    case FillId::BitPatterns:
      return bitPatterns(plan);
    case FillId::Exhaustive:
      return exhaustive(plan);
    case FillId::PositionCodes:
      return positionCodes(plan);
    case FillId::DomainEdges:
      break;
  }
  return domainEdges(plan);
}

}  // namespace

std::string_view name(FillId fill) { return kNames.at(static_cast<std::size_t>(fill)); }

std::optional<FillId> parseFill(std::string_view text) {
  for (std::size_t i = 0; i < kFillCount; ++i) {
    if (kNames.at(i) == text) {
      return static_cast<FillId>(i);
    }
  }
  return std::nullopt;
}

Result<Filler> Filler::make(FillRequest request) {
  Filler filler;
  filler.components_ = isComplex(request.dtype) ? 2 : 1;
  NEURONCHECK_TRY(FillPlan plan, planOf(std::move(request)));
  filler.dtype_ = plan.dtype();
  filler.count_ = plan.count / filler.components_;
  filler.seed_ = plan.request.seed;
  filler.tensor_ = plan.request.tensor;
  if (!plan.request.legality.hard && seeksEdges(plan.request.fill)) {
    plan.request.legality = {};
  }
  if (replacesFill(plan.request.legality.kind)) {
    NEURONCHECK_TRY(filler.source_, legalValues(plan));
    return filler;
  }
  NEURONCHECK_TRY(ElementSource source, sourceOf(plan));
  NEURONCHECK_TRY(filler.source_, legalised(plan, std::move(source)));
  return filler;
}

void Filler::write(std::int64_t first, std::span<std::byte> out) const {
  const auto item = static_cast<std::size_t>(itemSize(dtype_));
  const auto total = static_cast<std::int64_t>(out.size() / item);
  NEURONCHECK_CHECK(out.size() % (item * static_cast<std::size_t>(components_)) == 0 &&
                        first >= 0 && first + total / components_ <= count_,
                    "a run of whole elements within the tensor");
  const CounterRandom random(seed_, tensor_);
  std::array<std::uint64_t, kFillChunk> words{};
  std::byte* to = out.data();
  for (std::int64_t done = 0; done < total;) {
    const std::int64_t index = first * components_ + done;
    const std::int64_t run = std::min(kFillChunk - index % kFillChunk, total - done);
    random.words(CounterRandom::Stream::Values, index,
                 std::span(words).first(static_cast<std::size_t>(run)));
    for (std::int64_t i = 0; i < run; ++i) {
      const std::uint64_t pattern = source_(index + i, words.at(static_cast<std::size_t>(i)));
      std::memcpy(to, &pattern, item);
      to += item;
    }
    done += run;
  }
}

std::vector<std::byte> Filler::all() const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count_ * components_ * itemSize(dtype_)));
  write(0, bytes);
  return bytes;
}

Result<void> fill(const FillRequest& request, std::int64_t first, std::span<std::byte> out) {
  NEURONCHECK_TRY(const Filler filler, Filler::make(request));
  const auto item = static_cast<std::size_t>(itemSize(request.dtype));
  if (out.size() % item != 0 || first < 0 ||
      first > filler.count() - static_cast<std::int64_t>(out.size() / item)) {
    return inputError(fmt::format("{} bytes from element {} are no part of a tensor of {}",
                                  out.size(), first, filler.count()));
  }
  filler.write(first, out);
  return {};
}

AxisWalk AxisWalk::of(const std::vector<std::int64_t>& sizes, std::optional<std::int64_t> axis) {
  AxisWalk walk;
  if (!axis) {
    for (const std::int64_t size : sizes) {
      walk.size *= size;
    }
  } else {
    walk.size = sizes.at(static_cast<std::size_t>(*axis));
    for (auto d = static_cast<std::size_t>(*axis) + 1; d < sizes.size(); ++d) {
      walk.stride *= sizes[d];
    }
  }
  // An empty tensor is never walked; its divisors should not be zero all the same.
  walk.size = std::max<std::int64_t>(walk.size, 1);
  walk.stride = std::max<std::int64_t>(walk.stride, 1);
  return walk;
}

AxisWalk lastAxis(const std::vector<std::int64_t>& sizes) {
  return AxisWalk::of(sizes, sizes.empty()
                                 ? std::nullopt
                                 : std::optional(static_cast<std::int64_t>(sizes.size()) - 1));
}

std::uint64_t toPattern(DType dtype, double value) {
  if (dtype == DType::Float32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  if (dtype == DType::Float64) {
    return std::bit_cast<std::uint64_t>(value);
  }
  if (const auto format = formatOf(dtype)) {
    return encode(*format, value);
  }
  return integerPattern(dtype, static_cast<std::int64_t>(value));
}

std::uint64_t integerPattern(DType dtype, std::int64_t value) {
  if (dtype == DType::Bool) {
    return value != 0 ? 1 : 0;
  }
  const auto bits = static_cast<unsigned>(8 * itemSize(dtype));
  const auto pattern = static_cast<std::uint64_t>(value);
  return bits == 64 ? pattern : pattern & ((std::uint64_t{1} << bits) - 1);
}

double toValue(DType dtype, std::uint64_t pattern) {
  if (const auto format = formatOf(dtype)) {
    return decode(*format, pattern);
  }
  std::int64_t value = 0;
  decodeIntegers(
      dtype, std::as_bytes(std::span(&pattern, 1)).first(static_cast<std::size_t>(itemSize(dtype))),
      std::span(&value, 1));
  return dtype == DType::UInt64 ? static_cast<double>(pattern) : static_cast<double>(value);
}

std::int64_t lowestInteger(DType dtype) {
  const auto bits = static_cast<unsigned>(8 * itemSize(dtype));
  return kind(dtype) == DTypeKind::SignedInt
             ? std::numeric_limits<std::int64_t>::min() >> (64U - bits)
             : 0;
}

std::int64_t highestInteger(DType dtype) {
  if (dtype == DType::Bool) {
    return 1;
  }
  const auto bits = static_cast<unsigned>(8 * itemSize(dtype));
  const bool isSigned = kind(dtype) == DTypeKind::SignedInt || bits == 64;
  return isSigned ? std::numeric_limits<std::int64_t>::max() >> (64U - bits)
                  : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
}

double exactIntegers(DType dtype) {
  const DType component = componentOf(dtype);
  if (const auto format = formatOf(component)) {
    // e8m0 holds powers of two only.
    return traits(*format).isSigned() ? std::ldexp(1.0, traits(*format).significandBits) : 2;
  }
  return isIntegral(component) ? static_cast<double>(highestInteger(component)) : 0;
}

}  // namespace neuroncheck::numerics

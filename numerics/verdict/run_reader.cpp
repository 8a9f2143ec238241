// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/run_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "numerics/format/round_run.h"

namespace neuroncheck::numerics::detail {
namespace {

BoundModel modelOf(const JudgeRequest& request, Format format, bool complex) {
  BoundModel model = BoundModel::of(request.rule, request.length, arithmeticOf(request, format));
  model.exactInAccumulator = request.exactInAccumulator;
  if (complex && request.rule.opClass != OpClass::Exact) {
    // A component of a complex product is a sum of two real ones.
    model.coefficient = std::max(model.coefficient, 4.0);
  }
  return model;
}

}  // namespace

Arithmetic arithmeticOf(const JudgeRequest& request, Format output) {
  return request.arithmetic ? *request.arithmetic : declaredArithmetic(output);
}

/// Selections and single operations keep the sign of zero; sums and formulas may not.
SpecialPolicy policyOf(const JudgeRequest& request) {
  const OpClass c = request.rule.opClass;
  return {c == OpClass::Exact || c == OpClass::Rounded, request.relaxedNan};
}

RunReader::RunReader(const JudgeRequest& request, Reference& reference)
    : request_(request),
      reference_(reference),
      view_(request.actual.asReal()),
      complex_(isComplex(request.actual.dtype)),
      format_(formatOf(request.actual.dtype).value_or(Format::Float64)),
      bounder_(modelOf(request, format_, complex_)),
      reader_(view_),
      exact_(request.rule.opClass == OpClass::Exact),
      storedAlike_(view_.count() > 0 && !reference.truthBytes(view_.dtype, 0, 1).empty()),
      offersAlternative_(reference.offers({Quantity::Alternative, {}})),
      offersStored_(request.rule.roundings > 1 &&
                    reference.offers({Quantity::StoredMagnitude, {}})),
      offersMagnitude_(reference.offers({Quantity::Magnitude, {}})),
      offersEmulated_(!exact_ && reference.offers({Quantity::Emulated, {}})),
      offersUnstable_(!exact_ && reference.offers({Quantity::UnstableMagnitude, {}})),
      arrays_(std::make_unique<Arrays>()) {}

std::span<const double> RunReader::equalRun(std::int64_t first) {
  if (!exact_ || arithmeticOf(request_, format_).roundsStochastically) {
    return {};
  }
  const std::int64_t n = std::min(kRun, view_.count() - first);
  const auto truth = reference_.truthBytes(view_.dtype, first, n);
  const auto actual = reader_.raw(first, n);
  if (truth.size() != actual.size()) {
    return {};
  }
  actual_ = std::span(arrays_->actual.values).first(static_cast<std::size_t>(n));
  const auto item = static_cast<std::size_t>(itemSize(view_.dtype));
  for (std::size_t from = 0; from < actual_.size(); from += kAhead) {
    const std::size_t count = std::min(kAhead, actual_.size() - from);
    const std::size_t at = from * item;
    const std::size_t bytes = count * item;
    askFor(truth.data() + at, truth.size(), bytes);
    askFor(actual.data() + at, actual.size(), bytes);
    if (std::memcmp(truth.data() + at, actual.data() + at, bytes) != 0) {
      return {};
    }
    decodeRun(view_.dtype, actual.subspan(at, bytes), actual_.subspan(from, count));
  }
  return actual_;
}

Result<MetricsBlock> RunReader::read(std::int64_t first) {
  const auto n = static_cast<std::size_t>(std::min(kRun, view_.count() - first));
  const auto take = [n](Array& array) { return std::span(array.values).first(n); };
  actual_ = take(arrays_->actual);
  truth_ = take(arrays_->truth);
  rounded_ = take(arrays_->rounded);
  expected_ = take(arrays_->expected);
  maximal_ = take(arrays_->maximal);
  reader_.values(first, actual_);
  // A reference may have bytes no longer (a pass that was interrupted): evaluate() then says why.
  const auto bytes = storedAlike_
                         ? reference_.truthBytes(view_.dtype, first, static_cast<std::int64_t>(n))
                         : std::span<const std::byte>();
  if (storedAlike_ && bytes.size() == n * static_cast<std::size_t>(itemSize(view_.dtype))) {
    decodeAhead(view_.dtype, bytes, truth_);
  } else {
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Truth, {}}, first, truth_));
  }
  if (offersAlternative_) {
    other_ = take(arrays_->other);
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Alternative, {}}, first, other_));
    takeAlternatives();
  }
  if (storedAlike_ && !offersAlternative_ && !exact_) {
    rounded_ = truth_;
  } else {
    roundRun(format_, truth_, rounded_);
  }
  if (exact_) {
    boundExact();
  } else {
    NEURONCHECK_TRY_VOID(readMagnitude(first, n));
    bounder_.run(truth_, magnitude_, expected_, maximal_);
    NEURONCHECK_TRY_VOID(addStored(first, n));
  }
  MetricsBlock block{first, actual_, truth_, rounded_, expected_, maximal_, {}, {}};
  if (offersEmulated_) {
    emulated_ = take(arrays_->emulated);
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Emulated, {}}, first, emulated_));
    block.emulated = emulated_;
  }
  if (offersUnstable_) {
    unstable_ = take(arrays_->unstable);
    other_ = take(arrays_->other);
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::UnstableMagnitude, {}}, first, unstable_));
    bounder_.run(truth_, unstable_, unstable_, other_);
    block.unstable = unstable_;
  }
  return block;
}

/// Where a decision may go either way, the result is held against the one it is nearer to.
void RunReader::takeAlternatives() {
  for (std::size_t i = 0; i < truth_.size(); ++i) {
    if (std::abs(actual_[i] - other_[i]) < std::abs(actual_[i] - truth_[i])) {
      truth_[i] = other_[i];
    }
  }
}

/// An exact operator returns a number of the format; a cast the nearest one, or under stochastic
/// rounding one of the two neighbours of a value that lies between them.
void RunReader::boundExact() {
  const bool byChance = arithmeticOf(request_, format_).roundsStochastically;
  for (std::size_t i = 0; i < truth_.size(); ++i) {
    const bool between = byChance && truth_[i] != rounded_[i] && std::isfinite(truth_[i]);
    expected_[i] = maximal_[i] = between ? ulp(format_, truth_[i]) : 0;
    // A value beyond the format stays what it is, so that saturation can be told from a wrong
    // number.
    truth_[i] = between || !std::isfinite(rounded_[i]) ? truth_[i] : rounded_[i];
  }
}

/// Each tensor that was stored on the way was rounded to the output's format.
Result<void> RunReader::addStored(std::int64_t first, std::size_t n) {
  if (!offersStored_) {
    return {};
  }
  stored_ = std::span(arrays_->stored.values).first(n);
  NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::StoredMagnitude, {}}, first, stored_));
  const double factor = (request_.rule.roundings - 1) * traits(format_).unitRoundoff();
  for (std::size_t i = 0; i < n; ++i) {
    stored_[i] = std::isfinite(truth_[i]) ? factor * std::abs(stored_[i]) : 0;
    expected_[i] += stored_[i];
    maximal_[i] += stored_[i];
  }
  return {};
}

Result<void> RunReader::readMagnitude(std::int64_t first, std::size_t n) {
  if (offersMagnitude_) {
    magnitude_ = std::span(arrays_->magnitude.values).first(n);
    return reference_.evaluate({Quantity::Magnitude, {}}, first, magnitude_);
  }
  if (complex_) {
    // Runs start at even indices, so that pairs are never cut.
    magnitude_ = std::span(arrays_->magnitude.values).first(n);
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      // A component without a number bounds nothing: the other then stands for itself.
      const double modulus = std::hypot(truth_[i], truth_[i + 1]);
      const bool both = std::isfinite(truth_[i]) && std::isfinite(truth_[i + 1]);
      magnitude_[i] = both ? modulus : std::abs(truth_[i]);
      magnitude_[i + 1] = both ? modulus : std::abs(truth_[i + 1]);
    }
  }
  return {};
}

Result<std::span<const double>> RunReader::also(const Request& request, const MetricsBlock& block) {
  if (!reference_.offers(request)) {
    return std::span<const double>{};
  }
  other_ = std::span(arrays_->other.values).first(block.actual.size());
  NEURONCHECK_TRY_VOID(reference_.evaluate(request, block.first, other_));
  return std::span<const double>(other_);
}

}  // namespace neuroncheck::numerics::detail

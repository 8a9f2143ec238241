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
      exact_(request.rule.opClass == OpClass::Exact) {}

std::span<const double> RunReader::equalRun(std::int64_t first) {
  if (!exact_ || arithmeticOf(request_, format_).roundsStochastically) {
    return {};
  }
  const std::int64_t n = std::min(kRun, view_.count() - first);
  const auto truth = reference_.truthBytes(view_.dtype, first, n);
  const auto actual = reader_.raw(first, n);
  if (truth.size() != actual.size() ||
      std::memcmp(truth.data(), actual.data(), actual.size()) != 0) {
    return {};
  }
  actual_.resize(static_cast<std::size_t>(n));
  decodeRun(view_.dtype, actual, actual_);
  return actual_;
}

Result<MetricsBlock> RunReader::read(std::int64_t first) {
  const auto n = static_cast<std::size_t>(std::min(kRun, view_.count() - first));
  for (auto* run : {&actual_, &truth_, &rounded_, &expected_, &maximal_}) {
    run->resize(n);
  }
  reader_.values(first, actual_);
  NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Truth, {}}, first, truth_));
  if (reference_.offers({Quantity::Alternative, {}})) {
    other_.resize(n);
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Alternative, {}}, first, other_));
    takeAlternatives();
  }
  roundRun(format_, truth_, rounded_);
  if (exact_) {
    boundExact();
  } else {
    NEURONCHECK_TRY_VOID(readMagnitude(first, n));
    bounder_.run(truth_, magnitude_, expected_, maximal_);
    NEURONCHECK_TRY_VOID(addStored(first, n));
  }
  MetricsBlock block{first, actual_, truth_, rounded_, expected_, maximal_, {}, {}};
  if (!exact_ && reference_.offers({Quantity::Emulated, {}})) {
    emulated_.resize(n);
    NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::Emulated, {}}, first, emulated_));
    block.emulated = emulated_;
  }
  if (!exact_ && reference_.offers({Quantity::UnstableMagnitude, {}})) {
    unstable_.resize(n);
    other_.resize(n);
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
  const Request request{Quantity::StoredMagnitude, {}};
  stored_.clear();
  if (request_.rule.roundings < 2 || !reference_.offers(request)) {
    return {};
  }
  stored_.resize(n);
  NEURONCHECK_TRY_VOID(reference_.evaluate(request, first, stored_));
  const double factor = (request_.rule.roundings - 1) * traits(format_).unitRoundoff();
  for (std::size_t i = 0; i < n; ++i) {
    stored_[i] = std::isfinite(truth_[i]) ? factor * std::abs(stored_[i]) : 0;
    expected_[i] += stored_[i];
    maximal_[i] += stored_[i];
  }
  return {};
}

Result<void> RunReader::readMagnitude(std::int64_t first, std::size_t n) {
  magnitude_.clear();
  if (reference_.offers({Quantity::Magnitude, {}})) {
    magnitude_.resize(n);
    return reference_.evaluate({Quantity::Magnitude, {}}, first, magnitude_);
  }
  if (complex_) {
    // Runs start at even indices, so that pairs are never cut.
    magnitude_.resize(n);
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      magnitude_[i] = magnitude_[i + 1] = std::hypot(truth_[i], truth_[i + 1]);
    }
  }
  return {};
}

Result<std::span<const double>> RunReader::also(const Request& request, const MetricsBlock& block) {
  if (!reference_.offers(request)) {
    return std::span<const double>{};
  }
  other_.resize(block.actual.size());
  NEURONCHECK_TRY_VOID(reference_.evaluate(request, block.first, other_));
  return std::span<const double>(other_);
}

}  // namespace neuroncheck::numerics::detail

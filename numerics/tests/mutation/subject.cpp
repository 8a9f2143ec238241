// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/mutation/subject.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/op_name.h"
#include "core/result.h"
#include "numerics/rules/op_rules.h"
#include "numerics/tests/mutation/other_rules.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

Values rowsFrom(const Values& values, std::int64_t row, const std::vector<std::int64_t>& rows) {
  Values out;
  for (const std::int64_t r : rows) {
    out.insert(out.end(), values.begin() + r * row, values.begin() + (r + 1) * row);
  }
  return out;
}

std::vector<std::int64_t> rowNumbers(const Subject& subject) {
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < std::ssize(subject.truth) / subject.rowLength(); ++r) {
    rows.push_back(r);
  }
  return rows;
}

/// Rows moved about and memory nobody wrote.
void addMemoryFaults(Subject& s, const Values& right) {
  const std::int64_t row = s.rowLength();
  const auto n = std::ssize(right);
  Values tail = right;
  std::fill(tail.end() - std::max<std::int64_t>(n / 8, 1), tail.end(), 0.0);
  s.fault("tail unwritten", std::move(tail));
  Values stale = right;
  for (std::int64_t i = n - n / 4; i < n; ++i) {
    at(stale, i) = at(right, i - n / 4);
  }
  s.fault("stale buffer in the tail", std::move(stale));
  auto rows = rowNumbers(s);
  if (rows.size() > 2) {
    rows[2] = 1;
    s.fault("row duplicated", rowsFrom(right, row, rows));
    rows[1] = 2;
    s.fault("two rows swapped", rowsFrom(right, row, rows));
  }
}

std::vector<std::byte> bytesOf(const Subject& s, const Values& raw, Rounding rounding) {
  Values values = raw;
  if (rounding == Rounding::TowardZero) {
    for (double& x : values) {
      x = roundTo(s.format(), x, rounding);
    }
  }
  return encoded(s.dtype, values);
}

std::unique_ptr<VectorReference> referenceOf(const Subject& s) {
  if (isIntegral(s.dtype)) {
    auto reference = std::make_unique<VectorReference>(
        std::vector<std::int64_t>(s.truth.begin(), s.truth.end()));
    return reference;
  }
  auto reference = std::make_unique<VectorReference>(s.truth);
  if (!s.magnitude.empty()) {
    reference->set({Quantity::Magnitude, {}}, s.magnitude);
  }
  if (!s.unstable.empty()) {
    reference->set({Quantity::UnstableMagnitude, {}}, s.unstable);
  }
  for (const auto& [id, values] : s.values) {
    reference->set({Quantity::HypothesisValue, id}, values);
  }
  for (const auto& [id, room] : s.rooms) {
    reference->set({Quantity::HypothesisBound, id}, room);
  }
  return reference;
}

/// What rounding once and summing in some order may do, worked out apart from the library.
struct Floor {
  double rounding = 0;
  double order = 0;
  bool table = false;
};
Floor floorAt(const Subject& s, std::size_t i, bool weak) {
  if (isIntegral(s.dtype) || s.rule.opClass == OpClass::Exact) {
    return {};
  }
  const FormatTraits& t = traits(s.format());
  const double h = std::abs(s.truth[i]);
  const double size = s.magnitude.empty() ? h : s.magnitude[i];
  const double nearest = s.length > 1 ? 4 * std::sqrt(s.length) : 0;
  const double terms = weak ? std::max(nearest, s.length > 1 ? 2 * s.length : 0) : nearest;
  const double formula = s.rule.coefficient * (weak ? 2 : 1);
  const bool table = weak && s.rule.opClass == OpClass::Elementary && s.dtype != DType::Float32;
  return {(table ? 5 : s.rule.roundings) * t.unitRoundoff() * h + t.minSubnormal() / 2,
          (formula + terms) * 0x1p-24 * size, table};
}

void measureFloor(const Subject& s, const InjectedFault& fault, Outcome& outcome) {
  const Values& right = s.legal.front().second;
  for (std::size_t i = 0; i < std::min(right.size(), fault.result.size()); ++i) {
    const double change = std::abs(fault.result[i] - right[i]);
    const Floor floor = floorAt(s, i, outcome.state == CaseState::PassWeak);
    const double all = floor.rounding + floor.order;
    const double percent = change == 0 ? 0
                           : all > 0   ? 100 * change / all
                                       : std::numeric_limits<double>::infinity();
    if (!(percent <= outcome.percentOfFloor)) {
      outcome.percentOfFloor = percent;
      outcome.floorIsRounding = floor.rounding > floor.order;
      outcome.floorIsTable = floor.table;
    }
  }
}

Judgement judgedIndices(const Subject& s, const TensorView& indices) {
  const auto operand = encoded(s.chosen->dtype, s.chosen->operand);
  SelectionRequest request;
  request.indices = indices;
  request.expected = {s.dtype, s.sizes, std::nullopt};
  request.operand =
      *TensorView::contiguous(s.chosen->dtype, operand, {s.sizes.front(), s.chosen->extent});
  request.dimension = 1;
  request.promise = s.chosen->promise;
  return judgeSelection(request);
}

Judgement judgedValues(const Subject& s, const TensorView& actual, VectorReference& reference) {
  JudgeRequest request;
  request.actual = actual;
  request.expected = {s.dtype, s.sizes, std::nullopt};
  request.rule = s.rule;
  request.length = s.length;
  request.specialInputs = s.specialInputs;
  return judge(request, reference);
}

Outcome judged(const Subject& s, const InjectedFault& fault, VectorReference& reference) {
  const auto bytes = bytesOf(s, fault.result, fault.rounding);
  const auto& sizes = fault.sizes.empty() ? s.sizes : fault.sizes;
  const TensorView actual = *TensorView::contiguous(s.dtype, bytes, sizes);
  const Judgement j = s.chosen ? judgedIndices(s, actual) : judgedValues(s, actual, reference);
  Outcome outcome{s.op,    s.inputs, fault.name,  s.dtype,      j.state,
                  j.cause, j.reason, fault.cause, j.hypothesis, false};
  const auto right = bytesOf(s, s.legal.front().second, Rounding::NearestEven);
  outcome.noOp = bytes == right;
  if (outcome.missed()) {
    measureFloor(s, fault, outcome);
  }
  if (sizes == s.sizes) {
    Values result(s.truth.size()), cpu(s.truth.size());
    decodeRun(s.dtype, bytes, result);
    decodeRun(s.dtype, right, cpu);
    const OtherRules others = otherRules(s.dtype, s.truth, cpu, result);
    outcome.assertClose = others.assertClose;
    outcome.dynamoSame = others.dynamoSame;
    outcome.cosine = others.cosine;
    outcome.errorRatio = others.errorRatio;
  }
  return outcome;
}

}  // namespace

OutputRule shippedRule(std::string_view op, std::size_t output) {
  const auto parsed = OpName::parse(op);
  const OpRule* rule = parsed ? opRules().find(*parsed) : nullptr;
  NEURONCHECK_CHECK(rule != nullptr, "no rule for an operator of the mutation tables");
  return outputRule(*rule, output);
}

void addOutputFaults(Subject& s, bool rich) {
  const Values right = s.legal.front().second;
  const Format format = s.format();
  const auto middle = std::ssize(right) * 2 / 3;
  addMemoryFaults(s, right);
  if (isIntegral(s.dtype)) {
    return;
  }
  Values nan = right;
  at(nan, middle) = std::numeric_limits<double>::quiet_NaN();
  s.fault("one NaN", std::move(nan));
  if (traits(format).significandBits > traits(Format::BFloat16).significandBits) {
    s.fault("result through bf16", roundedTo(Format::BFloat16, right),
            HypothesisId::BFloat16Output);
  }
  if (!rich) {
    return;
  }
  if (format != Format::Float32) {
    s.faults.push_back(
        {"output truncated", right, HypothesisId::RoundTowardZero, Rounding::TowardZero, {}});
  }
  Values sign = right;
  at(sign, middle) = -at(sign, middle);
  s.fault("one sign flipped", std::move(sign));
  Values scaled = right;
  for (double& x : scaled) {
    x *= 1.01;
  }
  s.fault("1 % scale", std::move(scaled));
}

void Bench::run(const Subject& subject) {
  const auto reference = referenceOf(subject);
  for (const auto& [name, result] : subject.legal) {
    legal_.push_back(
        judged(subject, {name, result, HypothesisId::None, Rounding::NearestEven, {}}, *reference));
  }
  for (const InjectedFault& fault : subject.faults) {
    faults_.push_back(judged(subject, fault, *reference));
  }
}

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
// Element types: integers beyond 2^31, out= of float64, types nothing is known of. Those that rows
// speak of are in rules_feature.cpp and rules_compiler.cpp.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();

bool isWide(const TensorSpec& spec) {
  return spec.dtype == DType::Int64 || spec.dtype == DType::UInt64;
}

/// A value against the range of int32.
enum class Fit : std::uint8_t { Fits, May, Exceeds };

Fit fitOf(std::int64_t value) { return value > kMost || value < kLeast ? Fit::Exceeds : Fit::Fits; }

Fit fitOf(const SymRange& range) {
  if ((range.min && *range.min > kMost) || (range.max && *range.max < kLeast)) {
    return Fit::Exceeds;
  }
  // An end that is not bounded says nothing; every dynamic size would be one.
  const bool may = (range.max && *range.max > kMost) || (range.min && *range.min < kLeast);
  return may ? Fit::May : Fit::Fits;
}

/// The last value below an exclusive end, where a factory takes one.
bool isExclusiveEnd(const OpUse& use, std::string_view argument) {
  return (use.op.base.starts_with("arange") && argument == "end") ||
         (use.op.base.starts_with("randint") && argument == "high");
}

Fit fitOf(RuleRun& run, const OpUse& use, const Argument& argument) {
  const std::int64_t less = isExclusiveEnd(use, argument.name) ? 1 : 0;
  if (const auto* number = std::get_if<SymIntValue>(&argument.value)) {
    if (!number->value.isSymbolic()) {
      const std::int64_t value = number->value.value;
      return fitOf(value == std::numeric_limits<std::int64_t>::min() ? value : value - less);
    }
    SymRange range = run.boundsOf(number->value.expr);
    if (range.max && *range.max > kLeast) {
      range.max = *range.max - less;
    }
    return fitOf(range);
  }
  if (const auto* number = std::get_if<SymFloat>(&argument.value)) {
    const bool big = number->expr == nullptr && std::isfinite(number->value) &&
                     (number->value > static_cast<double>(kMost + less) ||
                      number->value < static_cast<double>(kLeast));
    return big ? Fit::Exceeds : Fit::Fits;
  }
  return Fit::Fits;
}

/// Does the argument become an element of a tensor? Sizes, dimensions and ends of slices do not.
bool isElement(const RuleRun& run, const OpUse& use, const Argument& argument) {
  if (use.op.base.starts_with("randint") && (argument.name == "low" || argument.name == "high")) {
    return true;
  }
  const OpInfo* info = run.info(use);
  const SchemaArgument* schema = info == nullptr ? nullptr : info->schema.argument(argument.name);
  return schema != nullptr && !schema->list &&
         (schema->type == SchemaType::Scalar || schema->type == SchemaType::Tensor);
}

bool hasFloat(const OpUse& use) {
  return anyTensor(use, [](const TensorSpec& spec) { return isFloating(spec.dtype); });
}

void exceeds(RuleRun& run, const OpUse& use, const Argument& argument) {
  const bool isNew = !run.has("NC402");
  Finding& finding = run.finding("NC402");
  if (isNew) {
    finding.message =
        "These constants do not fit int32, as which the backend computes int64: the result is "
        "wrong, without an error.";
    if (const auto answer = run.feature("int64")) {
      finding.severity = capped(Severity::Error, answer->standing);
      finding.evidence.push_back(answer->evidence);
    } else {
      // No row says so for this mode: the danger is shown, not claimed.
      finding.severity = Severity::Warning;
      finding.message += " (No evidence for this mode.)";
    }
  }
  finding.places.push_back(
      run.place(use, fmt::format("{} is {}", argument.name, run.valueText(argument.value))));
}

void mayExceed(RuleRun& run, const OpUse& use, const Argument& argument, std::string_view why) {
  Finding& finding = run.finding("NC403");
  if (finding.places.empty()) {
    finding.message =
        "These values can leave the range of int32, as which the backend takes integers.";
    if (const auto answer = run.feature("int64")) {
      finding.evidence.push_back(answer->evidence);
    }
  }
  finding.places.push_back(
      run.place(use, fmt::format("{} is {}{}", argument.name, run.valueText(argument.value), why)));
}

void integers(RuleRun& run, const OpUse& use) {
  const bool wide = anyTensor(use, isWide);
  const bool floating = !wide && hasFloat(use);
  if (!wide && !floating) {
    return;
  }
  for (const Argument& argument : use.args) {
    const bool integer = std::holds_alternative<SymIntValue>(argument.value);
    if ((!integer && !(wide && std::holds_alternative<SymFloat>(argument.value))) ||
        argument.isDefault || !isElement(run, use, argument)) {
      continue;
    }
    const Fit fit = fitOf(run, use, argument);
    if (fit == Fit::Exceeds && wide) {
      exceeds(run, use, argument);
    } else if (fit == Fit::Exceeds) {
      mayExceed(run, use, argument, ", given as an integer beside floating-point tensors");
    } else if (fit == Fit::May) {
      mayExceed(run, use, argument, ", which may exceed 2^31");
    }
  }
}

void float64Out(RuleRun& run, const OpUse& use) {
  const OpInfo* info = run.info(use);
  if (info == nullptr || !info->schema.isOut()) {
    return;
  }
  for (const SchemaArgument& schema : info->schema.arguments) {
    const TensorValue* out = schema.written ? tensorOf(use.arg(schema.name)) : nullptr;
    if (out == nullptr || out->spec.dtype != DType::Float64) {
      continue;
    }
    const auto answer = run.feature("float64");
    if (!answer) {
      return;
    }
    Finding& finding = run.finding("NC405");
    finding.severity = capped(Severity::Error, answer->standing);
    finding.message = answer->row->message;
    finding.evidence.push_back(answer->evidence);
    finding.places.push_back(
        run.place(use, fmt::format("{} is {}", schema.name, run.tensorText(*out))));
  }
}

bool isUncharted(const TensorSpec& spec) {
  switch (spec.dtype) {
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Float8E8M0FNU:
    case DType::Float4E2M1FNx2:
      return true;
    default:
      return false;
  }
}

void uncharted(RuleRun& run) {
  const auto begin = [&run]() -> Finding& {
    Finding& finding = run.finding("NC413");
    finding.message =
        "No source says that the backend takes these element types; absence of a statement is "
        "all that is known.";
    return finding;
  };
  for (const OpUse& use : run.model().uses) {
    if (touchesDevice(use.group) && anyTensor(use, isUncharted)) {
      begin().places.push_back(run.place(use, run.tensorDetail(use, isUncharted)));
    }
  }
  for (const GraphInput& input : run.model().inputs) {
    forEachTensor(input.value, [&](const TensorValue& tensor) {
      if (isUncharted(tensor.spec)) {
        begin().places.push_back(
            run.place(input.name, fmt::format("the input is {}", run.tensorText(tensor))));
      }
    });
  }
}

/// Values in payloads are not read, so what they hold is not known.
void storedIntegers(RuleRun& run) {
  std::int64_t count = 0;
  std::string first;
  for (const StoredTensor& stored : run.model().stored) {
    if (isWide(stored.spec)) {
      first = ++count == 1 ? stored.name : first;
    }
  }
  if (count != 0) {
    run.notChecked(fmt::format("values of {} ({}{})",
                               counted(count, "stored int64 tensor", "stored int64 tensors"), first,
                               count == 1 ? "" : ", ..."),
                   "weights and constants are not read", "check that none exceeds 2^31");
  }
}

}  // namespace

void runDtypeRules(RuleRun& run) {
  for (const OpUse& use : run.model().uses) {
    if (touchesDevice(use.group)) {
      integers(run, use);
      float64Out(run, use);
    }
  }
  uncharted(run);
  storedIntegers(run);
}

}  // namespace neuroncheck::opdb

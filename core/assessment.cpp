// SPDX-License-Identifier: Apache-2.0
#include "core/assessment.h"

#include "core/enum_table.h"

namespace neuroncheck {
namespace {

constexpr EnumWords<2> kModes{"eager", "compile"};

}  // namespace

bool decides(const Model& model, const ModelAssessment& judged) {
  return !model.operatorFree || !model.uses.empty() || judged.verdict == Verdict::Blocked;
}

std::string_view name(ExecutionMode mode) { return enumWord(kModes, mode); }

std::optional<ExecutionMode> parseExecutionMode(std::string_view text) {
  return enumOf<ExecutionMode>(kModes, text);
}

}  // namespace neuroncheck

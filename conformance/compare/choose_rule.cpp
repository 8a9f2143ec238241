// SPDX-License-Identifier: Apache-2.0
#include "conformance/compare/choose_rule.h"

#include <charconv>

#include <fmt/format.h>

#include "core/op_name.h"
#include "numerics/rules/length.h"
#include "numerics/rules/op_rules.h"

namespace neuroncheck::conformance {
namespace {

using numerics::OpClass;
using numerics::OutputRule;

struct OpOutput {
  OpName op;
  std::size_t output = 0;
};

Result<OpOutput> parseOp(const std::string& text) {
  OpOutput parsed;
  std::string nameText = text;
  if (const auto hash = text.find('#'); hash != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + hash + 1, end, parsed.output);
    if (error != std::errc{} || stop != end) {
      return fail(ErrorCode::Usage,
                  fmt::format("--op {}: what follows # is the number of an output", text));
    }
    nameText.resize(hash);
  }
  const auto op =
      OpName::parse(nameText.find("::") == std::string::npos ? "aten::" + nameText : nameText);
  if (!op) {
    return fail(ErrorCode::Usage,
                fmt::format("--op {}: this is no operator's name; write aten::mm or mm", text));
  }
  parsed.op = *op;
  return parsed;
}

/// Without an operator: what any single evaluation in fp32 does.
ChosenRule byLength(const CompareOptions& options) {
  ChosenRule chosen;
  chosen.rule.emplace();
  chosen.rule->constantAllowed = false;
  if (options.reduction) {
    chosen.rule->opClass = OpClass::Contraction;
    chosen.length = *options.reduction;
    chosen.estimatesMagnitude = true;
    chosen.words = fmt::format("a sum of {:.0f} terms", *options.reduction);
  } else {
    chosen.rule->opClass = OpClass::Elementary;
    chosen.rule->coefficient = 4;
    chosen.words =
        "one evaluation within 4 ulp of its accumulator, rounded once (no --op, no "
        "--reduction)";
  }
  return chosen;
}

bool sums(OpClass opClass) {
  return opClass == OpClass::Reduction || opClass == OpClass::Contraction ||
         opClass == OpClass::Normalisation || opClass == OpClass::Fused;
}

}  // namespace

Result<ChosenRule> chooseRule(const std::string& tensor, const CompareOptions& options) {
  const auto own = options.opOf.find(tensor);
  if (own == options.opOf.end() && !options.op) {
    return byLength(options);
  }
  const std::string& text = own == options.opOf.end() ? *options.op : own->second;
  NEURONCHECK_TRY(const OpOutput wanted, parseOp(text));
  const numerics::OpRule* rule = numerics::opRules().find(wanted.op);
  ChosenRule chosen;
  if (rule == nullptr) {
    chosen.words = fmt::format("{} has no rule", wanted.op.str());
    return chosen;
  }
  chosen.rule = numerics::outputRule(*rule, wanted.output);
  chosen.isIndex = chosen.rule->opClass == OpClass::Discontinuous;
  chosen.words = fmt::format("{}{}, class {} ({})", wanted.op.str(),
                             wanted.output == 0 ? "" : fmt::format(" output {}", wanted.output),
                             letter(chosen.rule->opClass), name(chosen.rule->opClass));
  chosen.estimatesMagnitude = chosen.rule->companion != "none" && chosen.rule->companion != "value";
  if (!sums(chosen.rule->opClass)) {
    return chosen;
  }
  if (options.reduction) {
    chosen.length = *options.reduction;
    chosen.words += fmt::format(", {:.0f} terms", chosen.length);
    return chosen;
  }
  // Some lengths hang on nothing; the others on operands that tensors alone do not show.
  NEURONCHECK_TRY(const auto expression, numerics::LengthExpression::parse(chosen.rule->length));
  if (!expression.names().empty()) {
    return fail(ErrorCode::Usage, fmt::format("{} sums {} terms: say how many with --reduction",
                                              wanted.op.str(), chosen.rule->length));
  }
  NEURONCHECK_TRY(const std::int64_t length, expression.evaluate({}));
  chosen.length = static_cast<double>(length);
  return chosen;
}

}  // namespace neuroncheck::conformance

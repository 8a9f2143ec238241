// SPDX-License-Identifier: Apache-2.0
// Every row of op_rules.tsv that needs a magnitude has one, or a reason in companions_open.tsv; and
// torch's own fp32 kernels stay within the bound that is made of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/op_name.h"
#include "numerics/rules/length.h"
#include "numerics/rules/op_rules.h"
#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/tests/sample_calls.h"

namespace neuroncheck::companion::testing {
namespace {

using numerics::OpClass;
using numerics::OutputRule;

const std::string kCalls = NEURONCHECK_SOURCE_DIR "/torch_host/companion/tests/sample_calls.txt";
const std::string kOpen = NEURONCHECK_SOURCE_DIR "/datasets/numerics/companions_open.tsv";

std::string fullName(const c10::OperatorHandle& op) {
  const auto& name = op.schema();
  return name.overload_name().empty() ? name.name() : name.name() + "." + name.overload_name();
}

numerics::LengthOperand operandOf(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined()) {
    return numerics::TensorSizes{value.toTensor().sizes().vec()};
  }
  if (value.isTensorList()) {
    std::vector<numerics::TensorSizes> out;
    for (const at::Tensor& each : value.toTensorVector()) {
      out.push_back({each.sizes().vec()});
    }
    return out;
  }
  if (value.isList() && !value.isIntList()) {
    std::vector<numerics::TensorSizes> out;
    for (const c10::IValue& each : value.toListRef()) {
      if (each.isTensor()) {
        out.push_back({each.toTensor().sizes().vec()});
      }
    }
    return out;
  }
  if (value.isIntList()) {
    return value.toIntVector();
  }
  if (value.isInt() || value.isBool()) {
    return value.isInt() ? value.toInt() : static_cast<std::int64_t>(value.toBool());
  }
  if (value.isString()) {
    return value.toStringRef();
  }
  return std::monostate{};
}

double lengthOf(const OutputRule& rule, const SampleCall& call) {
  numerics::LengthOperands operands;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    operands.named[call.op.schema().arguments()[i].name()] = operandOf(call.arguments[i]);
  }
  for (std::size_t i = 0; i < call.truth.size(); ++i) {
    operands.named["out" + std::to_string(i)] = operandOf(call.truth[i]);
  }
  const auto parsed = numerics::LengthExpression::parse(rule.length);
  const auto k = parsed->evaluate(operands);
  if (!k) {
    ADD_FAILURE() << call.text << ": " << k.error().text();
    return 1;
  }
  return static_cast<double>(*k);
}

const numerics::OpRule* ruleOf(const SampleCall& call) {
  const auto name = OpName::parse(fullName(call.op));
  return name ? numerics::opRules().find(*name) : nullptr;
}

/// "op output word" of every magnitude that rules ask for in a compared class by element.
std::set<std::string> needed() {
  std::set<std::string> out;
  for (const numerics::OpRule& rule : numerics::opRules().rules()) {
    for (std::size_t i = 0; i < rule.outputs.size(); ++i) {
      const OutputRule& row = rule.outputs[i];
      if (row.notComparable != numerics::NotComparable::No) {
        continue;
      }
      for (const std::string& word : {row.companion, row.unstable, row.stored}) {
        if (!word.empty() && word != "none" && word != "value" && word != "whole") {
          out.insert(rule.op + "\t" + std::to_string(i) + "\t" + word);
        }
      }
    }
  }
  return out;
}

std::map<std::string, std::string> openRows() {
  std::map<std::string, std::string> out;
  std::ifstream in(kOpen);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto last = line.rfind('\t');
    out[line.substr(0, last)] = line.substr(last + 1);
  }
  return out;
}

std::size_t rowOf(const numerics::OpRule& rule, std::size_t output) {
  return std::min(output, rule.outputs.size() - 1);
}

/// What is asked of any magnitude.
void expectMagnitude(const std::string& what, const at::Tensor& s, const at::Tensor& truth) {
  auto sizes = truth.sizes().vec();
  if (truth.is_complex()) {
    sizes.push_back(2);
  }
  EXPECT_EQ(s.sizes().vec(), sizes) << what;
  EXPECT_EQ(s.scalar_type(), at::kDouble) << what;
  EXPECT_FALSE(s.isnan().any().item().toBool()) << what;
  EXPECT_TRUE(s.ge(0).all().item().toBool()) << what;
}

TEST(CompanionRules, EveryRowIsComputedOrOpenForAReason) {
  std::set<std::string> done;
  for (const SampleCall& call : sampleCalls(kCalls, Family::Normal, 1)) {
    const auto* rule = ruleOf(call);
    if (rule == nullptr) {
      continue;
    }
    for (std::size_t i = 0; i < call.truth.size(); ++i) {
      const OutputRule& row = numerics::outputRule(*rule, i);
      if (row.notComparable != numerics::NotComparable::No || !call.truth[i].defined()) {
        continue;
      }
      for (const std::string& word : {row.companion, row.unstable, row.stored}) {
        if (word.empty()) {
          continue;
        }
        const auto s =
            magnitude(word, {call.op, call.arguments, call.truth, i, lengthOf(row, call), 0x1p-24});
        EXPECT_TRUE(s) << call.text << " output " << i << ": " << (s ? "" : s.error().text());
        if (s) {
          expectMagnitude(call.text + " output " + std::to_string(i) + " " + word, *s,
                          call.truth[i]);
          done.insert(rule->op + "\t" + std::to_string(rowOf(*rule, i)) + "\t" + word);
        }
      }
    }
  }
  const auto open = openRows();
  for (const std::string& row : needed()) {
    EXPECT_NE(done.contains(row), open.contains(row))
        << row << (done.contains(row) ? " is done" : " is neither done nor open");
  }
  for (const auto& [row, reason] : open) {
    EXPECT_TRUE(needed().contains(row)) << row << " is no row of op_rules.tsv";
    EXPECT_FALSE(reason.empty()) << row;
  }
}

TEST(CompanionRules, EveryWordHasAFormula) {
  const auto known = words();
  for (const auto& companion : numerics::companions()) {
    EXPECT_NE(std::ranges::find(known, companion.word), known.end()) << companion.word;
  }
  EXPECT_EQ(known.size(), numerics::companions().size());
}

/// Largest error / bound of one output, where both are finite.
double worst(const at::Tensor& got, const at::Tensor& truth, const at::Tensor& bound) {
  const at::Tensor real = truth.is_complex() ? torchCall("aten::view_as_real", "", {truth}) : truth;
  const at::Tensor wide = got.is_complex() ? torchCall("aten::view_as_real", "", {got}) : got;
  const at::Tensor error = wide.to(at::kDouble).sub(real).abs().masked_fill(wide.eq(real), 0);
  const at::Tensor ratio = error.div(bound).masked_fill(bound.isfinite().logical_not(), 0);
  return ratio.numel() == 0 ? 0 : ratio.max().item().toDouble();
}

at::Tensor boundOf(const OutputRule& row, const SampleCall& call, std::size_t i,
                   const std::string& word, double k) {
  const auto s = magnitude(word, {call.op, call.arguments, call.truth, i, k, 0x1p-24});
  const auto h = magnitude("value", {call.op, call.arguments, call.truth, i, k, 0x1p-24});
  const bool sums = row.opClass >= OpClass::Reduction && row.opClass <= OpClass::Fused && k > 1;
  const double factor = row.coefficient + (sums ? 4 * std::sqrt(k) : 0);
  const double ulps = row.opClass == OpClass::Elementary ? 2 : 1;
  at::Tensor bound = h->mul(row.roundings * 0x1p-24).add(0x1p-149);
  if (s) {
    bound = bound.add(s->mul(factor * ulps * 0x1p-24));
  }
  if (!row.stored.empty()) {
    const auto stored = magnitude(row.stored, {call.op, call.arguments, call.truth, i, k, 0x1p-24});
    bound = bound.add(stored->mul((row.roundings - 1) * 0x1p-24));
  }
  return bound;
}

class CompanionKernels : public ::testing::TestWithParam<Family> {};

TEST_P(CompanionKernels, OfFp32StayWithinTheBound) {
  for (const SampleCall& call : sampleCalls(kCalls, GetParam(), 7)) {
    const auto* rule = ruleOf(call);
    if (rule == nullptr || !call.ran) {
      continue;
    }
    std::vector<at::Tensor> got;
    try {
      got = run(call.op, narrowed(call.arguments));
    } catch (const c10::Error&) {
      continue;  // No fp32 kernel for these arguments.
    }
    for (std::size_t i = 0; i < call.truth.size() && i < got.size(); ++i) {
      const OutputRule& row = numerics::outputRule(*rule, i);
      const bool real = call.truth[i].defined() &&
                        (call.truth[i].is_floating_point() || call.truth[i].is_complex());
      if (row.notComparable != numerics::NotComparable::No || !real ||
          row.opClass > OpClass::Fused) {
        continue;
      }
      const double k = lengthOf(row, call);
      double ratio = worst(got[i], call.truth[i], boundOf(row, call, i, row.companion, k));
      if (ratio > 1 && !row.unstable.empty()) {
        ratio = worst(got[i], call.truth[i], boundOf(row, call, i, row.unstable, k));
      }
      EXPECT_LE(ratio, 1) << call.text << " output " << i << " " << row.companion;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CompanionKernels,
                         ::testing::Values(Family::Normal, Family::Positive, Family::Wide,
                                           Family::MeanTen));

}  // namespace
}  // namespace neuroncheck::companion::testing

// SPDX-License-Identifier: Apache-2.0
// The lengths of the table on the sizes of real calls: datasets/numerics/length_samples.tsv.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "numerics/rules/length.h"
#include "numerics/rules/op_rules.h"

namespace neuroncheck::numerics {
namespace {

struct Sample {
  std::string op;
  std::size_t output = 0;
  LengthOperands operands;
  std::int64_t k = 0;
  std::string terms;
  std::string line;
};

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  std::istringstream in{std::string(text)};
  for (std::string part; std::getline(in, part, ',');) {
    out.push_back(std::stoll(part));
  }
  return out;
}

/// "[2,3]" a tensor, "[[2,3],[4]]" tensors, "{1,2}" integers, "none", "\"text\"", or an integer.
LengthOperand operand(std::string_view text) {
  const std::string_view inside = text.size() < 2 ? text : text.substr(1, text.size() - 2);
  if (text == "none") {
    return std::monostate{};
  }
  if (text.starts_with("[[")) {
    std::vector<TensorSizes> tensors;
    for (std::size_t at = inside.find('['); at != std::string_view::npos;
         at = inside.find('[', at + 1)) {
      tensors.push_back({numbers(inside.substr(at + 1, inside.find(']', at) - at - 1))});
    }
    return tensors;
  }
  switch (text.front()) {
    case '[':
      return TensorSizes{numbers(inside)};
    case '{':
      return numbers(inside);
    case '"':
      return std::string(inside);
    default:
      return std::int64_t{std::stoll(std::string(text))};
  }
}

std::vector<Sample> readSamples() {
  std::vector<Sample> out;
  std::ifstream in(NEURONCHECK_SOURCE_DIR "/datasets/numerics/length_samples.tsv");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "op\toutput\toperands\tk\tterms");
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Sample sample;
    std::string output;
    std::string operands;
    std::string k;
    std::getline(fields, sample.op, '\t');
    std::getline(fields, output, '\t');
    std::getline(fields, operands, '\t');
    std::getline(fields, k, '\t');
    std::getline(fields, sample.terms, '\t');
    sample.output = std::stoul(output);
    sample.k = std::stoll(k);
    sample.line = line;
    std::istringstream parts(operands);
    for (std::string part; std::getline(parts, part, ' ');) {
      const std::size_t equals = part.find('=');
      sample.operands.named[part.substr(0, equals)] = operand(part.substr(equals + 1));
    }
    out.push_back(std::move(sample));
  }
  return out;
}

TEST(LengthSamples, TheTableSaysWhatWasCounted) {
  std::set<std::string> counted;
  for (const Sample& sample : readSamples()) {
    const auto rule = findRule(OpName::parse(sample.op).value());
    ASSERT_TRUE(rule) << sample.line;
    const auto length = LengthExpression::parse(outputRule(*rule, sample.output).length);
    const auto k = length->evaluate(sample.operands);
    ASSERT_TRUE(k) << sample.line << ": " << k.error().text();
    EXPECT_EQ(*k, sample.k) << sample.line;
    if (sample.terms != "-") {
      EXPECT_GE(*k, std::stoll(sample.terms)) << sample.line;
      if (*k == std::stoll(sample.terms)) {
        counted.insert(sample.op);
      }
    }
  }
  EXPECT_GE(counted.size(), 60U);
}

TEST(LengthSamples, EveryLengthOfTheTableHasOne) {
  std::set<std::string> sampled;
  for (const Sample& sample : readSamples()) {
    const auto rule = findRule(OpName::parse(sample.op).value());
    ASSERT_TRUE(rule) << sample.line;
    sampled.insert(LengthExpression::parse(outputRule(*rule, sample.output).length)->str());
  }
  for (const OpRule& rule : opRules().rules()) {
    for (const OutputRule& output : rule.outputs) {
      const auto length = LengthExpression::parse(output.length);
      if (!length->names().empty()) {
        EXPECT_TRUE(sampled.contains(length->str())) << rule.op << ": " << length->str();
      }
    }
  }
}

}  // namespace
}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
// Which operators the table has to know, by name: each test prints those it does not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/schema.h"
#include "numerics/rules/length.h"
#include "numerics/rules/op_rules.h"

namespace neuroncheck::numerics {
namespace {

const std::string kDatasets = NEURONCHECK_SOURCE_DIR "/datasets/";

struct CatalogueOp {
  FunctionSchema schema;
  std::set<std::string> tags;
};

const std::map<std::string, CatalogueOp>& catalogue() {
  static const auto all = [] {
    std::map<std::string, CatalogueOp> out;
    std::ifstream in(kDatasets + "catalogue/torch-2.13.0/ops.jsonl");
    for (std::string line; std::getline(in, line);) {
      const auto json = nlohmann::json::parse(line);
      auto schema = FunctionSchema::parse(json.at("schema").get<std::string>());
      if (schema) {
        out[json.at("name").get<std::string>()] = {*std::move(schema),
                                                   json.at("tags").get<std::set<std::string>>()};
      }
    }
    return out;
  }();
  return all;
}

bool hasRule(const std::string& name) {
  const auto op = OpName::parse(name);
  return op && opRules().find(*op) != nullptr;
}

std::vector<std::string> linesOf(const std::string& file) {
  std::vector<std::string> out;
  std::ifstream in(kDatasets + file);
  for (std::string line; std::getline(in, line);) {
    out.push_back(line);
  }
  return out;
}

template <typename Names>
void expectRules(const Names& names) {
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    EXPECT_TRUE(hasRule(name)) << name << " has no rule";
  }
}

TEST(Coverage, CoreOperators) {
  std::set<std::string> core;
  for (const auto& [name, op] : catalogue()) {
    if (op.tags.contains("core")) {
      core.insert(name);
    }
  }
  EXPECT_GT(core.size(), 190U);
  expectRules(core);
}

TEST(Coverage, OperatorsOfTheCorpus) { expectRules(linesOf("numerics/corpus_ops.txt")); }

void collectOperators(const nlohmann::json& json, std::set<std::string>& out) {
  if (json.is_string() && catalogue().contains(json.get<std::string>())) {
    out.insert(json.get<std::string>());
  }
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items()) {
      if (json.is_object() && catalogue().contains(key)) {
        out.insert(key);
      }
      collectOperators(value, out);
    }
  }
}

TEST(Coverage, OperatorsOfTheModelFixtures) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kDatasets + "models")) {
    if (entry.path().string().ends_with(".oracle.json")) {
      std::ifstream in(entry.path());
      collectOperators(nlohmann::json::parse(in), found);
    }
  }
  EXPECT_GT(found.size(), 150U);
  expectRules(found);
}

/// "aten::_x_backward_data" is the backward of "aten::_x".
TEST(Coverage, BackwardsOfCoveredOperators) {
  std::set<std::string> backward;
  for (const auto& [name, op] : catalogue()) {
    const std::size_t at = op.schema.name.base.find("_backward");
    const bool forwardMode = name.find("_jvp") != std::string::npos;  // refused by the product
    if (at == std::string::npos || at == 0 || op.schema.name.ns != "aten" || forwardMode) {
      continue;
    }
    if (hasRule("aten::" + op.schema.name.base.substr(0, at))) {
      backward.insert(op.schema.name.packet());
    }
  }
  EXPECT_GT(backward.size(), 90U);
  expectRules(backward);
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Coverage, DerivativesOfCoveredOperators) {
  std::set<std::string> needed;
  std::size_t entries = 0;
  for (const std::string& line : linesOf("numerics/derivatives.tsv")) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    const auto forward = words(line.substr(first + 1, second - first - 1));
    if (std::ranges::all_of(forward, hasRule)) {
      const auto backward = words(line.substr(second + 1));
      needed.insert(backward.begin(), backward.end());
      ++entries;
    }
  }
  EXPECT_GT(entries, 450U);
  expectRules(needed);
}

/// The overloads a row is for: its own, or those of its packet and of the packet's in-place form.
TEST(Coverage, RowsFitTheSchemasTheyAreFor) {
  std::set<std::string> used;
  for (const auto& [name, op] : catalogue()) {
    const OpRule* rule = opRules().find(op.schema.name);
    if (rule == nullptr) {
      continue;
    }
    used.insert(rule->op);
    if (op.schema.isOut() || op.schema.text.find("Dimname") != std::string::npos) {
      continue;
    }
    const auto tensors = static_cast<std::size_t>(
        std::ranges::count(op.schema.returns, SchemaType::Tensor, &SchemaArgument::type));
    const bool noTensor = rule->outputs[0].notComparable == NotComparable::NoTensor;
    EXPECT_LE(rule->outputs.size(), std::max<std::size_t>(tensors, 1)) << name;
    EXPECT_TRUE(!noTensor || tensors == 0) << name << " has a tensor output";
    for (const OutputRule& output : rule->outputs) {
      for (const std::string& argument : LengthExpression::parse(output.length)->names()) {
        const bool ofCall = argument.starts_with("out") || argument == "group_size";
        EXPECT_TRUE(ofCall || op.schema.argument(argument) != nullptr)
            << name << ": no argument " << argument << " for " << output.length;
      }
    }
  }
  for (const OpRule& rule : opRules().rules()) {
    EXPECT_TRUE(used.contains(rule.op)) << rule.op << " is the rule of no operator";
  }
}

/// No index, count or mask is judged by a bound: an operator with two tensor outputs and one row
/// has the same kind twice.
TEST(Coverage, SeededOperatorsAreRandom) {
  for (const auto& [name, op] : catalogue()) {
    const OpRule* rule = opRules().find(op.schema.name);
    if (rule == nullptr || !op.tags.contains("nondeterministic_seeded")) {
      continue;
    }
    const OutputRule& output = rule->outputs[0];
    const bool attention = name.find("attention") != std::string::npos;
    const bool recurrent = name.find("lstm") != std::string::npos ||
                           name.find("gru") != std::string::npos ||
                           name.find("rnn") != std::string::npos;
    EXPECT_TRUE(output.opClass == OpClass::Random || attention || recurrent) << name;
  }
}

TEST(Coverage, ViewsAreExact) {
  for (const auto& [name, op] : catalogue()) {
    const OpRule* rule = opRules().find(op.schema.name);
    if (rule != nullptr && op.schema.returnsAlias() && !op.schema.mutates() && !op.schema.isOut()) {
      EXPECT_EQ(rule->outputs[0].opClass, OpClass::Exact) << name;
    }
  }
}

}  // namespace
}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
// How findings divide, which places they name, and the order of what stays open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Finding> all(const RuleResults& results, const std::string& rule) {
  std::vector<Finding> out;
  std::ranges::copy_if(results.findings, std::back_inserter(out),
                       [&](const Finding& finding) { return finding.rule == rule; });
  return out;
}

TensorPtr sized(const std::string& name) {
  return tensor(DType::Float32, {symbol(name), SymInt(4)});
}

TEST(RuleFindings, OneForEachSeverity) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.add("aten::sort", {{"self", tensor(DType::Int64)}});
    b.add("aten::argsort.stable", {{"self", tensor(DType::Int64)}});
    b.claim().claim = Claim::CpuFallback;
  });
  const std::vector<Finding> found = all(results, "NC253");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].severity, Severity::Error);
  EXPECT_EQ(found[0].targets, std::vector<std::string>{"aten::sort"});
  EXPECT_EQ(found[1].severity, Severity::Note);
  EXPECT_EQ(found[1].targets, std::vector<std::string>{"aten::argsort.stable"});
  EXPECT_THAT(found[1].message, HasSubstr("computed on the CPU"));
  EXPECT_THAT(found[1].remedy, HasSubstr("Nothing as long as they stay on the CPU"));
}

TEST(RuleFindings, TheRemedyFitsTheOperator) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.add("aten::topk");
    b.add("aten::sort");
  });
  const std::vector<Finding> found = all(results, "NC257");
  ASSERT_THAT(found, SizeIs(2));
  for (const Finding& finding : found) {
    const bool topk = finding.targets.front() == "aten::topk";
    EXPECT_THAT(finding.targets, SizeIs(1));
    EXPECT_THAT(finding.remedy, Not(HasSubstr("use topk")));
    EXPECT_EQ(finding.remedy.find("small k") != std::string::npos, topk) << finding.remedy;
  }
}

TEST(RuleFindings, ASizeReadBeforeIsNoSecondHostWait) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.add("aten::item");
    b.add("aten::narrow", {{"length", SymIntValue{symbol("u0"), "item"}}}, {sized("u0")});
    b.add("aten::relu", {{"self", sized("u0")}}, {sized("u0")});
    b.add("aten::nonzero", {}, {sized("u1")});
  });
  const std::vector<Finding> found = all(results, "NC303");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].message, HasSubstr("The host waits for the size"));
  EXPECT_EQ(found[0].targets, std::vector<std::string>{"aten::nonzero"});
  EXPECT_THAT(found[1].message, HasSubstr("from a number that the host has read"));
  EXPECT_EQ(found[1].targets, std::vector<std::string>{"aten::narrow"});
  EXPECT_THAT(find(results.findings, "NC804")->message,
              HasSubstr("at 2 places: 1 read of a value, 1 of a size"));
}

TEST(RuleCosts, CopiesByReshapeAreCompiledAndFreeOnesAreNot) {
  const auto message = [](Claim claim) {
    return find(run([claim](InventoryBuilder& b, Target&) {
                  b.add("aten::relu");
                  b.add("aten::reshape");
                  b.claim().claim = claim;
                }).findings,
                "NC803")
        ->message;
  };
  EXPECT_THAT(message(Claim::Native), HasSubstr("2 uses of device work make 2 distinct cases"));
  for (const Claim none : {Claim::NoDeviceWork, Claim::CpuFallback, Claim::Unsupported}) {
    EXPECT_THAT(message(none), HasSubstr("1 use of device work makes 1 distinct case"));
  }
}

TEST(RulePlaces, FallBackToTorchsOwnFile) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    OpUse& use = b.add("aten::item");
    use.source = {};
    use.lastFrame = {"/usr/lib/python3/dist-packages/torch/nn/functional.py", 12};
    b.add("aten::relu");
    b.claim().claim = Claim::Unknown;
    b.model().uses.back().source = {};
    b.model().uses.back().lastFrame = {"torch/nn/modules/activation.py", 7};
    b.add("aten::item").lastFrame = {"torch/nn/functional.py", 99};
    b.add("aten::neg").source = {"/usr/lib/python3/dist-packages/pkg/net.py", 4};
    b.claim().claim = Claim::Unknown;
  });
  const Finding* finding = find(results.findings, "NC305");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->places[0].source, (SourcePlace{"torch/nn/functional.py", 12}));
  EXPECT_EQ(finding->places[0].detail, "torch's own file");
  EXPECT_EQ(finding->places[1].source.file, "model.py");
  EXPECT_EQ(finding->places[1].detail, "");
  const auto open = std::ranges::find_if(
      results.notChecked, [](const NotChecked& one) { return one.what.starts_with("aten::relu"); });
  ASSERT_NE(open, results.notChecked.end());
  EXPECT_THAT(open->why, HasSubstr("relu_1 (torch/nn/modules/activation.py:7, torch's own file)"));
  EXPECT_TRUE(std::ranges::any_of(results.notChecked, [](const NotChecked& one) {
    return one.why.find("neg_3 (pkg/net.py:4)") != std::string::npos;
  }));
}

TEST(RulePlaces, AHigherOrderOperatorStandsWhereItsFirstOperatorDoes) {
  const RuleResults results = run([](InventoryBuilder& b, Target& t) {
    compile(t);
    b.add("aten::relu");
    b.add("aten::relu").graph = "/true_graph_0/inner";
    b.add("aten::relu").graph = "/false_graph_0";
    b.addHigherOrder("cond", {GraphRef{"/true_graph_0"}, GraphRef{"/false_graph_0"}});
    b.addHigherOrder("cond", {GraphRef{"/empty"}});
    b.addHigherOrder("cond", {GraphRef{"/true_graph_0"}}).source = {"own.py", 3};
  });
  const Finding* finding = find(results.findings, "NC207");
  ASSERT_NE(finding, nullptr);
  ASSERT_THAT(finding->places, SizeIs(3));
  EXPECT_EQ(finding->places[0].source, (SourcePlace{"model.py", 2}));
  EXPECT_EQ(finding->places[0].detail, "the line of the first operator inside");
  EXPECT_FALSE(finding->places[1].source.known());
  EXPECT_EQ(finding->places[2].source.file, "own.py");
  EXPECT_EQ(finding->places[2].detail, "");
}

TEST(RuleOpen, WhatConcernsTheModelComesFirst) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.store("w", tensor(DType::Int64)->spec, 128, "w");
    b.add("aten::relu");
    b.claim().claim = Claim::Unknown;
  });
  std::size_t lastOwn = 0;
  std::size_t firstRule = results.notChecked.size();
  for (std::size_t i = 0; i < results.notChecked.size(); ++i) {
    const std::string& what = results.notChecked[i].what;
    const bool ofRules = what.starts_with("feature ") || what.find(": ") == 11;
    lastOwn = ofRules ? lastOwn : i;
    firstRule = ofRules ? std::min(firstRule, i) : firstRule;
  }
  EXPECT_GE(lastOwn, 2U) << "stored values, activations and the open claim";
  EXPECT_LT(lastOwn, firstRule);
  EXPECT_LT(firstRule, results.notChecked.size());
}

TEST(RuleOpen, AWayAroundIsNoCheck) {
  const auto how = [](Claim claim) {
    const RuleResults results = run([claim](InventoryBuilder& b, Target&) {
      b.add("aten::relu");
      b.claim().claim = claim;
      b.claim().remedy = "Ask the vendor, or replace it.";
    });
    const auto open = std::ranges::find_if(results.notChecked, [](const NotChecked& one) {
      return one.what.starts_with("aten::relu");
    });
    return open == results.notChecked.end() ? std::string() : open->how;
  };
  EXPECT_EQ(how(Claim::Unknown), "Ask the vendor, or replace it.");
  EXPECT_THAT(how(Claim::Depends), HasSubstr("run the case"));
}

TEST(RuleTexts, TwoSourcesThatDisagreeAreToldApart) {
  const auto message = [](std::string op, Claim claim, const char* rule) {
    return find(run([&](InventoryBuilder& b, Target&) {
                  b.add(op);
                  b.claim().claim = claim;
                }).findings,
                rule)
        ->message;
  };
  EXPECT_THAT(message("aten::upsample_bilinear2d", Claim::CpuFallback, "NC506"),
              AllOf(HasSubstr("as the document of this release says; that counts"),
                    HasSubstr("snapshot of May 2026 only has no kernel")));
  EXPECT_THAT(message("aten::roll", Claim::CpuFallback, "NC202"),
              AllOf(HasSubstr("computes these operators on the CPU"),
                    HasSubstr("warning is no list of them")));
  EXPECT_THAT(message("aten::hann_window", Claim::Unsupported, "NC507"),
              ::testing::EndsWith("not supported."));
}

}  // namespace
}  // namespace neuroncheck::opdb::test

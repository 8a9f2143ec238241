// SPDX-License-Identifier: Apache-2.0
// What the rules say and on what grounds: releases, compilers, open questions, leaves, order, size.
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/rules_data.h"
#include "opdb/rules_table.h"
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

RuleData data() { return ruleDataOf(database(), "torch-neuronx"); }

RuleResults runOn(const RuleData& rows, const Make& make) {
  InventoryBuilder builder(database());
  Target wanted = target();
  make(builder, wanted);
  return runRules(builder.model(), builder.claims(), wanted, rows);
}

std::string openOf(const RuleResults& results) {
  std::string out;
  for (const NotChecked& one : results.notChecked) {
    out += one.what + " | " + one.why + " | " + one.how + "\n";
  }
  return out;
}

Make longs(std::string op) {
  return [op = std::move(op)](InventoryBuilder& b, Target&) {
    b.add(op, {{"self", tensor(DType::Int64)}});
  };
}

Make on(std::string release, const Make& make, bool known = true) {
  return [release = std::move(release), make, known](InventoryBuilder& b, Target& t) {
    t.release = t.answeringRelease = release;
    if (!known) {
      t.release = "9.9.9";
      t.releaseKnown = false;
    }
    make(b, t);
  };
}

TEST(RuleGrounds, ARowOfTheSameSdkIsNotStale) {
  const auto make = [](InventoryBuilder& b, Target&) { b.add("aten::to_sparse"); };
  EXPECT_FALSE(run(on("2.14.3.0", make)).evidence.at("feature:sparse").stale);
  EXPECT_FALSE(run(on("2.13.3.0", make)).evidence.at("feature:sparse").stale);
  EXPECT_TRUE(run(on("2.14.3.0", make, false)).evidence.at("feature:sparse").stale);
}

TEST(RuleGrounds, ARowOfALaterReleaseIsAWarningAtMost) {
  const auto make = [](InventoryBuilder& b, Target&) { b.add("aten::to_sparse"); };
  const RuleResults results = run(on("2.12.3", make));
  const Finding* finding = find(results.findings, "NC501");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::Warning);
  EXPECT_THAT(finding->message, HasSubstr("later release 2.14.3.0"));
  EXPECT_TRUE(results.evidence.at("feature:sparse").stale);
}

TEST(RuleGrounds, AnOlderRowIsStale) {
  EXPECT_TRUE(run(longs("aten::neg")).evidence.at("feature:int64").stale);
  EXPECT_FALSE(run(on("0.1.0-pre", longs("aten::neg"))).evidence.at("feature:int64").stale);
}

TEST(RuleGrounds, RulesOfTheCompilerAnswerThroughTheReleasesCompiler) {
  const Finding* finding = nullptr;
  const RuleResults own = run(on("2.12.3", longs("aten::topk")));
  ASSERT_NE(finding = find(own.findings, "NC253"), nullptr);
  EXPECT_EQ(finding->severity, Severity::Error);
  EXPECT_FALSE(own.evidence.at("rule:NCC_EVRF013").stale);
  const RuleResults newer = run(longs("aten::topk"));
  ASSERT_NE(finding = find(newer.findings, "NC253"), nullptr);
  EXPECT_EQ(finding->severity, Severity::Error);
  EXPECT_TRUE(newer.evidence.at("rule:NCC_EVRF013").stale);
  // The snapshot names no compiler.
  const RuleResults unnamed = run(on("0.1.0-pre", longs("aten::topk")));
  ASSERT_NE(finding = find(unnamed.findings, "NC253"), nullptr);
  EXPECT_EQ(finding->severity, Severity::Warning);
}

TEST(RuleGrounds, RulesOfAnotherCompilerNeverAnswer) {
  RuleData rows = data();
  for (CompilerRule& rule : rows.rules) {
    rule.product = "other-cc";
  }
  EXPECT_EQ(find(runOn(rows, longs("aten::topk")).findings, "NC253"), nullptr);
}

TEST(RuleGrounds, ANewerRowOfACodeReplacesTheOlderOne) {
  RuleData rows = data();
  CompilerRule narrower;
  for (const CompilerRule& rule : rows.rules) {
    narrower = rule.code == "NCC_EVRF013" ? rule : narrower;
  }
  narrower.release = "2.28";
  narrower.predicate = "dtype(self) == int32";
  rows.rules.push_back(narrower);
  EXPECT_EQ(find(runOn(rows, longs("aten::topk")).findings, "NC253"), nullptr);
  const auto ints = [](InventoryBuilder& b, Target&) {
    b.add("aten::topk", {{"self", tensor(DType::Int32)}});
  };
  const RuleResults results = runOn(rows, ints);
  ASSERT_NE(find(results.findings, "NC253"), nullptr);
  EXPECT_FALSE(results.evidence.at("rule:NCC_EVRF013").stale);
}

TEST(RuleGrounds, AnUnknownCodeIsStillEvaluated) {
  RuleData rows = data();
  CompilerRule rule;
  rule.code = "NCC_EXYZ001";
  rule.title = "something new";
  rule.targets = {"aten::erfinv"};
  rule.mode = "any";
  rule.predicate = "rank(self) > 4";
  rule.machineCheckable = true;
  rule.product = "neuronx-cc";
  rule.release = "2.28";
  rule.confidence = Confidence::High;
  rows.rules.push_back(rule);
  const auto ranked = [](std::size_t rank) {
    return [rank](InventoryBuilder& b, Target&) {
      b.add("aten::erfinv",
            {{"self", tensor(DType::Float32, std::vector<SymInt>(rank, SymInt(2)))}});
    };
  };
  const RuleResults fires = runOn(rows, ranked(5));
  const Finding* finding = find(fires.findings, "NC299", "NCC_EXYZ001");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::Error);
  EXPECT_THAT(finding->message, HasSubstr("something new"));
  EXPECT_EQ(find(runOn(rows, ranked(4)).findings, "NC299"), nullptr);
  const std::vector<RuleDescription> described = describeRules(rows);
  EXPECT_TRUE(std::ranges::any_of(described, [](const RuleDescription& one) {
    return one.id == "NCC_EXYZ001" && one.machineCheckable;
  }));
}

TEST(RuleGrounds, RowsThatCannotBeJudgedAreListed) {
  RuleData rows = data();
  FeatureRow feature;
  feature.id = "telepathy";
  feature.mode = "any";
  feature.message = "not supported";
  feature.appliesTo = "minds";
  rows.features.push_back(feature);
  for (CompilerRule& rule : rows.rules) {
    rule.predicate = rule.code == "NCC_EVRF018" ? "any_gt(dilation" : rule.predicate;
  }
  const std::string open = openOf(runOn(rows, [](InventoryBuilder&, Target&) {}));
  EXPECT_THAT(open, HasSubstr("feature telepathy: not supported | this version has no code"));
  EXPECT_THAT(open, HasSubstr("NCC_EVRF018"));
  EXPECT_THAT(open, HasSubstr("cannot be read"));
}

TEST(RuleGrounds, AnArgumentThatIsNotKnownIsNamed) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.add("aten::topk", {{"self", tensor(DType::Unknown)}});
    b.add("aten::topk", {{"self", tensor(DType::Unknown)}});
  });
  EXPECT_EQ(find(results.findings, "NC253"), nullptr);
  EXPECT_THAT(
      openOf(results),
      HasSubstr(
          "NCC_EVRF013 on aten::topk | 'self' is not known (2 uses, first topk_0 (model.py:1))"));
}

TEST(RuleGrounds, AUseOnTheCpuNeverMeetsTheCompiler) {
  const auto make = [](Claim claim) {
    return [claim](InventoryBuilder& b, Target&) {
      b.add("aten::sort", {{"self", tensor(DType::Int64)}});
      b.claim().claim = claim;
    };
  };
  const RuleResults onCpu = run(make(Claim::CpuFallback));
  const RuleResults onDevice = run(make(Claim::Native));
  EXPECT_EQ(find(onCpu.findings, "NC253")->severity, Severity::Note);
  EXPECT_EQ(find(onDevice.findings, "NC253")->severity, Severity::Error);
}

TEST(RuleGrounds, ComplexUnderCompileMayBeDecomposed) {
  const auto make = [](std::string release, ExecutionMode mode) {
    return on(std::move(release), [mode](InventoryBuilder& b, Target& t) {
      t.mode = mode;
      b.add("aten::mul.Tensor", {{"self", tensor(DType::Complex64)}});
    });
  };
  const auto severity = [&](const std::string& release, ExecutionMode mode) {
    return find(run(make(release, mode)).findings, "NC406")->severity;
  };
  EXPECT_EQ(severity("2.14.3.0", ExecutionMode::Compile), Severity::Warning);
  EXPECT_EQ(severity("2.12.3", ExecutionMode::Compile), Severity::Error);
  EXPECT_EQ(severity("2.14.3.0", ExecutionMode::Eager), Severity::Error);
}

TEST(RuleGrounds, TheChipDecides) {
  const auto make = [](std::string chip, DType dtype) {
    return [chip = std::move(chip), dtype](InventoryBuilder& b, Target& t) {
      t.chip = chip;
      b.add("aten::mm", {{"self", tensor(dtype)}, {"mat2", tensor(dtype)}});
    };
  };
  EXPECT_EQ(find(run(make("trn3", DType::Float8E4M3FN)).findings, "NC408"), nullptr);
  EXPECT_NE(find(run(make("trn2", DType::Float8E4M3FN)).findings, "NC408"), nullptr);
  EXPECT_EQ(find(run(make("trn1", DType::Int32)).findings, "NC411"), nullptr);
  EXPECT_NE(find(run(make("trn3", DType::Int32)).findings, "NC411"), nullptr);
}

TEST(RuleLeaves, ArgumentsReachTheLeaf) {
  RuleData rows = data();
  rows.expansions = [](const OpInfo& parent) {
    std::vector<Expansion> out;
    if (parent.schema.name.str() == "aten::msort") {
      Expansion child;
      child.child = OpName::parse("aten::sort").value();
      child.arguments.emplace("self", PassedOn{"self", std::nullopt});
      out.push_back(child);
    }
    return out;
  };
  const auto make = [](DType dtype, bool always) {
    return [dtype, always](InventoryBuilder& b, Target&) {
      b.add("aten::msort", {{"self", tensor(dtype)}});
      b.claim().leaves.push_back({"aten::sort", "1", always, Claim::Native, {}});
    };
  };
  const RuleResults always = runOn(rows, make(DType::Int64, true));
  const Finding* finding = find(always.findings, "NC253");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::Error);
  EXPECT_EQ(finding->places.front().detail, "calls aten::sort");
  const RuleResults sometimes = runOn(rows, make(DType::Int64, false));
  EXPECT_EQ(find(sometimes.findings, "NC253")->severity, Severity::Warning);
  EXPECT_EQ(find(runOn(rows, make(DType::Float32, true)).findings, "NC253"), nullptr);
}

TEST(RuleLeaves, WithoutTheirArgumentsOnlyRulesThatReadNoneDecide) {
  RuleData rows = data();
  rows.expansions = nullptr;
  const RuleResults results = runOn(rows, [](InventoryBuilder& b, Target&) {
    b.add("aten::msort");
    b.claim().leaves.push_back({"aten::sort", "1", true, Claim::Native, {}});
  });
  EXPECT_NE(find(results.findings, "NC257"), nullptr);
  EXPECT_EQ(find(results.findings, "NC253"), nullptr);
  EXPECT_THAT(openOf(results), HasSubstr("NCC_EVRF013 on aten::sort below aten::msort"));
}

TEST(RuleShapes, TheMessageSaysWhatFixingWouldChange) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.range("s3", 2, 100);
    b.range("s4", 1, std::nullopt);
    const TensorPtr both = tensor(DType::Float32, {symbol("s3"), symbol("s4")});
    const TensorPtr one = tensor(DType::Float32, {symbol("s3"), SymInt(8)}, "x");
    b.input("x", one);
    b.add("aten::relu", {{"self", one}}, {one});
    b.add("aten::relu", {{"self", both}}, {both});
    b.add("aten::relu");
  });
  std::map<std::string, Finding> bySymbol;
  for (const Finding& finding : results.findings) {
    if (finding.rule == "NC302") {
      bySymbol.emplace(finding.message.substr(0, 2), finding);
    }
  }
  ASSERT_THAT(bySymbol, SizeIs(2));
  EXPECT_THAT(
      bySymbol.at("s3").message,
      AllOf(HasSubstr("2..100: 99 distinct sizes, or 7 buckets"), HasSubstr("'x' float32[s3, 8]"),
            HasSubstr("2 operator uses depend on it, the first is relu_0 (model.py:1)"),
            HasSubstr("1 of them becomes concrete")));
  EXPECT_THAT(bySymbol.at("s3").places, SizeIs(3));
  EXPECT_THAT(bySymbol.at("s4").message,
              AllOf(HasSubstr("no upper bound"), HasSubstr("0 of them become concrete")));
}

TEST(RuleCosts, EqualOperatorsShareOneCompile) {
  const auto count = [](const Make& make) { return find(run(make).findings, "NC803")->message; };
  EXPECT_THAT(count([](InventoryBuilder& b, Target&) {
                b.add("aten::relu");
                b.add("aten::relu");
              }),
              HasSubstr("2 uses of device work make 1 distinct case "));
  EXPECT_THAT(count([](InventoryBuilder& b, Target&) { b.add("aten::relu"); }),
              HasSubstr("1 use of device work makes 1 distinct case "));
  EXPECT_THAT(count([](InventoryBuilder& b, Target&) {
                b.add("aten::add.Tensor");
                b.add("aten::add.Tensor", {{"alpha", integer(2)}});
                b.add("aten::add.Tensor", {{"self", tensor(DType::BFloat16)}});
                b.add("aten::add.Tensor", {{"self", tensor(DType::Float32, {SymInt(4), SymInt(4)},
                                                           "t", {SymInt(1), SymInt(4)})}});
              }),
              HasSubstr("4 uses of device work make 4 distinct cases "));
}

TEST(RuleCosts, TiedWeightsCountOnce) {
  const auto tied = [](std::string second) {
    return [second = std::move(second)](InventoryBuilder& b, Target&) {
      const std::int64_t gib = std::int64_t{1} << 30;
      const TensorSpec spec = tensor(DType::BFloat16, {SymInt(14), SymInt(gib / 2)})->spec;
      b.store("a", spec, 14 * gib, "weight_0");
      b.store("b", spec, 14 * gib, second);
    };
  };
  EXPECT_EQ(find(run(tied("weight_0")).findings, "NC801"), nullptr);
  const RuleResults two = run(tied("weight_1"));
  ASSERT_NE(find(two.findings, "NC801"), nullptr);
  EXPECT_THAT(find(two.findings, "NC801")->message, HasSubstr("28.0 GiB bfloat16"));
}

TEST(RuleResultsOrder, ErrorsComeFirstAndOpenClaimsAreListed) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    b.add("aten::relu");
    b.claim().claim = Claim::Unknown;
    b.claim().reason = "No row.";
    b.add("aten::item");
    b.add("aten::to_sparse");
  });
  for (std::size_t i = 1; i < results.findings.size(); ++i) {
    const Finding& a = results.findings[i - 1];
    const Finding& b = results.findings[i];
    EXPECT_TRUE(a.severity > b.severity || (a.severity == b.severity && a.rule <= b.rule));
  }
  EXPECT_EQ(results.findings.front().rule, "NC501");
  EXPECT_THAT(openOf(results), HasSubstr("aten::relu (1 use) | claim unknown: No row."));
}

TEST(RuleResultsOrder, RulesDoNotDisturbEachOther) {
  InventoryBuilder builder(database());
  std::set<std::string> wanted;
  for (const auto& cases :
       {operatorCases(), featureCases(), shapeCases(), dtypeCases(), modeCases()}) {
    for (const RuleCase& one : cases) {
      Target own = target();
      InventoryBuilder trial(database());
      one.fires(trial, own);
      if (own.mode == ExecutionMode::Eager && own.chip == "trn2") {
        one.fires(builder, own);
        wanted.insert(one.rule);
      }
    }
  }
  const RuleResults all = runRules(builder.model(), builder.claims(), target(), data());
  for (const std::string& rule : wanted) {
    EXPECT_NE(find(all.findings, rule), nullptr) << rule;
  }
}

TEST(RuleLimits, HugeSharedTensorsCostOnce) {
  const auto start = std::chrono::steady_clock::now();
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    std::vector<SymInt> sizes;
    for (int i = 0; i < 5000; ++i) {
      sizes.push_back(symbol("s" + std::to_string(i)));
    }
    const TensorPtr huge = tensor(DType::Int64, sizes, "huge", sizes);
    for (int i = 0; i < 5000; ++i) {
      b.add("aten::neg", {{"self", huge}}, {huge});
    }
  });
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 30.0);
  const Finding* finding = find(results.findings, "NC401");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->places, SizeIs(5000));
  EXPECT_LE(finding->places.front().detail.size(), 243U);
}

TEST(RuleLimits, ManySymbolsAreListedNotDropped) {
  const RuleResults results = run([](InventoryBuilder& b, Target&) {
    for (int i = 0; i < 100; ++i) {
      const TensorPtr one = tensor(DType::Float32, {symbol("s" + std::to_string(i))});
      b.add("aten::relu", {{"self", one}}, {one});
    }
  });
  EXPECT_EQ(std::ranges::count_if(results.findings,
                                  [](const Finding& finding) { return finding.rule == "NC302"; }),
            64);
  EXPECT_THAT(openOf(results), HasSubstr("symbols after the first 64"));
}

/// Rows of the table in docs/rules.md: id, title, severity, checkable.
std::map<std::string, std::vector<std::string>> documented() {
  std::ifstream file(std::string(NEURONCHECK_SOURCE_DIR) + "/docs/rules.md");
  std::map<std::string, std::vector<std::string>> out;
  std::string line;
  bool table = false;
  while (std::getline(file, line)) {
    if (!line.starts_with("| ")) {
      table = table || line.starts_with("|---");
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream cellsOf(line.substr(1));
    std::string cell;
    while (std::getline(cellsOf, cell, '|')) {
      const std::size_t begin = cell.find_first_not_of(' ');
      const std::size_t end = cell.find_last_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    if (table && cells.size() >= 7) {
      out[cells[0]] = {cells[1], cells[2], cells[6]};
    }
  }
  return out;
}

TEST(RuleDocs, AreTheRules) {
  std::map<std::string, std::vector<std::string>> docs = documented();
  for (const RuleDescription& rule : describeRules(database())) {
    const auto found = docs.find(rule.id);
    ASSERT_NE(found, docs.end()) << rule.id << " is not in docs/rules.md";
    const std::vector<std::string> row{rule.title, std::string(name(rule.severity)),
                                       rule.machineCheckable ? "yes" : "no"};
    EXPECT_EQ(found->second, row) << rule.id;
    docs.erase(found);
  }
  EXPECT_TRUE(docs.empty()) << docs.begin()->first << " is documented, but is no rule";
}

}  // namespace
}  // namespace neuroncheck::opdb::test

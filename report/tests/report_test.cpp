// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/inventory_json.h"
#include "report/inventory_text.h"
#include "report/outcomes.h"
#include "report/reporter.h"
#include "report/tests/sample_records.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string written(const RunRecord& record, std::string_view format, const Style& style = {}) {
  std::ostringstream out;
  const auto reporter = makeReporter(format, style);
  EXPECT_TRUE(reporter);
  EXPECT_TRUE((*reporter)->write(record, out));
  return out.str();
}

/// Compares with tests/golden/<name>, or rewrites it when NEURONCHECK_UPDATE_GOLDEN is set.
void expectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(NEURONCHECK_SOURCE_DIR) + "/report/tests/golden/" + name;
  if (std::getenv("NEURONCHECK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << path;
}

struct Golden {
  const char* name;
  RunRecord (*record)();
  const char* format;
  Style style;
  const char* extension;
};
void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

class GoldenReport : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenReport, IsAsReviewed) {
  const Golden& golden = GetParam();
  expectGolden(fmt::format("{}.{}", golden.name, golden.extension),
               written(golden.record(), golden.format, golden.style));
}

Style columnsOf(std::size_t width) { return {width, false, 0}; }

INSTANTIATE_TEST_SUITE_P(
    All, GoldenReport,
    ::testing::Values(
        Golden{"ready", samples::ready, "terminal", {}, "txt"},
        Golden{"unconfirmed", samples::unconfirmed, "terminal", {}, "txt"},
        Golden{"unknown_release", samples::unknownRelease, "terminal", {}, "txt"},
        Golden{"blocked", samples::blocked, "terminal", {}, "txt"},
        Golden{"blocked_60", samples::blocked, "terminal", columnsOf(60), "txt"},
        Golden{"blocked_120", samples::blocked, "terminal", columnsOf(120), "txt"},
        Golden{"blocked_verbose", samples::blocked, "terminal", {80, false, 1}, "txt"},
        Golden{"blocked_colour", samples::blocked, "terminal", {80, true, 0}, "txt"},
        Golden{"open", samples::open, "terminal", {}, "txt"},
        Golden{"hostile", samples::hostile, "terminal", {}, "txt"},
        Golden{"two_models", samples::twoModels, "terminal", {}, "txt"},
        Golden{"portfolio", samples::portfolio, "terminal", {}, "txt"},
        Golden{"portfolio_60", samples::portfolio, "terminal", columnsOf(60), "txt"},
        Golden{"portfolio_120", samples::portfolio, "terminal", columnsOf(120), "txt"},
        Golden{"portfolio_quiet", samples::portfolio, "terminal", {80, false, -1}, "txt"},
        Golden{"unreadable", samples::unreadable, "terminal", {}, "txt"},
        Golden{"ran", samples::ran, "terminal", {}, "txt"},
        Golden{"ran", samples::ran, "md", {}, "md"},
        Golden{"blocked", samples::blocked, "md", {}, "md"},
        Golden{"hostile", samples::hostile, "md", {}, "md"},
        Golden{"portfolio", samples::portfolio, "md", {}, "md"},
        Golden{"unconfirmed", samples::unconfirmed, "json", {}, "json"},
        Golden{"unconfirmed", samples::unconfirmed, "jsonl", {}, "jsonl"}),
    [](const ::testing::TestParamInfo<Golden>& golden) {
      return std::string(golden.param.name) + "_" + golden.param.extension;
    });

TEST(Reporter, ListsTheFormatsForAnUnknownWord) {
  const auto reporter = makeReporter("html", {});
  ASSERT_FALSE(reporter);
  EXPECT_EQ(reporter.error().code, ErrorCode::Usage);
  EXPECT_THAT(reporter.error().text(), HasSubstr("terminal, json, jsonl and md"));
}

TEST(Reporter, EqualRecordsGiveEqualBytes) {
  for (const char* format : {"terminal", "json", "jsonl", "md"}) {
    EXPECT_EQ(written(samples::portfolio(), format), written(samples::portfolio(), format))
        << format;
  }
}

TEST(Reporter, SaysThatItCouldNotWrite) {
  for (const char* format : {"terminal", "json", "jsonl", "md"}) {
    std::ofstream closed;
    const auto result = (*makeReporter(format, {}))->write(samples::ready(), closed);
    ASSERT_FALSE(result) << format;
    EXPECT_EQ(result.error().code, ErrorCode::Output);
  }
}

TEST(Reporter, NoFormatLetsControlCharactersThrough) {
  for (const samples::Named& sample : samples::all()) {
    for (const char* format : {"terminal", "json", "jsonl", "md"}) {
      for (const char c : written(sample.record, format, {80, false, 1})) {
        EXPECT_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F)
            << sample.name << " " << format;
      }
    }
  }
}

TEST(Reporter, NoReportForPeopleIsWiderThanItsPageOrHasAPercentage) {
  for (const samples::Named& sample : samples::all()) {
    for (const std::size_t width : {60U, 80U, 120U}) {
      std::istringstream lines(written(sample.record, "terminal", columnsOf(width)));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(columns(line) <= width || line.starts_with("    ") ||
                    line.find("neuron-check") != std::string::npos)
            << sample.name << " " << width << ": " << line;
        EXPECT_THAT(line, Not(HasSubstr("%")));
      }
    }
  }
}

TEST(Reporter, EveryReportForPeopleSaysWhatWasNotChecked) {
  for (const samples::Named& sample : samples::all()) {
    const bool read = std::string_view(sample.name) != "unreadable";
    for (const char* format : {"terminal", "md"}) {
      const std::string text = written(sample.record, format);
      EXPECT_EQ(read && sample.record.inputs.size() == 1,
                text.find("runs on the device") != std::string::npos)
          << sample.name << " " << format;
    }
  }
}

/// Makes a finding of severity error name the first `count` uses of an operator.
void refuse(RunRecord& record, const std::string& op, std::size_t count) {
  ModelAssessment& judged = record.inputs[0].assessment.models[0];
  Finding& finding = judged.findings.emplace_back();
  finding.severity = Severity::Error;
  finding.rule = "NC254";
  finding.title = "Refused";
  for (const OpUse& use : record.inputs[0].inventory.models[0].uses) {
    if (use.op.str() == op && count > 0) {
      --count;
      finding.places.push_back({judged.model, use.node, op, use.source, ""});
    }
  }
  judged.verdict = record.inputs[0].assessment.verdict = Verdict::Blocked;
}

TEST(Report, AUseThatAFindingRefusesDoesNotLookFine) {
  RunRecord record = samples::unconfirmed();
  refuse(record, "aten::addmm", 2);
  const std::string one = written(record, "terminal");
  EXPECT_THAT(one, HasSubstr("7 native, 2 of them refused by an error finding"));
  EXPECT_THAT(one, HasSubstr("      2 of 6 uses refused by NC254\n"));
  EXPECT_THAT(written(record, "md"),
              AllOf(HasSubstr("7 native, 2 of them refused by an error finding"),
                    HasSubstr("| native; 2 of 6 uses refused by NC254 | `aten::addmm`")));
  EXPECT_EQ(Json::parse(written(record, "json"))["counts"]["native"], 7) << "claims stay";
  record.inputs.push_back(samples::ready().inputs[0]);
  EXPECT_THAT(written(record, "terminal"), ContainsRegex("gpt2_tiny.pt2 +5 +0 +2 +0 "));
  EXPECT_THAT(written(record, "md"), HasSubstr("`models/gpt2_tiny.pt2` | 5 | 0 | 2 | 0 |"));
}

TEST(Report, AClaimThatRefusesIsNotRefusedTwice) {
  RunRecord record = samples::blocked();
  refuse(record, "aten::lstm.input", 1);
  EXPECT_THAT(written(record, "terminal"), Not(HasSubstr("refused by")));
  record.inputs.push_back(samples::ready().inputs[0]);
  EXPECT_THAT(written(record, "terminal"), ContainsRegex("lstm.pt2 +20 +14 +1 +3 "));
}

TEST(Report, AllUsesRefusedIsSaidWithoutANumber) {
  RunRecord record = samples::open();
  refuse(record, "corpuslib::scaled_relu", 1);
  refuse(record, "aten::upsample_bilinear2d.vec", 1);
  EXPECT_THAT(written(record, "terminal"),
              HasSubstr("2 open: no evidence decides, but refused by an error finding"));
}

TEST(Report, AUseWithoutALineIsFoundByItsNode) {
  RunRecord record = samples::unconfirmed();
  refuse(record, "aten::silu", 1);
  record.inputs[0].inventory.models[0].uses.back().source = {};
  record.inputs[0].assessment.models[0].findings.back().places[0].source = {"torch/nn/act.py", 3};
  EXPECT_THAT(written(record, "terminal"), HasSubstr("      refused by NC254\n"));
  record.inputs[0].inventory.models[0].uses.back().source = {"models/net.py", 99};
  EXPECT_THAT(written(record, "terminal"), Not(HasSubstr("refused by NC254\n"))) << "another line";
}

TEST(Report, NextIsAnOperatorOfTheWorstClaim) {
  RunRecord record = samples::unknownRelease();
  ModelAssessment& judged = record.inputs[0].assessment.models[0];
  EXPECT_THAT(written(record, "terminal"), HasSubstr("db show aten::roll"));
  judged.uses[2].claim = Claim::Unknown;  // the sort, behind two rolls on the CPU
  EXPECT_THAT(written(record, "terminal"), HasSubstr("db show aten::sort"));
}

TEST(Report, WhatStandsInTheWayIsWhatTheOperatorIsInThatModel) {
  RunRecord record = samples::unknownRelease();
  record.inputs.push_back(record.inputs[0]);
  record.inputs[1].inventory.path = "models/other.pt2";
  record.inputs[0].assessment.models[0].uses[2].claim = Claim::Unknown;      // sort
  record.inputs[1].assessment.models[0].uses[0].claim = Claim::Unsupported;  // roll
  const std::string text = written(record, "terminal");
  EXPECT_THAT(text, ContainsRegex("swin.pt2[^\n]*\n +in the way: aten::sort, aten::roll"));
  EXPECT_THAT(text, ContainsRegex("other.pt2[^\n]*\n +in the way: aten::roll, aten::sort"));
}

TEST(Report, ARowNamesSeveralFindingsBeforeTheirTitles) {
  RunRecord record = samples::unconfirmed();
  record.inputs.push_back(samples::ready().inputs[0]);
  refuse(record, "aten::silu", 1);
  EXPECT_THAT(written(record, "terminal"), HasSubstr("\n      in the way: NC254 (Refused)\n"));
  for (const char* rule : {"NC207", "NC303"}) {
    refuse(record, "aten::silu", 1);
    record.inputs[0].assessment.models[0].findings.back().rule = rule;
    record.inputs[0].assessment.models[0].findings.back().title = std::string(50, 't');
  }
  EXPECT_THAT(written(record, "terminal"), HasSubstr("\n      in the way: NC207, NC254, NC303\n"));
}

TEST(Report, CaveatsAreOfNativeOperatorsAndSaidOnce) {
  RunRecord record = samples::unconfirmed();
  ModelAssessment& judged = record.inputs[0].assessment.models[0];
  judged.uses[0].caveats = {"aten::addmm: the vendor's test is skipped"};
  judged.uses[1].claim = Claim::Decomposed;
  judged.uses[1].caveats = judged.uses[0].caveats;
  judged.uses[2].caveats = {"below it: slow"};
  judged.uses[6].claim = Claim::Depends;
  judged.uses[6].caveats = {"a caveat of what may not run"};
  const std::string text = written(record, "terminal");
  const std::string line = "\n  aten::addmm: the vendor's test is skipped\n";
  ASSERT_THAT(text, HasSubstr(line));
  EXPECT_EQ(text.find(line), text.rfind(line));
  EXPECT_THAT(text, HasSubstr("\n  aten::addmm: below it: slow\n"));
  EXPECT_THAT(text, Not(HasSubstr("may not run")));
}

TEST(Report, AnArgumentThatIsNotNamedReadsAsASentence) {
  RunRecord record = samples::open();
  UseClaim& depends = record.inputs[0].assessment.models[0].uses[1];
  EXPECT_THAT(written(record, "terminal"), HasSubstr("decides  argument antialias\n"));
  depends.decidedBy = "arguments";
  EXPECT_THAT(written(record, "terminal"),
              HasSubstr("decides  an argument; the catalogue does not say which\n"));
  depends.decidedBy = "chip";
  EXPECT_THAT(written(record, "terminal"), HasSubstr("decides  the chip\n"));
}

TEST(Report, OnePlaceMoreIsOnePlace) {
  RunRecord record = samples::unconfirmed();
  refuse(record, "aten::addmm", 4);
  EXPECT_THAT(written(record, "terminal"), HasSubstr("+1 more place (-v shows all)"));
  refuse(record, "aten::addmm", 5);
  EXPECT_THAT(written(record, "terminal"), HasSubstr("+2 more places (-v shows all)"));
}

TEST(Report, PlacesThatReadTheSameAreOne) {
  RunRecord record = samples::unconfirmed();
  refuse(record, "aten::addmm", 6);
  for (FindingPlace& place : record.inputs[0].assessment.models[0].findings.back().places) {
    place.source.line = std::max<std::int64_t>(place.source.line, 13);
  }
  for (const char* format : {"terminal", "md"}) {
    EXPECT_THAT(written(record, format), HasSubstr("models/net.py:13: aten::addmm (4 uses)"));
  }
  EXPECT_THAT(written(record, "terminal"), Not(HasSubstr("more place")));
}

TEST(Report, PlacesFallBackToTorchsOwnFile) {
  RunRecord record = samples::open();
  OpUse& use = record.inputs[0].inventory.models[0].uses[0];
  use.source = {"/opt/python/site-packages/transformers/qwen.py", 5};
  EXPECT_THAT(written(record, "terminal"), HasSubstr("at       transformers/qwen.py:5\n"));
  use.source = {};
  use.lastFrame = {"/opt/python/site-packages/torch/nn/functional.py", 8};
  EXPECT_THAT(written(record, "terminal"),
              HasSubstr("at       torch/nn/functional.py:8 (torch's own file)\n"));
  use.lastFrame = {};
  EXPECT_THAT(written(record, "terminal"), HasSubstr("at       node scaled_relu_0\n"));
}

TEST(Report, AVerdictWithoutDecidingEvidenceNamesNone) {
  RunRecord record = samples::open();
  ASSERT_EQ(record.inputs[0].assessment.models[0].decidingEvidence, "");
  for (const char* format : {"terminal", "md"}) {
    EXPECT_THAT(written(record, format), Not(HasSubstr("rests on"))) << format;
  }
  record.inputs[0].assessment.models[0].decidingEvidence = "support:1";
  EXPECT_THAT(written(record, "terminal"), HasSubstr("the verdict rests on"));
}

TEST(JsonReport, KeepsNonFiniteNumbersAndEveryUse) {
  RunRecord record = samples::blocked();
  record.inputs[0].inventory.models[0].uses[0].args.push_back(
      {"alpha", SymFloat{std::numeric_limits<double>::infinity(), nullptr, ""}});
  const Json json = Json::parse(written(record, "json"));
  EXPECT_EQ(json["ops"][0]["uses"][0]["node"]["attrs"]["alpha"], "inf");
  EXPECT_EQ(json["verdict"], "blocked");
  EXPECT_EQ(json["counts"]["native"], 20);
  EXPECT_EQ(json["counts"]["cpu-fallback"], 14);
  std::size_t uses = 0;
  for (const Json& op : json["ops"]) {
    EXPECT_EQ(op["count"], op["uses"].size());
    uses += op["uses"].size();
  }
  EXPECT_EQ(uses, 45U);
  EXPECT_EQ(json["not_checked"][0]["what"], "compiles");
  EXPECT_EQ(json["ops"][0]["uses"][0]["compiles"], "not-checked");
  EXPECT_TRUE(json["outcomes"].empty());
}

TEST(JsonReport, LinksUsesToOutcomesByCase) {
  const Json document = Json::parse(written(samples::ran(), "json"));
  ASSERT_EQ(document["outcomes"].size(), 4U);
  const Json& wrong = document["outcomes"][1];
  EXPECT_EQ(wrong["state"], "mismatch");
  EXPECT_EQ(wrong["claimed"], "native");
  EXPECT_EQ(wrong["numbers_agree"], "no");
  EXPECT_EQ(wrong["attempts"][0]["outputs"][0]["worst_actual"], "NaN");
  EXPECT_EQ(wrong["attempts"][0]["outputs"][0]["worst_truth"], "-Infinity");
  EXPECT_EQ(document["outcomes"][0]["seconds"], 0.0);
  EXPECT_EQ(document["device"]["seed"], 0xFFFFFFFFFFFFFFFF);
  std::map<std::string, int> answers;
  for (const Json& op : document["ops"]) {
    for (const Json& use : op["uses"]) {
      ++answers[use["case_ids"].empty() ? "none" : use["case_ids"][0].get<std::string>()];
      const bool none = use["case_ids"].empty();
      EXPECT_EQ(use["runs_on_device"] == "not-checked", none);
      EXPECT_EQ(use["numbers_agree"] == "not-checked", none);
    }
  }
  EXPECT_EQ(answers["00000000000000aa"], 3);
  EXPECT_EQ(answers["00000000000000bb"], 1);
  EXPECT_EQ(answers["none"], 3);
}

TEST(Report, EveryFormatSaysThatTheDeviceIsSimulated) {
  RunRecord record = samples::ran();
  for (const int verbosity : {-1, 0, 1}) {
    for (const char* format : {"terminal", "md", "json", "jsonl"}) {
      EXPECT_THAT(written(record, format, {80, false, verbosity}), ContainsRegex("[Ss]imulated"))
          << format;
    }
  }
}

TEST(Report, ACaseIsRunAgainByOneLine) {
  const RunRecord record = samples::ran();
  EXPECT_EQ(reproCommand(record, record.outcomes[0]),
            "printf '%s\\n' 'aten::addmm(f32[2], '\\''it|s'\\'')' > one.cases && neuron-check run "
            "one.cases --device 'sim' --seed 18446744073709551615 --release '2.14.3.0' --chip "
            "'trn2' --mode eager");
}

TEST(JsonLinesReport, HoldsTheSamePartsAsTheDocument) {
  RunRecord record = samples::portfolio();
  record.device = "sim";
  record.outcomes = samples::ran().outcomes;
  const Json document = Json::parse(written(record, "json"));
  std::istringstream lines(written(record, "jsonl"));
  std::map<std::string, Json> parts;
  for (std::string line; std::getline(lines, line);) {
    Json entry = Json::parse(line);
    const std::string type = entry["type"].get<std::string>();
    entry.erase("type");
    parts[type].push_back(std::move(entry));
  }
  EXPECT_EQ(parts["input"], document["inputs"]);
  EXPECT_EQ(parts["op"], document["ops"]);
  EXPECT_EQ(parts["finding"], document["findings"]);
  EXPECT_EQ(parts["evidence"], document["evidence"]);
  EXPECT_EQ(parts["outcome"], document["outcomes"]);
  EXPECT_EQ(parts["not_checked"], document["not_checked"]);
  ASSERT_EQ(parts["header"].size(), 1U);
  ASSERT_EQ(parts["footer"].size(), 1U);
  EXPECT_EQ(parts["footer"][0]["verdict"], document["verdict"]);
}

TEST(InventoryText, IsAsReviewed) {
  std::ostringstream out;
  writeInventoryText(samples::portfolio().inputs, out, 80);
  expectGolden("inventory.txt", out.str());
}

TEST(Text, PrintableKeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("aten::relu \xC3\xA9 \xE6\x97\xA5"), "aten::relu \xC3\xA9 \xE6\x97\xA5");
  EXPECT_EQ(printable("a\x1b[31m\n\t\r\x7F"), "a\\x1b[31m\\n\\x09\\x0d\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "x"),
            "\\x9bx");
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\u202e");
  EXPECT_EQ(printable("\xFF\xC0\xAF\xED\xA0\x80"), "\\xff\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xE2\x80"), "\\xe2\\x80");
}

TEST(Text, ShortensByCodePoints) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(shortenedLeft("a/b/c/d.pt2", 8), "...d.pt2");
  EXPECT_EQ(shortened("abc", 2), "..");
}

TEST(Text, WrapsWordsAndLeavesCodeLines) {
  EXPECT_EQ(wrapped("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefghij k", 4), (std::vector<std::string>{"abcd", "efgh", "ij k"}));
  EXPECT_EQ(wrapped("say:\n  x = a very long line of code", 10),
            (std::vector<std::string>{"say:", "  x = a very long line of code"}));
  EXPECT_TRUE(wrapped("", 10).empty());
}

TEST(Text, MarkdownCannotBecomeMarkup) {
  EXPECT_EQ(markdown("a|b`c`<b>&[x](y)*_"), "a\\|b\\`c\\`&lt;b&gt;&amp;\\[x\\](y)\\*\\_");
}

}  // namespace
}  // namespace neuroncheck::report

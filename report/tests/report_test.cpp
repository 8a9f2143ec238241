// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/inventory_json.h"
#include "report/inventory_text.h"
#include "report/reporter.h"
#include "report/tests/sample_records.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

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

TEST(JsonLinesReport, HoldsTheSamePartsAsTheDocument) {
  const RunRecord record = samples::portfolio();
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

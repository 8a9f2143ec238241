// SPDX-License-Identifier: Apache-2.0
#include "opdb/import.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/export.h"
#include "opdb/import_names.h"
#include "opdb/sqlite/connection.h"
#include "opdb/tests/change_database.h"
#include "opdb/tests/test_catalogue.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

std::string dataFile(const std::string& name) {
  return std::string(NEURONCHECK_SOURCE_DIR) + "/opdb/tests/data/" + name;
}

ImportOptions vendorOptions() {
  ImportOptions options;
  options.release = "2.14.3.0";
  options.mode = "eager";
  options.date = "2026-11-01";
  return options;
}

/// Rows without their ids, which a copy may number anew.
std::vector<std::string> contentOf(const std::string& database) {
  std::vector<std::string> lines;
  for (const SupportRow& row : openSmall(database).allSupport()) {
    lines.push_back(exportCsv({row}));
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(ImportForeign, ReadsAVendorPage) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  const std::string before = readFile(base);
  const std::string out = folder / "mine/copy.db";
  const auto report = importTable(base, dataFile("vendor_table.md"), vendorOptions(), out);
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_TRUE(readFile(base) == before) << "the database imported from stays as it is";
  EXPECT_EQ(report->database, out);
  ASSERT_THAT(report->mapping, SizeIs(2));
  EXPECT_EQ(report->mapping[0],
            "table in line 12 (Elementwise): operator = 'Operator', status = 'Status', dtypes = "
            "'Data types', note = "
            "'Notes'");
  ASSERT_THAT(report->notes, SizeIs(1));
  EXPECT_THAT(report->notes[0], HasSubstr("table in line 5 left out: no column for the operator"));
  EXPECT_THAT(report->unknownWords, ElementsAre(Pair("Planned", 1U)));
  std::vector<std::string> problems;
  for (const RowProblem& problem : report->problems) {
    problems.push_back(fmt::format("{}: {}", problem.line, problem.reason));
  }
  EXPECT_THAT(problems,
              ElementsAre("18: no such operator: 'torch.frobnicate'",
                          "19: 'exp' is ambiguous: other::exp, prims::exp",
                          "20: the status word 'Planned' is not understood",
                          "21: 'float31' is no dtype", HasSubstr("22: 5 cells, the header has 4")));
  const Database database = openSmall(out);
  const auto& add = database.support(op("aten::add.Tensor"), "torch-neuronx");
  ASSERT_THAT(add, SizeIs(2))
      << "the two tables disagree, one of them for certain dtypes: both are kept";
  EXPECT_EQ(add[0].status, SupportStatus::Native);
  EXPECT_EQ(add[0].dtypes, "float32|bfloat16");
  EXPECT_EQ(add[0].observed, "2026-11-01");
  EXPECT_EQ(add[0].source, "vendor_table.md");
  EXPECT_EQ(add[0].evidence, "documented");
  EXPECT_EQ(add[1].status, SupportStatus::Unsupported);
  const auto& gelu = database.support(op("aten::gelu"), "torch-neuronx");
  ASSERT_THAT(gelu, SizeIs(3)) << "the seed's row, the overload's and the packet's";
  EXPECT_EQ(gelu[1].status, SupportStatus::Partial);
  EXPECT_EQ(gelu[1].note, "only 'none' | 'tanh'");
  EXPECT_EQ(gelu[2].scope, RowScope::Packet);
  EXPECT_EQ(gelu[2].status, SupportStatus::CpuFallback);
  EXPECT_THAT(database.support(op("aten::linalg_inv"), "torch-neuronx"), SizeIs(1));
  ASSERT_THAT(database.support(op("aten::mm"), "torch-neuronx"), SizeIs(1));
  EXPECT_EQ(database.support(op("aten::mm"), "torch-neuronx")[0].status, SupportStatus::Unknown);
  EXPECT_EQ(report->evidenceOnly, 1U);
  EXPECT_THAT(text(*report), HasSubstr("--words 'Planned=...'"));
}

TEST(ImportForeign, UpdatesTheCopyOfAnOlderDatabase) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  makeSchema1(base);
  const std::string before = readFile(base);
  const std::string out = folder / "copy.db";
  const auto report = importTable(base, dataFile("vendor_table.md"), vendorOptions(), out);
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_TRUE(readFile(base) == before);
  EXPECT_EQ(sqlite::readHeader(base)->schemaVersion, 1);
  EXPECT_EQ(sqlite::readHeader(out)->schemaVersion, 3);
  const Database database = openSmall(out);
  EXPECT_THAT(database.expansions(op("aten::conv2d")), SizeIs(1));
  EXPECT_THAT(database.support(op("aten::linalg_inv"), "torch-neuronx"), SizeIs(1));
}

TEST(ImportForeign, MapsWordsAndColumnsByOptions) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.csv",
            "Thing;Eager support;Compile support\naten::mm;Planned;yes\naten::relu;nope;no\n");
  ImportOptions options = vendorOptions();
  const auto ambiguous = importTable(base, folder / "t.csv", options, folder / "o.db");
  ASSERT_FALSE(ambiguous.has_value());
  EXPECT_THAT(ambiguous.error().message, HasSubstr("no table has an operator"));
  options.opColumn = "thing";
  EXPECT_THAT(importTable(base, folder / "t.csv", options, folder / "o.db").error().message,
              HasSubstr("no column is called status, support, supported, support status; name the "
                        "one that holds the status with --status-column; its columns are: Thing | "
                        "Eager support | Compile support"));
  options.statusColumn = "2";
  options.statusWords = *parseStatusWords("Planned = unsupported, nope=unsupported");
  const auto report = importTable(base, folder / "t.csv", options, folder / "o.db");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_EQ(report->inserted, 2U);
  EXPECT_THAT(report->problems, IsEmpty());
}

class StatusHeaderTest : public ::testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(StatusHeaderTest, IsTakenByItselfOnlyWhenItAsksForSupport) {
  const auto& [header, taken] = GetParam();
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.md",
            fmt::format("| Operator | {} |\n|---|---|\n| aten::mm | yes |\n", header));
  const auto report = importTable(base, folder / "t.md", vendorOptions(), folder / "o.db");
  ASSERT_EQ(report.has_value(), taken) << header;
  if (!taken) {
    EXPECT_EQ(report.error().code, ErrorCode::Usage);
    EXPECT_THAT(report.error().message, HasSubstr("--status-column"));
    EXPECT_THAT(report.error().message, HasSubstr(header));
  } else {
    EXPECT_EQ(report->inserted, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Headers, StatusHeaderTest,
    ::testing::Values(std::pair("Status", true), std::pair("SUPPORT", true),
                      std::pair("**Supported**", true), std::pair("__Support status__", true),
                      std::pair("Unsupported", false), std::pair("CPU fallback supported", false),
                      std::pair("Support planned", false), std::pair("Supported on trn1", false),
                      std::pair("Status (torch.compile)", false)));

TEST(ImportForeign, ReadsNoSupportFromAColumnThatDeniesIt) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.csv", "Operator,Not supported\naten::mm,yes\naten::relu,✅\n");
  ImportOptions options = vendorOptions();
  options.statusColumn = "Not supported";
  const auto report = importTable(base, folder / "t.csv", options, folder / "o.db");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_EQ(report->inserted, 0U);
  EXPECT_THAT(report->unknownWords, SizeIs(2));
  options.statusWords = *parseStatusWords("yes=unsupported");
  ASSERT_EQ(importTable(base, folder / "t.csv", options, folder / "o.db")->inserted, 1U);
  const Database database = openSmall(folder / "o.db");
  EXPECT_EQ(database.support(op("aten::mm"), "torch-neuronx")[0].status,
            SupportStatus::Unsupported);
}

TEST(ImportForeign, KeepsWhatLimitsASupportedOperatorAsItsCaveat) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.md",
            "| Operator | Status | Notes | Limitations | Description |\n|---|---|---|---|---|\n"
            "| aten::mm | yes | slow | up to 4096 rows | a product |\n"
            "| aten::mm | yes | not transposed | | |\n"
            "| aten::cat | no | never | | |\n| aten::linalg_inv | yes | - | | |\n");
  const auto report = importTable(base, folder / "t.md", vendorOptions(), folder / "o.db");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_THAT(report->mapping[0], HasSubstr("note = 'Notes' + 'Limitations' + 'Description'"));
  const Database database = openSmall(folder / "o.db");
  const auto& mm = database.support(op("aten::mm"), "torch-neuronx");
  ASSERT_THAT(mm, SizeIs(1));
  EXPECT_EQ(mm[0].pathNote, "slow; up to 4096 rows; not transposed");
  EXPECT_EQ(mm[0].note, "a product");
  const auto& cat = database.support(op("aten::cat"), "torch-neuronx");
  ASSERT_FALSE(cat.empty());
  EXPECT_EQ(cat.back().pathNote, "");
  EXPECT_EQ(cat.back().note, "never");
  EXPECT_EQ(database.support(op("aten::linalg_inv"), "torch-neuronx").back().pathNote, "");
}

TEST(ImportForeign, TakesOnlyDTypesOfFloatingPoint) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.csv",
            "Operator,Status,Dtypes\naten::mm,yes,int32\naten::relu,yes,\"fp32, int32, bool\"\n");
  const auto report = importTable(base, folder / "t.csv", vendorOptions(), folder / "o.db");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  ASSERT_THAT(report->problems, SizeIs(1));
  EXPECT_EQ(report->problems[0].line, 2U);
  EXPECT_THAT(report->problems[0].reason,
              HasSubstr("the dtypes int32 name none of floating point"));
  EXPECT_THAT(report->notes,
              ElementsAre("line 3: dtypes int32|bool left out, a row speaks of floating operands "
                          "only"));
  const Database database = openSmall(folder / "o.db");
  EXPECT_EQ(database.support(op("aten::relu"), "torch-neuronx").back().dtypes, "float32");
}

TEST(ImportForeign, TakesOnlyKnownKindsOfEvidence) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.csv", "Operator,Status\naten::mm,yes\n");
  ImportOptions options = vendorOptions();
  for (const char* kind : {"rumour", "emulated", "Measured", ""}) {
    options.evidence = kind;
    const auto refused = importTable(base, folder / "t.csv", options, folder / "o.db");
    ASSERT_FALSE(refused.has_value()) << kind;
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
    EXPECT_THAT(refused.error().message,
                HasSubstr("none of documented, documented-by-source, measured, measured-by-user"));
  }
  options.evidence = "conflicting";
  options.confidence = "high";
  ASSERT_TRUE(importTable(base, folder / "t.csv", options, folder / "o.db").has_value());
  EXPECT_EQ(openSmall(folder / "o.db").support(op("aten::mm"), "torch-neuronx")[0].confidence,
            Confidence::Low);
}

TEST(ImportForeign, NeverAssumesAReleaseOrMode) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  ImportOptions options = vendorOptions();
  options.mode.clear();
  EXPECT_THAT(
      importTable(base, dataFile("vendor_table.md"), options, folder / "o.db").error().message,
      HasSubstr("give --mode"));
  options = vendorOptions();
  options.release.clear();
  EXPECT_THAT(
      importTable(base, dataFile("vendor_table.md"), options, folder / "o.db").error().message,
      HasSubstr("give --release"));
  EXPECT_FALSE(std::filesystem::exists(folder / "o.db"));
}

TEST(ImportForeign, TwiceIsOnce) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  const std::string out = folder / "o.db";
  ASSERT_TRUE(importTable(base, dataFile("vendor_table.md"), vendorOptions(), out).has_value());
  const auto first = contentOf(out);
  const auto again = importTable(out, dataFile("vendor_table.md"), vendorOptions(), out);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->inserted + again->replaced, 0U);
  EXPECT_GT(again->merged, 5U);
  EXPECT_EQ(contentOf(out), first);
}

TEST(ImportForeign, AddsAnUnknownReleaseAtItsPlace) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  ImportOptions options = vendorOptions();
  options.release = "2.13.3.0";
  const auto report = importTable(base, dataFile("vendor_table.md"), options, folder / "o.db");
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->notes.back(), HasSubstr("release torch-neuronx 2.13.3.0 was not known"));
  std::vector<std::string> names;
  for (const Release& release : openSmall(folder / "o.db").releases("torch-neuronx")) {
    names.push_back(release.name);
  }
  EXPECT_THAT(names, ElementsAre("2.12.3", "2.13.3.0", "2.14.3.0"));
}

TEST(ImportForeign, NamesAReleaseAsTheCheckDoes) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "t.csv", "Operator,Status\naten::mm,yes\n");
  ImportOptions options = vendorOptions();
  const std::pair<const char*, const char*> same[] = {
      {"2.14.3", "2.14.3.0"}, {"2.33", "2.14.3.0"}, {"2.32", "2.12.3"}, {"2.12.3.0", "2.12.3"}};
  for (const auto& [wanted, release] : same) {
    options.release = wanted;
    const auto report = importTable(base, folder / "t.csv", options, folder / "o.db");
    ASSERT_TRUE(report.has_value()) << report.error().text();
    const Database database = openSmall(folder / "o.db");
    EXPECT_THAT(database.releases("torch-neuronx"), SizeIs(2)) << wanted;
    EXPECT_EQ(database.support(op("aten::mm"), "torch-neuronx").back().release, release) << wanted;
  }
  for (const char* wanted : {"latest", "2.34", "2.14\x1b[31m", "newest", "-1"}) {
    options.release = wanted;
    const auto refused = importTable(base, folder / "t.csv", options, folder / "o.db");
    ASSERT_FALSE(refused.has_value()) << wanted;
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("\x1b")));
  }
  writeFile(folder / "own.csv",
            "op,status,product,release,mode,evidence,confidence,source\n"
            "aten::mm,native,torch-neuronx,latest,eager,measured,high,me\n");
  EXPECT_THAT(importTable(base, folder / "own.csv", {}, folder / "o.db")->problems[0].reason,
              HasSubstr("release 'latest' is no version number"));
}

TEST(ImportOwn, SkipsBadRowsAndTakesTheRest) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "own.csv",
            "\xEF\xBB\xBFstatus,op,product,release,mode,evidence,confidence,source\r\n"
            "native,aten::mm,torch-neuronx,2.14.3.0,eager,measured-by-user,high,me\r\n"
            "native,aten::nothing,torch-neuronx,2.14.3.0,eager,measured-by-user,high,me\r\n"
            "native,aten::cat,torch-neuronx,2.14.3.0,eager,simulated,high,me\r\n"
            "native,aten::cat,torch-neuronx,,eager,measured,high,me\r\n"
            "unknown,aten::cat,torch-neuronx,2.14.3.0,eager,measured,high,me\r\n"
            "unsupported,aten::mm,torch-neuronx,2.14.3.0,eager,measured-by-user,high,me\r\n"
            "unsupported,aten::mm,torch-neuronx,2.14.3.0,eager,measured-by-user,high,me\r\n"
            "native,aten::mm\r\n");
  const auto report = importTable(base, folder / "own.csv", ImportOptions{}, folder / "o.db");
  ASSERT_TRUE(report.has_value()) << report.error().text();
  std::vector<std::string> problems;
  for (const RowProblem& problem : report->problems) {
    problems.push_back(fmt::format("{}: {}", problem.line, problem.reason));
  }
  EXPECT_THAT(problems,
              ElementsAre("3: no such operator: aten::nothing",
                          "4: evidence of a simulated device says nothing about a real one",
                          "5: the field 'release' is empty",
                          "7: aten::mm is unsupported here and native in line 2: the statement "
                          "that promises less is kept",
                          "9: 2 fields, the header has 8"));
  EXPECT_EQ(report->rows, 8U);
  EXPECT_EQ(report->inserted, 2U);
  EXPECT_EQ(report->merged, 1U);
  EXPECT_EQ(report->evidenceOnly, 1U);
  const Database database = openSmall(folder / "o.db");
  ASSERT_THAT(database.support(op("aten::mm"), "torch-neuronx"), SizeIs(1));
  EXPECT_EQ(database.support(op("aten::mm"), "torch-neuronx")[0].status,
            SupportStatus::Unsupported);
}

TEST(ImportOwn, ReplacesWhatTheSameSourceSaidBefore) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  const std::string header = "op,scope,status,product,release,mode,evidence,confidence,source\n";
  writeFile(folder / "a.csv",
            header + "aten::mm,overload,native,torch-neuronx,2.14.3.0,eager,measured,high,me\n");
  writeFile(folder / "b.csv",
            header +
                "aten::mm,overload,unsupported,torch-neuronx,2.14.3.0,eager,measured,high,me\n"
                "aten::mm,overload,native,torch-neuronx,2.14.3.0,eager,measured,high,you\n");
  const std::string out = folder / "o.db";
  ASSERT_TRUE(importTable(base, folder / "a.csv", {}, out).has_value());
  const auto report = importTable(out, folder / "b.csv", {}, out);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->replaced, 1U);
  EXPECT_EQ(report->inserted, 1U);
  const Database database = openSmall(out);
  const auto& rows = database.support(op("aten::mm"), "torch-neuronx");
  ASSERT_THAT(rows, SizeIs(2)) << "another source disagrees: both are kept";
  EXPECT_EQ(rows[0].status, SupportStatus::Unsupported);
}

TEST(Import, RoundTripsThroughCsvAndJson) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  const Database full = openSmall(base);
  BuildInputs bare = smallInputs(folder);
  bare.support.clear();
  ASSERT_TRUE(buildDatabase(bare, folder / "bare.db").has_value());
  writeFile(folder / "rows.csv", exportCsv(full.allSupport()));
  writeFile(folder / "rows.json", exportJson(full.allSupport()));
  for (const char* name : {"rows.csv", "rows.json"}) {
    const auto report = importTable(folder / "bare.db", folder / name, {}, folder / "again.db");
    ASSERT_TRUE(report.has_value()) << report.error().text();
    EXPECT_THAT(report->problems, IsEmpty()) << name;
    EXPECT_EQ(contentOf(folder / "again.db"), contentOf(base)) << name;
  }
  EXPECT_THAT(exportedRows(full, "torch-neuronx", "2.12.3"), SizeIs(1));
}

TEST(Import, WritesNothingWhenNothingIsGoodOrTheTargetCannotBeWritten) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  writeFile(folder / "bad.csv",
            "op,status,product,release,mode,evidence,confidence\naten::no,native,p,1,any,x,high\n");
  const auto report = importTable(base, folder / "bad.csv", {}, folder / "o.db");
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->database, "");
  EXPECT_FALSE(fs::exists(folder / "o.db"));
  writeFile(folder / "file", "");
  const auto blocked =
      importTable(base, dataFile("vendor_table.md"), vendorOptions(), folder / "file/o.db");
  ASSERT_FALSE(blocked.has_value());
  EXPECT_EQ(blocked.error().code, ErrorCode::Output);
  EXPECT_FALSE(importTable(base, folder / "absent.csv", {}, folder / "o.db").has_value());
  writeFile(folder / "binary", std::string("op,status\0x", 11));
  EXPECT_THAT(importTable(base, folder / "binary", {}, folder / "o.db").error().message,
              HasSubstr("no text file"));
  writeFile(folder / "prose.txt", "just words\n");
  EXPECT_THAT(importTable(base, folder / "prose.txt", {}, folder / "o.db").error().message,
              HasSubstr("no table"));
  writeFile(folder / "x.json", "{\"rows\": [1]}");
  EXPECT_THAT(importTable(base, folder / "x.json", {}, folder / "o.db")->problems, SizeIs(1));
}

TEST(Import, FromAReadOnlyDatabase) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  fs::permissions(base, fs::perms::owner_read);
  const auto report =
      importTable(base, dataFile("vendor_table.md"), vendorOptions(), folder / "o.db");
  EXPECT_TRUE(report.has_value()) << report.error().text();
}

TEST(ParseStatusWords, SaysWhichPartIsWrong) {
  EXPECT_EQ(parseStatusWords("A=native, Half way=partial")->at("half way"), SupportStatus::Partial);
  EXPECT_THAT(parseStatusWords("A=good").error().message, HasSubstr("'A=good'"));
  EXPECT_FALSE(parseStatusWords("A").has_value());
  EXPECT_FALSE(parseStatusWords("=native").has_value());
}

struct NameCase {
  const char* text;
  const char* op;  ///< or part of the message
  RowScope scope = RowScope::Packet;
  bool good = true;
};
void PrintTo(const NameCase& c, std::ostream* out) { *out << c.text; }
class OperatorNamesTest : public ::testing::TestWithParam<NameCase> {};

TEST_P(OperatorNamesTest, Resolves) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  const auto match = OperatorNames(database).resolve(GetParam().text);
  ASSERT_EQ(match.has_value(), GetParam().good) << (match ? match->op : match.error().message);
  if (match) {
    EXPECT_EQ(match->op, GetParam().op);
    EXPECT_EQ(match->scope, GetParam().scope);
  } else {
    EXPECT_THAT(match.error().message, HasSubstr(GetParam().op));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, OperatorNamesTest,
    ::testing::Values(
        NameCase{"aten::add.Tensor", "aten::add.Tensor", RowScope::Overload},
        NameCase{"aten.add.Tensor", "aten::add.Tensor", RowScope::Overload},
        NameCase{"torch.ops.aten.add.Tensor", "aten::add.Tensor", RowScope::Overload},
        NameCase{"add.Tensor", "aten::add.Tensor", RowScope::Overload},
        NameCase{"aten.relu.default", "aten::relu", RowScope::Overload},
        NameCase{"torch.ops.aten.relu.default", "aten::relu", RowScope::Overload},
        NameCase{"aten::add", "aten::add"}, NameCase{"aten.add", "aten::add"},
        NameCase{"add", "aten::add"}, NameCase{"torch.ops.aten.add", "aten::add"},
        NameCase{"torch.add", "aten::add"}, NameCase{"torch.Tensor.add_", "aten::add_"},
        NameCase{"torch.nn.functional.gelu", "aten::gelu"}, NameCase{"F.gelu", "aten::gelu"},
        NameCase{"torch.linalg.inv", "aten::linalg_inv"},
        NameCase{"linalg.inv", "aten::linalg_inv"}, NameCase{"prims::exp", "prims::exp"},
        NameCase{"gelu_like", "prims::gelu_like"},
        NameCase{"exp", "'exp' is ambiguous: other::exp, prims::exp", RowScope::Packet, false},
        NameCase{"torch.frob", "no such operator: 'torch.frob'", RowScope::Packet, false},
        NameCase{"aten::add.Nothing", "no such operator", RowScope::Packet, false},
        NameCase{"batch norm", "no such operator: 'batch norm'", RowScope::Packet, false},
        NameCase{"", "no such operator", RowScope::Packet, false}));

TEST(OperatorNames, SplitsCells) {
  EXPECT_THAT(OperatorNames::split("aten::add, aten::sub; mul / div"),
              ElementsAre("aten::add", "aten::sub", "mul", "div"));
  EXPECT_THAT(OperatorNames::split("gelu(input, approximate='none')"), ElementsAre("gelu"));
  EXPECT_THAT(OperatorNames::split("  "), IsEmpty());
}

}  // namespace
}  // namespace neuroncheck::opdb

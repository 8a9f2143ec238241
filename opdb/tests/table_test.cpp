// SPDX-License-Identifier: Apache-2.0
#include "opdb/table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace neuroncheck::opdb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Csv, ReadsQuotesLineEndsAndByteOrderMark) {
  const Table table = parseCsv(
      "\xEF\xBB\xBF"
      "op, status ,note\r\na,\"x, \"\"y\"\"\",\"two\r\nlines\"\r\n\r\nb,,\n");
  EXPECT_THAT(table.header, ElementsAre("op", "status", "note"));
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].line, 2U);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("a", "x, \"y\"", "two\r\nlines"));
  EXPECT_EQ(table.rows[1].line, 5U);
  EXPECT_THAT(table.rows[1].cells, ElementsAre("b", "", ""));
  EXPECT_THAT(table.problems, IsEmpty());
  EXPECT_EQ(table.column(" STATUS"), 1U);
  EXPECT_EQ(table.column("other"), std::nullopt);
}

TEST(Csv, ReportsRowsThatDoNotFit) {
  const Table table = parseCsv("a,b\n1\n1,2,3\n1,2\n\"open,2\n3,4\n");
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(table.rows[0].line, 4U);
  EXPECT_THAT(table.problems, ElementsAre(RowProblem{2, "1 fields, the header has 2"},
                                          RowProblem{3, "3 fields, the header has 2"},
                                          RowProblem{5, "a quote is opened and never closed"}));
}

TEST(Csv, TellsTheSeparatorFromTheHeader) {
  EXPECT_THAT(parseCsv("a;b\n1,5;2\n").rows.at(0).cells, ElementsAre("1,5", "2"));
  EXPECT_THAT(parseCsv("a\tb\n1,5\t2\n").rows.at(0).cells, ElementsAre("1,5", "2"));
  EXPECT_THAT(parseCsv("").header, IsEmpty());
}

RC_GTEST_PROP(CsvLaws, AFieldComesBackAsItWas, ()) {
  const auto cells = *rc::gen::container<std::vector<std::string>>(
      3, rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \",\n\r;|\t'"))));
  std::string text = "x,y,z,end\n";
  for (const std::string& cell : cells) {
    text += csvField(cell) + ",";
  }
  text += "end\n";
  const Table table = parseCsv(text);
  RC_ASSERT(table.rows.size() == 1U);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    RC_ASSERT(table.rows[0].cells[i] == cells[i]);
  }
}

TEST(Markdown, ReadsEveryTableOutsideFences) {
  const auto tables = parseMarkdownTables(
      "# Title `x`\nprose | with a pipe\n\n| A | B |\n|:--|--:|\n| 1 | 2 |\n| only one "
      "|\nend\n\n~~~\n| A | B |\n|---|---|\n"
      "| no | no |\n~~~\n## Second ##\nA | B\n-|-\n3 | 4\n\nA | B\n--- | nothing\n");
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].title, "Title x");
  EXPECT_EQ(tables[0].line, 4U);
  EXPECT_THAT(tables[0].header, ElementsAre("A", "B"));
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  EXPECT_EQ(tables[0].rows[1].line, 7U);
  EXPECT_THAT(tables[0].rows[1].cells, ElementsAre("only one", ""));
  EXPECT_THAT(tables[1].rows.at(0).cells, ElementsAre("3", "4"));
}

TEST(Markdown, SkipsWhatStandsInComments) {
  const auto tables = parseMarkdownTables(
      "<!-- | A | B |\n|---|---|\n| no | no |\n-->\n| A | B |\n|---|---|\n"
      "| 1 | 2 <!-- | no | --> |\n<!--\n| no | no |\n```\n-->| 3 | 4 |\n`<!--`\n\n"
      "| C | D |\n|---|---|\n| 5 | 6 |\n<!-->\n<!--\n| E | F |\n|---|---|\n| no | no |\n");
  ASSERT_THAT(tables, SizeIs(2));
  ASSERT_THAT(tables[0].rows, SizeIs(1));
  EXPECT_THAT(tables[0].rows[0].cells, ElementsAre("1", "2"));
  EXPECT_THAT(tables[1].rows.at(0).cells, ElementsAre("5", "6"));
}

TEST(Markdown, KeepsEscapedPipesAndReportsSurplusCells) {
  const auto tables = parseMarkdownTables("|A|B|\n|-|-|\n|a \\| b|2|\n|a | b|2|\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].rows.at(0).cells, ElementsAre("a | b", "2"));
  ASSERT_THAT(tables[0].problems, SizeIs(1));
  EXPECT_EQ(tables[0].problems[0].line, 4U);
}

TEST(Markdown, TakesTheTextOutOfItsMarkup) {
  EXPECT_EQ(plainText(" [`aten::add_`](http://x/y) "), "aten::add_");
  EXPECT_EQ(plainText("**bold** and `__code__`"), "bold and __code__");
  EXPECT_EQ(plainText("*all*"), "all");
  EXPECT_EQ(plainText("![sign](a.png) yes"), "sign yes");
  EXPECT_EQ(plainText("a<br>b&nbsp;&lt;c\\_d"), "a, b <c_d");
  EXPECT_EQ(plainText("[not a link] (x)"), "[not a link] (x)");
  EXPECT_EQ(plainText("[open](x"), "[open](x");
}

}  // namespace
}  // namespace neuroncheck::opdb

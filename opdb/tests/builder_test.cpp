// SPDX-License-Identifier: Apache-2.0
#include "opdb/builder.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/export.h"
#include "opdb/tests/test_catalogue.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The problems of a build whose support table is one header and the given row.
std::vector<std::string> problemsOf(const std::string& row) {
  const TemporaryFolder folder;
  const BuildInputs inputs = smallInputs(folder);
  writeFile(inputs.support,
            "op,scope,status,product,release,mode,dtypes,predicate,otherwise,evidence,confidence,"
            "observed\n" +
                row + "\n");
  const auto built = buildDatabase(inputs, folder / "operators.db");
  EXPECT_TRUE(built.has_value());
  return built ? built->problems : std::vector<std::string>();
}

struct BadRow {
  const char* row;
  const char* reason;
};
void PrintTo(const BadRow& bad, std::ostream* out) { *out << bad.row; }
class BadRowTest : public ::testing::TestWithParam<BadRow> {};

TEST_P(BadRowTest, IsReportedWithItsLineAndReason) {
  const auto problems = problemsOf(GetParam().row);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0], ::testing::StartsWith("support.csv:2: "));
  EXPECT_THAT(problems[0], HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadRowTest,
    ::testing::Values(
        BadRow{"aten::none,overload,native,p,1,eager,,,,documented,high,",
               "no such operator: aten::none"},
        BadRow{"aten::add,overload,native,p,1,eager,,,,documented,high,",
               "there are aten::add.Scalar, aten::add.Tensor"},
        BadRow{"aten::none,packet,native,p,1,eager,,,,documented,high,",
               "aten::none has no overloads"},
        BadRow{"aten::add.out,packet,native,p,1,eager,,,,documented,high,", "the scope is packet"},
        BadRow{"mm,overload,native,p,1,eager,,,,documented,high,", "'mm' is no operator name"},
        BadRow{"aten::mm,all,native,p,1,eager,,,,documented,high,", "scope 'all'"},
        BadRow{"aten::mm,overload,good,p,1,eager,,,,documented,high,", "status 'good'"},
        BadRow{"aten::mm,overload,native,,1,eager,,,,documented,high,",
               "the field 'product' is empty"},
        BadRow{"aten::mm,overload,native,p,1,both,,,,documented,high,", "mode 'both'"},
        BadRow{"aten::mm,overload,native,p,1,eager,float31,,,documented,high,",
               "'float31' is no dtype"},
        BadRow{"aten::mm,overload,native,p,1,eager,,rank(x) == 1,,documented,high,",
               "no argument 'x' in aten::mm"},
        BadRow{"aten::add,packet,native,p,1,eager,,rank(x) == 1,,documented,high,",
               "no overload of aten::add fits"},
        BadRow{"aten::mm,overload,native,p,1,eager,,,unsupported,documented,high,",
               "'otherwise' needs a predicate"},
        BadRow{"aten::mm,overload,native,p,1,eager,,,,simulated,high,",
               "a simulated device says nothing"},
        BadRow{"aten::mm,overload,native,p,1,eager,,,,measured on a Simulated device,high,",
               "a simulated device"},
        BadRow{"aten::mm,overload,native,p,1,eager,,,,documented,sure,", "confidence 'sure'"},
        BadRow{"aten::mm,overload,native,p,1,eager,,,,documented,high,yesterday",
               "observed 'yesterday' is no date"},
        BadRow{"aten::mm,overload,native", "3 fields, the header has 12"}));

TEST(Builder, AcceptsAPacketPredicateThatFitsOneOverload) {
  EXPECT_THAT(
      problemsOf("aten::add,packet,native,p,1,eager,,rank(other) == 1,,documented,high,2026-01-01"),
      IsEmpty());
}

TEST(Builder, GivesEqualBytesForEqualInputs) {
  const TemporaryFolder folder;
  const BuildInputs inputs = smallInputs(folder);
  ASSERT_TRUE(buildDatabase(inputs, folder / "a.db").has_value());
  ASSERT_TRUE(buildDatabase(inputs, folder / "b.db").has_value());
  EXPECT_TRUE(readFile(folder / "a.db") == readFile(folder / "b.db"));
}

TEST(Builder, LeavesNothingBehindWhenAFileIsMissing) {
  const TemporaryFolder folder;
  BuildInputs inputs = smallInputs(folder);
  inputs.rules = folder / "absent.csv";
  const auto built = buildDatabase(inputs, folder / "operators.db");
  ASSERT_FALSE(built.has_value());
  EXPECT_EQ(built.error().code, ErrorCode::Input);
  EXPECT_THAT(built.error().message, HasSubstr("absent.csv"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr("operators.db")));
  }
}

TEST(Builder, ReportsBadCatalogueLines) {
  const TemporaryFolder folder;
  const BuildInputs inputs = smallInputs(folder);
  writeFile(inputs.ops,
            readFile(inputs.ops) + "not json\n" + R"({"name":"aten::x"})" + "\n" +
                R"({"name":"aten::y","schema":"aten::z(Tensor self) -> Tensor"})" + "\n" +
                R"({"name":"aten::v","schema":"aten::v(Tensor self) -> Tensor","view":"odd"})" +
                "\n" + R"({"name":"aten::relu","schema":"aten::relu(Tensor self) -> Tensor"})" +
                "\n");
  const auto built = buildDatabase(inputs, folder / "operators.db");
  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->ops, smallSchemas().size());
  ASSERT_THAT(built->problems, SizeIs(5));
  EXPECT_EQ(built->problems[0], "ops.jsonl:19: the line is no JSON object");
  EXPECT_THAT(built->problems[1], HasSubstr("member 'schema' is missing"));
  EXPECT_THAT(built->problems[2], HasSubstr("the schema of aten::y names aten::z"));
  EXPECT_THAT(built->problems[3], HasSubstr("unknown view class 'odd'"));
  EXPECT_THAT(built->problems[4], HasSubstr("aten::relu is listed twice"));
}

TEST(Builder, ChecksExpansions) {
  const TemporaryFolder folder;
  const BuildInputs inputs = smallInputs(folder);
  writeFile(
      inputs.expansions,
      R"({"op":"aten::relu","child":null,"times":"0","mode":"always","condition":null,"args":{},"samples":2})"
      "\n"
      R"({"op":"aten::relu","child":"aten::none","times":"1","mode":"always","args":{}})"
      "\n"
      R"({"op":"aten::gelu","child":"aten::mm","times":"1","mode":"sometimes","condition":"approximate == tanh"})"
      "\n"
      R"({"op":"aten::gelu","child":"aten::mm","times":"1","mode":"sometimes","condition":"nothing == 1"})"
      "\n"
      R"({"op":"aten::gelu","child":"aten::mm","times":"1","mode":"sometimes","only_if":"approximate == none"})"
      "\n"
      R"({"op":"aten::gelu","child":"aten::mm","times":"1","mode":"sometimes","condition":"x == 1","only_if":"y == 1"})"
      "\n"
      R"({"op":"aten::gelu","child":null,"times":"0","mode":"always","truncated":true})"
      "\n"
      R"({"op":"aten::gelu","child":"aten::mm","times":"1","mode":"often"})"
      "\n");
  const auto built = buildDatabase(inputs, folder / "operators.db");
  ASSERT_TRUE(built.has_value());
  EXPECT_EQ(built->expansions, 5U);
  ASSERT_THAT(built->notes, SizeIs(3));
  EXPECT_THAT(built->notes[0], HasSubstr("expansions.jsonl:2: no such operator: aten::none"));
  EXPECT_THAT(built->notes[1], HasSubstr("no argument 'nothing'"));
  EXPECT_THAT(built->notes[2], HasSubstr("condition 'x == 1': "));
  EXPECT_THAT(built->notes[2], HasSubstr("only_if 'y == 1': "));
  ASSERT_THAT(built->problems, SizeIs(2));
  EXPECT_THAT(built->problems[0], HasSubstr("say nothing"));
  EXPECT_THAT(built->problems[1], HasSubstr("mode 'often'"));
  const Database database = openSmall(folder / "operators.db");
  EXPECT_EQ(database.expansions(op("aten::relu")).at(0).child, "");
  const auto& gelu = database.expansions(op("aten::gelu"));
  ASSERT_THAT(gelu, SizeIs(4));
  EXPECT_EQ(gelu[0].condition, "approximate == tanh");
  EXPECT_FALSE(gelu[0].always);
  EXPECT_EQ(gelu[1].condition, "") << "a condition that cannot be read is not known";
  EXPECT_EQ(gelu[0].onlyIf, "");
  EXPECT_EQ(gelu[2].onlyIf, "approximate == none");
  EXPECT_EQ(gelu[3].onlyIf, "") << "nor is a necessary one";
}

TEST(Builder, BuildsTheRepositorysData) {
  const TemporaryFolder folder;
  const std::string root = std::string(NEURONCHECK_SOURCE_DIR) + "/datasets/";
  const BuildInputs inputs{.catalogueVersion = "torch 2.13.0",
                           .ops = root + "catalogue/torch-2.13.0/ops.jsonl",
                           .expansions = root + "catalogue/torch-2.13.0/expansions.jsonl",
                           .releases = root + "support/releases.csv",
                           .support = root + "support/support-matrix.csv",
                           .features = root + "support/features.csv",
                           .rules = root + "support/compiler-rules.csv"};
  const auto built = buildDatabase(inputs, folder / "operators.db");
  ASSERT_TRUE(built.has_value()) << built.error().text();
  EXPECT_THAT(built->problems, IsEmpty());
  EXPECT_THAT(built->notes, IsEmpty()) << "every condition of the catalogue is read";
  EXPECT_GT(built->ops, 3000U);
  EXPECT_GT(built->expansions, 2000U);
  EXPECT_GT(built->support, 450U);
  const Database database = openSmall(folder / "operators.db");
  // Every row comes back as the file has it.
  EXPECT_EQ(exportCsv(database.allSupport()), readFile(inputs.support));
  for (const SupportRow& row : database.allSupport()) {
    EXPECT_EQ(row.product, "torch-neuronx");
  }
  EXPECT_THAT(database.rules("torch-neuronx"), SizeIs(built->rules));
  EXPECT_THAT(database.features("torch-neuronx"), SizeIs(built->features));
}

}  // namespace
}  // namespace neuroncheck::opdb

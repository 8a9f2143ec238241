// SPDX-License-Identifier: Apache-2.0
#include "opdb/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/diff.h"
#include "opdb/import.h"
#include "opdb/query_text.h"
#include "opdb/tests/test_catalogue.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> listed(const Database& database, const OpFilter& filter) {
  std::vector<std::string> names;
  for (const OpSummary& summary : listOps(database, filter)) {
    names.push_back(summary.op.str());
  }
  return names;
}

TEST(ListOps, FiltersByTextStatusReleaseAndMode) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  EXPECT_THAT(listed(database, {}),
              ::testing::ElementsAre("aten::gelu", "aten::relu", "aten::relu_"));
  EXPECT_THAT(listed(database, {.text = "GELU"}), ::testing::ElementsAre("aten::gelu"));
  EXPECT_THAT(listed(database, {.release = "2.14.3.0"}),
              ::testing::ElementsAre("aten::relu", "aten::relu_"));
  EXPECT_THAT(listed(database, {.mode = "compile"}), IsEmpty());
  EXPECT_THAT(listed(database, {.status = SupportStatus::Unsupported}), IsEmpty());
  EXPECT_THAT(listed(database, {.product = "torch-xla", .status = SupportStatus::Unsupported}),
              ::testing::ElementsAre("aten::relu", "aten::relu_"));
  EXPECT_THAT(listed(database, {.withoutRows = true}), SizeIs(smallSchemas().size()));
  EXPECT_THAT(text(listOps(database, {.text = "gelu"})),
              "aten::gelu  2.12.3 eager: native\n1 operator\n");
}

TEST(ShowOp, GathersEverythingAboutAnOperator) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  const auto shown = showOp(database, "aten::conv2d", "torch-neuronx", "2026-12-01");
  ASSERT_TRUE(shown.has_value()) << shown.error().text();
  ASSERT_THAT(*shown, SizeIs(1));
  ASSERT_THAT(shown->at(0).expansion, SizeIs(1));
  EXPECT_EQ(shown->at(0).expansion[0].row.child, "aten::convolution");
  EXPECT_THAT(shown->at(0).rules, SizeIs(1)) << "the rule on every operator";
  const auto mm = showOp(database, "mm", "torch-neuronx", "2026-12-01");
  ASSERT_TRUE(mm.has_value());
  EXPECT_THAT(mm->at(0).rows, IsEmpty());
  EXPECT_THAT(mm->at(0).otherProducts, SizeIs(1));
  EXPECT_THAT(mm->at(0).rules, SizeIs(2));
  EXPECT_THAT(
      text(*mm),
      AllOf(HasSubstr("support: nothing stated"), HasSubstr("never answer here"),
            HasSubstr("rule NCC_X1 (neuronx-cc 2.27): integer dot, where dtype(self) == int64"),
            HasSubstr("rules on every operator: NCC_X2 (complex)")));
  const auto gelu = showOp(database, "torch.nn.functional.gelu", "torch-neuronx", "2026-12-01");
  ASSERT_TRUE(gelu.has_value());
  ASSERT_THAT(*gelu, SizeIs(2)) << "both overloads";
  EXPECT_EQ(gelu->at(0).rows.at(0).ageDays, 77);
  EXPECT_THAT(
      text(*gelu),
      AllOf(HasSubstr("where approximate in {'none','tanh'}, else unsupported"),
            HasSubstr("2026-09-15, 77 days old"), HasSubstr("the vendor's own test: xfail")));
}

TEST(ShowOp, NamesNearOnesForAnUnknownName) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  const auto shown = showOp(database, "aten::gelo", "torch-neuronx", "2026-12-01");
  ASSERT_FALSE(shown.has_value());
  EXPECT_EQ(shown.error().code, ErrorCode::Nothing);
  EXPECT_THAT(shown.error().message, HasSubstr("near: aten::gelu"));
  EXPECT_THAT(showOp(database, "zzzzzzzzzz", "torch-neuronx", "2026-12-01").error().message,
              Not(HasSubstr("near")));
}

TEST(DiffReleases, TellsLossesFromSilence) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  // 2.14.3.0 is complete, 2.12.3 is not: gelu is lost, relu is only said for the first time.
  const auto changes = diffReleases(database, "torch-neuronx", "2.12.3", "2.14.3.0", "eager");
  ASSERT_TRUE(changes.has_value());
  ASSERT_THAT(*changes, SizeIs(2));
  EXPECT_EQ(changes->at(0).kind, ChangeKind::Lost);
  EXPECT_EQ(changes->at(0).op, "aten::gelu");
  EXPECT_THAT(changes->at(0).before, HasSubstr("native for float32|bfloat16 where approximate"));
  EXPECT_EQ(changes->at(1).kind, ChangeKind::NewlyStated);
  EXPECT_EQ(changes->at(1).op, "aten::relu");
  const auto back = diffReleases(database, "torch-neuronx", "2.14.3.0", "2.12.3", "eager");
  EXPECT_EQ(back->at(0).kind, ChangeKind::Gained);
  EXPECT_EQ(back->at(1).kind, ChangeKind::NoLongerStated);
  EXPECT_THAT(*diffReleases(database, "torch-neuronx", "2.12.3", "2.14.3.0", "compile"), IsEmpty());
  EXPECT_THAT(diffReleases(database, "torch-neuronx", "1", "2.14.3.0", "eager").error().message,
              HasSubstr("it has: 2.12.3, 2.14.3.0"));
  EXPECT_THAT(text(*changes), HasSubstr("1 lost, 1 newly stated"));
}

TEST(DiffDatabases, ComparesEveryRow) {
  const TemporaryFolder folder;
  const std::string base = buildSmall(folder);
  ImportOptions options;
  options.release = "2.14.3.0";
  options.mode = "eager";
  const auto imported =
      importTable(base, std::string(NEURONCHECK_SOURCE_DIR) + "/opdb/tests/data/vendor_table.md",
                  options, folder / "o.db");
  ASSERT_TRUE(imported.has_value());
  const Database before = openSmall(base);
  const Database after = openSmall(folder / "o.db");
  EXPECT_THAT(diffDatabases(before, before, "torch-neuronx"), IsEmpty());
  EXPECT_EQ(text(diffDatabases(before, before, "torch-neuronx")), "no difference\n");
  const auto changes = diffDatabases(before, after, "torch-neuronx");
  EXPECT_THAT(changes, SizeIs(7)) << text(changes);
}

TEST(DaysBetween, CountsCalendarDays) {
  EXPECT_EQ(daysBetween("2026-02-28", "2026-03-01"), 1);
  EXPECT_EQ(daysBetween("2024-02-28", "2024-03-01"), 2);
  EXPECT_EQ(daysBetween("", "2026-03-01"), -1);
  EXPECT_EQ(daysBetween("soon", "2026-03-01"), -1);
}

}  // namespace
}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Inventory plain() {
  Inventory inventory;
  inventory.kind = FileKind::ExportedProgram;
  Model model;
  model.name = "m";
  model.schemaMajor = 8;
  model.schemaMinor = 20;
  model.stored.push_back({"w", tensor(DType::Float32)->spec, "weight_0", 64, true});
  inventory.models.push_back(model);
  return inventory;
}

TEST(FileFindings, AnOrdinaryFileHasNone) { EXPECT_THAT(fileFindings(plain()), IsEmpty()); }

TEST(FileFindings, EachNoteOfTheReaderIsAFinding) {
  for (const std::string rule :
       {"NC101", "NC102", "NC103", "NC104", "NC109", "NC112", "NC113", "NC114", "NC115", "NC116"}) {
    Inventory inventory = plain();
    inventory.notes.push_back({rule, "models/m.json", "what the reader said"});
    const std::vector<Finding> findings = fileFindings(inventory);
    ASSERT_THAT(findings, SizeIs(1)) << rule;
    EXPECT_EQ(findings.front().rule, rule);
    EXPECT_EQ(findings.front().message, "what the reader said");
    EXPECT_EQ(findings.front().places.front().node, "models/m.json");
    EXPECT_FALSE(findings.front().remedy.empty());
  }
}

TEST(FileFindings, NotesOfOneRuleAreOneFindingWithAllPlaces) {
  Inventory inventory = plain();
  for (int i = 0; i < 1000; ++i) {
    inventory.notes.push_back({"NC101", "r" + std::to_string(i), "twice " + std::to_string(i)});
  }
  const std::vector<Finding> findings = fileFindings(inventory);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings.front().places, SizeIs(1000));
  EXPECT_LT(findings.front().message.size(), 500U);
}

TEST(FileFindings, ANoteOfAnUnknownRuleIsShown) {
  Inventory inventory = plain();
  inventory.notes.push_back({"NC197", "r", "something new"});
  // A rule about models never takes its place.
  inventory.notes.push_back({"NC401", "r", "something else"});
  const std::vector<Finding> findings = fileFindings(inventory);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings.front().rule, "NC109");
  EXPECT_THAT(findings.front().message, HasSubstr("something new"));
  EXPECT_THAT(findings.front().message, HasSubstr("something else"));
}

TEST(FileFindings, ACompiledPackageBesideAGraphIsSaidOnce) {
  Inventory inventory = plain();
  inventory.compiledModels = {"m"};
  ASSERT_THAT(fileFindings(inventory), SizeIs(1));
  EXPECT_EQ(fileFindings(inventory).front().rule, "NC103");
  inventory.notes.push_back({"NC103", "data/aotinductor/m", "said by the reader"});
  ASSERT_THAT(fileFindings(inventory), SizeIs(1));
  EXPECT_EQ(fileFindings(inventory).front().message, "said by the reader");
  Inventory alone;
  alone.compiledModels = {"m"};
  EXPECT_THAT(fileFindings(alone), IsEmpty());
}

TEST(FileFindings, WeightlessMeansNoPayloadAtAll) {
  Inventory inventory = plain();
  Model& model = inventory.models.front();
  model.stored.push_back({"v", tensor(DType::Float32)->spec, "weight_1", 0, true});
  EXPECT_THAT(fileFindings(inventory), IsEmpty());
  model.stored.front().recordBytes = 0;
  ASSERT_THAT(fileFindings(inventory), SizeIs(1));
  EXPECT_EQ(fileFindings(inventory).front().rule, "NC106");
  // An empty tensor has an empty payload in any file.
  model.stored = {{"e", tensor(DType::Float32, {SymInt(0)})->spec, "weight_0", 0, true}};
  EXPECT_THAT(fileFindings(inventory), IsEmpty());
}

TEST(FileFindings, ANewerSchemaIsSaid) {
  Inventory inventory = plain();
  inventory.models.front().schemaMinor = 21;
  const std::vector<Finding> findings = fileFindings(inventory);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings.front().rule, "NC105");
  EXPECT_THAT(findings.front().message, HasSubstr("8.21"));
}

}  // namespace
}  // namespace neuroncheck::opdb::test

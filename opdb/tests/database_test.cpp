// SPDX-License-Identifier: Apache-2.0
#include "opdb/database.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/database_locate.h"
#include "opdb/tests/change_database.h"
#include "opdb/tests/test_catalogue.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string openingError(const std::string& path) {
  const auto database = Database::open(path);
  EXPECT_FALSE(database.has_value());
  return database ? std::string() : database.error().message;
}

TEST(Database, ReadsWhatTheBuilderWrote) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  EXPECT_EQ(database.catalogueVersion(), "torch 2.13.0");
  const OpInfo* info = database.find(op("aten::add.Tensor"));
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->schema.arguments.size(), 3U);
  EXPECT_EQ(info->dispatchClass, DispatchClass::Kernel);
  EXPECT_TRUE(info->cpuKernel);
  EXPECT_TRUE(info->hasTag("core"));
  EXPECT_EQ(database.find(op("aten::add.Tensor")), info) << "the pointer stays the same";
  EXPECT_EQ(database.find(op("aten::nothing")), nullptr);
  EXPECT_EQ(database.overloads("aten::add").size(), 3U);
  EXPECT_THAT(database.overloads("aten::nothing"), IsEmpty());
  const auto& expansions = database.expansions(op("aten::conv2d"));
  ASSERT_THAT(expansions, SizeIs(1));
  EXPECT_EQ(expansions[0].child, "aten::convolution");
  EXPECT_EQ(expansions[0].argsJson, R"({"input":{"parent":"input"},"transposed":{"const":false}})");
  EXPECT_THAT(database.composites(op("aten::convolution")),
              ::testing::ElementsAre(op("aten::conv2d")));
  ASSERT_THAT(database.releases("torch-neuronx"), SizeIs(2));
  EXPECT_EQ(database.releases("torch-neuronx")[1].name, "2.14.3.0");
  EXPECT_TRUE(database.releases("torch-neuronx")[1].registrationsComplete);
  EXPECT_THAT(database.features("torch-neuronx"), SizeIs(1));
  EXPECT_THAT(database.rules("torch-neuronx"), SizeIs(2));
  EXPECT_THAT(database.damage(), IsEmpty());
}

TEST(Database, RowsOfAnotherProductNeverAnswer) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  // The fixture says aten::mm is native, but only of torch-xla.
  EXPECT_THAT(database.support(op("aten::mm"), "torch-neuronx"), IsEmpty());
  EXPECT_THAT(database.support(op("aten::mm"), "torch-xla"), SizeIs(1));
  const auto& relu = database.support(op("aten::relu"), "torch-neuronx");
  ASSERT_THAT(relu, SizeIs(1));
  EXPECT_EQ(relu[0].product, "torch-neuronx");
  EXPECT_EQ(relu[0].status, SupportStatus::Native);
  EXPECT_THAT(database.allSupport(), SizeIs(4));
  EXPECT_THAT(database.rules("torch-xla"), SizeIs(1));
  EXPECT_THAT(database.features("torch-xla"), IsEmpty());
  EXPECT_THAT(database.products(), ::testing::ElementsAre("torch-neuronx", "torch-xla"));
}

TEST(Database, PacketRowsReachOverloadsAndInPlaceForms) {
  const TemporaryFolder folder;
  const Database database = openSmall(buildSmall(folder));
  EXPECT_THAT(database.support(op("aten::relu_"), "torch-neuronx"), SizeIs(1));
  // gelu's row is of overload scope: the out form is not meant.
  EXPECT_THAT(database.support(op("aten::gelu"), "torch-neuronx"), SizeIs(1));
  EXPECT_THAT(database.support(op("aten::gelu.out"), "torch-neuronx"), IsEmpty());
  const SupportRow row = database.support(op("aten::gelu"), "torch-neuronx")[0];
  EXPECT_EQ(row.dtypes, "float32|bfloat16");
  EXPECT_EQ(row.otherwise, SupportStatus::Unsupported);
  EXPECT_EQ(row.vendorTest, "xfail");
  EXPECT_EQ(row.evidence, "measured-by-user");
  EXPECT_EQ(row.confidence, Confidence::Medium);
}

TEST(Database, WorksReadOnlyInAReadOnlyFolder) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directory(folder / "ro");
  const std::string path = folder / "ro/a b?#%.db";
  fs::rename(buildSmall(folder), path);
  fs::permissions(path, fs::perms::owner_read);
  fs::permissions(folder / "ro", fs::perms::owner_read | fs::perms::owner_exec);
  const Database database = openSmall(path);
  EXPECT_NE(database.find(op("aten::mm")), nullptr);
  fs::permissions(folder / "ro", fs::perms::owner_all);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "ro"), fs::directory_iterator()), 1)
      << "no side files";
}

TEST(Database, SaysWhyAFileIsNoDatabase) {
  const TemporaryFolder folder;
  EXPECT_THAT(openingError(folder / "absent.db"), HasSubstr("no such operator database"));
  EXPECT_THAT(openingError(folder.path()), HasSubstr("not a regular file"));
  writeFile(folder / "empty.db", "");
  EXPECT_THAT(openingError(folder / "empty.db"), HasSubstr("is empty"));
  writeFile(folder / "text.db", std::string(200, 'x'));
  EXPECT_THAT(openingError(folder / "text.db"), HasSubstr("not a SQLite file"));
  {
    SQLite::Database(folder / "foreign.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE t (a)");
  }
  EXPECT_THAT(openingError(folder / "foreign.db"), HasSubstr("another program"));
}

TEST(Database, RefusesANewerSchemaNamingBoth) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  change(path, "PRAGMA user_version = 7");
  EXPECT_THAT(openingError(path), AllOf(HasSubstr("schema 7"), HasSubstr("knows up to 3")));
  change(path, "PRAGMA user_version = 0");
  EXPECT_THAT(openingError(path), HasSubstr("unfinished"));
}

TEST(Database, ReadsAnOlderSchemaAndLeavesTheFileAsItIs) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directory(folder / "ro");
  const std::string path = folder / "ro/older.db";
  fs::rename(buildSmall(folder), path);
  makeSchema1(path);
  const std::string before = readFile(path);
  fs::permissions(path, fs::perms::owner_read);
  fs::permissions(folder / "ro", fs::perms::owner_read | fs::perms::owner_exec);
  const Database database = openSmall(path);
  fs::permissions(folder / "ro", fs::perms::owner_all);
  EXPECT_NE(database.find(op("aten::mm")), nullptr);
  EXPECT_THAT(database.support(op("aten::gelu"), "torch-neuronx"), SizeIs(1));
  ASSERT_THAT(database.expansions(op("aten::conv2d")), SizeIs(1));
  EXPECT_EQ(database.expansions(op("aten::conv2d"))[0].onlyIf, "");
  EXPECT_THAT(database.damage(), IsEmpty());
  EXPECT_TRUE(readFile(path) == before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "ro"), fs::directory_iterator()), 1)
      << "no side files";
}

TEST(Database, RefusesViewsOfAnOlderSchemaToo) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  makeSchema1(path);
  change(path, "CREATE VIEW v AS SELECT * FROM op");
  EXPECT_THAT(openingError(path), HasSubstr("view 'v'"));
  change(path, "DROP VIEW v; DROP TABLE expansion");
  EXPECT_THAT(openingError(path), HasSubstr("no table 'expansion'"));
}

TEST(Database, SaysWhenAnOlderSchemaCannotBeUpdated) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  change(path, "PRAGMA user_version = 1");  // but with the column of schema 2
  EXPECT_THAT(openingError(path), AllOf(HasSubstr("damaged"), HasSubstr("only_if")));
}

TEST(Database, RefusesViewsAndMissingTables) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  change(path, "ALTER TABLE op RENAME TO op2; CREATE VIEW op AS SELECT * FROM op2");
  EXPECT_THAT(openingError(path), HasSubstr("view 'op'"));
  change(path, "DROP VIEW op");
  EXPECT_THAT(openingError(path), HasSubstr("no table 'op'"));
}

TEST(Database, TellsOfDamageFoundWhileReading) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  std::string bytes = readFile(path);
  // The first two pages hold the list of tables; everything after them is overwritten.
  std::fill(bytes.begin() + 3 * 4096, bytes.end(), '\xA5');
  writeFile(path, bytes);
  const auto database = Database::open(path);
  if (database) {
    EXPECT_EQ(database->find(op("aten::add.Tensor")), nullptr);
    EXPECT_THAT(database->support(op("aten::relu"), "torch-neuronx"), IsEmpty());
    EXPECT_THAT(database->damage(), HasSubstr("damaged"));
  } else {
    EXPECT_THAT(database.error().message, HasSubstr("damaged"));
  }
}

TEST(Database, ASchemaThatDoesNotParseIsDamageNotAnOperator) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  change(path, "UPDATE op SET schema = 'aten::mm(' WHERE name = 'aten::mm'");
  const Database database = openSmall(path);
  EXPECT_EQ(database.find(op("aten::mm")), nullptr);
  EXPECT_THAT(database.damage(), HasSubstr("damaged"));
}

TEST(FindDefaultDatabase, LooksInOrderAndSaysWhere) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string program = folder / "prefix/bin/neuron-check";
  fs::create_directories(folder / "prefix/bin");
  fs::create_directories(folder / "prefix/share/neuron-check");
  ::unsetenv("NEURON_CHECK_DB");
  ::setenv("XDG_DATA_HOME", (folder / "data").c_str(), 1);
  const DatabaseLocation none = findDefaultDatabase(program);
  EXPECT_FALSE(none.path.has_value());
  EXPECT_THAT(none.tried, SizeIs(4));
  const std::string shared = folder / "prefix/share/neuron-check/operators.db";
  writeFile(shared, "x");
  EXPECT_EQ(findDefaultDatabase(program).path, shared);
  const std::string user = folder / "data/neuron-check/operators.db";
  EXPECT_EQ(userDatabasePath(), user);
  fs::create_directories(folder / "data/neuron-check");
  writeFile(user, "x");
  EXPECT_EQ(findDefaultDatabase(program).path, user);
  EXPECT_TRUE(findDefaultDatabase(program).isUserCopy);
  EXPECT_EQ(findDefaultDatabase(program).builtIn, shared);
  ::setenv("NEURON_CHECK_DB", (folder / "absent.db").c_str(), 1);
  EXPECT_FALSE(findDefaultDatabase(program).path.has_value())
      << "a named database is not replaced by another";
  ::unsetenv("NEURON_CHECK_DB");
}

TEST(FindDefaultDatabase, SaysWhenTheUsersCopyIsOfAnotherBuild) {
  const TemporaryFolder folder;
  const std::string path = buildSmall(folder);
  const std::string copy = folder / "copy.db";
  std::filesystem::copy_file(path, copy);
  const DatabaseLocation location{.path = copy, .isUserCopy = true, .builtIn = path, .tried = {}};
  EXPECT_EQ(outdatedCopy(location), "");
  EXPECT_FALSE(openSmall(path).madeFrom().empty());
  change(copy, "UPDATE meta SET value = 'other' WHERE key = 'made_from'");
  EXPECT_THAT(outdatedCopy(location), AllOf(HasSubstr(copy), HasSubstr("import")));
  change(copy, "DELETE FROM meta WHERE key = 'made_from'");
  EXPECT_THAT(outdatedCopy(location), HasSubstr(copy)) << "made before it was recorded";
  EXPECT_EQ(outdatedCopy({.path = path, .isUserCopy = false, .builtIn = {}, .tried = {}}), "");
}

}  // namespace
}  // namespace neuroncheck::opdb

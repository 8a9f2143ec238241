// SPDX-License-Identifier: Apache-2.0
#include "scanner/open.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "scanner/digest.h"
#include "scanner/tests/program_text.h"
#include "scanner/tests/small_catalogue.h"
#include "scanner/tests/sparse_zip.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::smallArchive;
using testing::smallProgram;
using testing::with;
using testing::ZipWriter;

class Scan : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("scan_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(std::string_view bytes) {
    const std::string path = (folder_ / "m.pt2").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  Result<Inventory> scanBytes(std::string_view bytes) {
    return scan(write(bytes), catalogue_).inventory;
  }
  std::string errorOf(std::string_view bytes) {
    const auto inventory = scanBytes(bytes);
    return inventory ? "" : inventory.error().text();
  }

  std::filesystem::path folder_;
  testing::SmallCatalogue catalogue_;
};

/// Highest memory use of this process so far.
std::int64_t peakKilobytes() {
  rusage usage = {};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}

/// The NC1xx rules of the notes, in order.
std::vector<std::string> rules(const Inventory& inventory) {
  std::vector<std::string> result;
  for (const FileNote& note : inventory.notes) {
    result.push_back(note.rule);
  }
  return result;
}

TEST_F(Scan, ReadsLayoutC) {
  const auto inventory = scanBytes(smallArchive(smallProgram()));
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->kind, FileKind::ExportedProgram);
  EXPECT_EQ(inventory->layout, "C");
  EXPECT_EQ(inventory->producer, "torch 2.13.0+cpu, export schema 8.20");
  EXPECT_EQ(inventory->size, std::filesystem::file_size(inventory->path));
  EXPECT_TRUE(inventory->notes.empty());
  ASSERT_EQ(inventory->models.size(), 1U);
  const Model& model = inventory->models[0];
  EXPECT_EQ(model.name, "model");
  ASSERT_EQ(model.stored.size(), 1U);
  EXPECT_EQ(model.stored[0].record, "data/weights/weight_0");
  EXPECT_EQ(model.stored[0].recordBytes, 48);
  EXPECT_EQ(model.stored[0].spec.str(), "f32[3,4]");
  EXPECT_TRUE(model.stored[0].isParameter);
}

TEST_F(Scan, ReadsLayoutB) {
  const auto inventory =
      scanBytes(ZipWriter()
                    .add("m/archive_format", "pt2")
                    .add("m/archive_version", "0")
                    .add("m/models/model.json", smallProgram(), {.deflate = true})
                    .add("m/data/weights/model.pt", std::string(1000, 'w'))
                    .add("m/data/constants/model.pt", "c")
                    .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->layout, "B");
  EXPECT_EQ(inventory->models[0].stored[0].record, "data/weights/model.pt");
  EXPECT_EQ(inventory->models[0].stored[0].recordBytes, 1000);
}

TEST_F(Scan, ReadsLayoutA) {
  const std::string json = with(
      with(smallProgram(), R"({"major": 8, "minor": 20})", R"({"major": 8, "minor": 2})"),
      R"("parameter": {"arg": {"name": "p_w"}, "parameter_name": "lin.weight"})",
      R"("buffer": {"arg": {"name": "p_w"}, "buffer_name": "lin.weight", "persistent": false})");
  const auto inventory = scanBytes(ZipWriter()
                                       .add("serialized_exported_program.json", json)
                                       .add("serialized_state_dict.pt", "ww")
                                       .add("serialized_constants.pt", "ccc")
                                       .add("serialized_example_inputs.pt", "x")
                                       .add("version", "8.2")
                                       .add("extra_files/a", "x")
                                       .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->layout, "A");
  EXPECT_EQ(inventory->producer, "torch 2.13.0+cpu, export schema 8.2");
  const StoredTensor& stored = inventory->models[0].stored[0];
  EXPECT_EQ(stored.record, "serialized_constants.pt");  // not persistent
  EXPECT_EQ(stored.recordBytes, 3);
  EXPECT_FALSE(stored.isParameter);
}

TEST_F(Scan, ReadsSeveralModelsWithDotsInTheirNames) {
  const auto inventory =
      scanBytes(ZipWriter()
                    .add("m/models/enc.v1.json", smallProgram())
                    .add("m/models/dec.json", with(smallProgram(), "torch.ops.aten.relu.default",
                                                   "torch.ops.aten.gelu.default"))
                    .add("m/data/weights/enc.v1_weights_config.json", testing::smallWeightsConfig())
                    .add("m/data/weights/dec_weights_config.json",
                         with(testing::smallWeightsConfig(), "weight_0", "weight_1"))
                    .add("m/data/weights/weight_0", std::string(48, 'a'))
                    .add("m/data/weights/weight_1", std::string(48, 'b'))
                    .add("m/archive_format", "pt2")
                    .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  ASSERT_EQ(inventory->models.size(), 2U);
  EXPECT_EQ(inventory->models[0].name, "enc.v1");
  EXPECT_EQ(inventory->models[1].name, "dec");
  EXPECT_EQ(inventory->models[1].stored[0].record, "data/weights/weight_1");
  EXPECT_EQ(inventory->models[1].uses[1].op.str(), "aten::gelu");
}

TEST_F(Scan, NotesDuplicateRecordsAndReadsTheLast) {
  const auto inventory =
      scanBytes(ZipWriter()
                    .add("m/models/model.json", with(smallProgram(), "torch.ops.aten.relu.default",
                                                     "torch.ops.aten.gelu.default"))
                    .add("m/archive_format", "pt2")
                    .add("m/models/model.json", smallProgram())
                    .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  ASSERT_EQ(inventory->models.size(), 1U);
  EXPECT_EQ(inventory->models[0].uses[1].op.str(), "aten::relu");
  ASSERT_THAT(rules(*inventory), ElementsAre("NC101"));
  EXPECT_EQ(inventory->notes[0].record, "m/models/model.json");
  EXPECT_THAT(inventory->notes[0].message, HasSubstr("2 records of this name"));
}

TEST_F(Scan, NotesWrongChecksumsOfRecordsItUsed) {
  const auto inventory = scanBytes(ZipWriter()
                                       .add("m/models/model.json", smallProgram(), {.crc = 7})
                                       .add("m/data/weights/weight_0", "never read", {.crc = 7})
                                       .add("m/archive_format", "pt2")
                                       .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  ASSERT_THAT(rules(*inventory), ElementsAre("NC102"));
  EXPECT_EQ(inventory->notes[0].record, "m/models/model.json");
}

TEST_F(Scan, NotesACompiledPackageBesideTheGraph) {
  const auto inventory = scanBytes(ZipWriter()
                                       .add("m/models/model.json", smallProgram())
                                       .add("m/data/aotinductor/net/a.so", "x")
                                       .add("m/data/aotinductor/net/b.cpp", "x")
                                       .add("m/archive_format", "pt2")
                                       .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->models.size(), 1U);
  EXPECT_THAT(inventory->compiledModels, ElementsAre("net"));
  EXPECT_THAT(rules(*inventory), ElementsAre("NC103"));
}

TEST_F(Scan, NotesPayloadsThatDoNotFit) {
  const auto archive = [](std::string_view payload, std::string_view config) {
    ZipWriter writer;
    writer.add("m/models/model.json", smallProgram())
        .add("m/archive_format", "pt2")
        .add("m/data/weights/model_weights_config.json", config);
    if (payload != "none") {
      writer.add("m/data/weights/weight_0", payload);
    }
    return writer.finish();
  };
  const std::string config = testing::smallWeightsConfig();
  const auto small = scanBytes(archive(std::string(47, 'a'), config));
  ASSERT_THAT(rules(*small), ElementsAre("NC104"));
  EXPECT_THAT(small->notes[0].message, HasSubstr("reaches to byte 48 of a record of 47 bytes"));
  EXPECT_TRUE(scanBytes(archive(std::string(48, 'a'), config))->notes.empty());
  const auto none = scanBytes(archive("none", config));
  ASSERT_THAT(rules(*none), ElementsAre("NC104"));
  EXPECT_EQ(none->models[0].stored[0].recordBytes, -1);
  const std::string pickled = with(config, R"("use_pickle": false)", R"("use_pickle": true)");
  EXPECT_TRUE(scanBytes(archive("N.", pickled))->notes.empty());
  const auto broken = scanBytes(archive("x", pickled));
  ASSERT_THAT(rules(*broken), ElementsAre("NC109"));
  EXPECT_THAT(broken->notes[0].message, HasSubstr("its pickle cannot be read"));
}

TEST_F(Scan, SaysThatWeightsAreAbsent) {
  EXPECT_TRUE(scanBytes(smallArchive(smallProgram()))->models[0].notes.empty());
  const auto empty =
      scanBytes(ZipWriter()
                    .add("m/models/model.json", smallProgram())
                    .add("m/archive_format", "pt2")
                    .add("m/data/weights/model_weights_config.json", testing::smallWeightsConfig())
                    .add("m/data/weights/weight_0", "")
                    .add("m/data/sample_inputs/model.pt", "")
                    .finish());
  ASSERT_TRUE(empty) << empty.error().text();
  EXPECT_THAT(empty->models[0].notes, Contains(HasSubstr("weights are absent: 1 of 1")));
  EXPECT_EQ(empty->models[0].stored[0].recordBytes, 0);
  EXPECT_EQ(empty->models[0].stored[0].spec.str(), "f32[3,4]");
}

TEST_F(Scan, RefusesVersionsItDoesNotKnow) {
  const auto archive = [](std::string_view record, std::string_view text) {
    return ZipWriter()
        .add("m/models/model.json", smallProgram())
        .add(std::string("m/") + std::string(record), text)
        .add("m/data/weights/model.pt", "")
        .finish();
  };
  EXPECT_THAT(errorOf(archive("archive_version", "1")),
              ::testing::AnyOf(HasSubstr("archive version '1'"), HasSubstr("highest known is 0")));
  EXPECT_THAT(errorOf(archive("archive_format", "pt3")), HasSubstr("says 'pt3', not pt2"));
  EXPECT_THAT(errorOf(ZipWriter()
                          .add("m/models/model.json", smallProgram())
                          .add("m/archive_format", "pt2")
                          .add("m/.data/version", "999\n")
                          .finish()),
              HasSubstr("container version 999 is not read, the highest known is 10"));
  EXPECT_THAT(errorOf(smallArchive(with(smallProgram(), R"("major": 8)", R"("major": 9)"))),
              HasSubstr("models/model.json: export schema 9.20"));
}

TEST_F(Scan, NamesOtherKindsAndHowToExport) {
  EXPECT_THAT(errorOf(ZipWriter().add("m/constants.pkl", "").finish()), HasSubstr("torchscript"));
  EXPECT_THAT(errorOf(ZipWriter().add("m/constants.pkl", "").finish()),
              HasSubstr("torch.export.export(model, args)"));
  EXPECT_THAT(errorOf(""), HasSubstr("empty"));
  EXPECT_THAT(errorOf("hello"), HasSubstr("text"));
  EXPECT_THAT(errorOf(ZipWriter()
                          .add("m/data/aotinductor/net/a.so", "")
                          .add("m/archive_format", "pt2")
                          .finish()),
              HasSubstr("no graph to analyse"));
  EXPECT_EQ(scan(folder_.string(), catalogue_).inventory.error().code, ErrorCode::Input);
  EXPECT_THAT(scan((folder_ / "absent").string(), catalogue_).inventory.error().text(),
              HasSubstr("cannot be opened"));
}

TEST_F(Scan, NamesTheDamagedRecord) {
  EXPECT_THAT(errorOf(smallArchive("{\"a\": ")),
              HasSubstr("models/model.json: the JSON is not well formed"));
  EXPECT_THAT(
      errorOf(with(smallArchive(smallProgram()), R"("is_param": true)", R"("is_param": 1234)")),
      HasSubstr(
          "data/weights/model_weights_config.json: entry 'lin.weight': is_param is an integer"));
}

// Many records that inflate well are as bad as one: the bound is over all of them.
TEST_F(Scan, BoundsAllRecordsTogether) {
  const std::string padded = smallProgram() + std::string(100'000, ' ');
  const std::string path = write(ZipWriter()
                                     .add("m/models/a.json", padded, {.deflate = true})
                                     .add("m/models/b.json", padded, {.deflate = true})
                                     .add("m/archive_format", "pt2")
                                     .finish());
  EXPECT_TRUE(scan(path, catalogue_, {.limits = {.maxJsonBytes = 250'000}}).inventory);
  const auto refused = scan(path, catalogue_, {.limits = {.maxJsonBytes = 150'000}}).inventory;
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("record m/models/b.json: its"));
  EXPECT_THAT(refused.error().text(), HasSubstr("over the limit"));
}

// Names of records reach reports: nothing in them may break a terminal or a JSON document.
TEST_F(Scan, MakesNamesPrintable) {
  const auto inventory = scanBytes(ZipWriter()
                                       .add("m/models/a\xff\x1b.json", smallProgram(), {.crc = 1})
                                       .add("m/archive_format", "pt2")
                                       .finish());
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->models[0].name, "a\\xff\\x1b");
  EXPECT_EQ(inventory->notes[0].record, "m/models/a\\xff\\x1b.json");
}

// Only the directory and the wanted records are read: twenty gigabytes of weights cost nothing.
TEST_F(Scan, DoesNotReadWeights) {
  const std::string path = (folder_ / "big.pt2").string();
  const std::uint64_t hole = std::uint64_t{20} << 30;
  testing::SparseZip zip(path);
  zip.addHole("m/data/weights/weight_0", hole);
  zip.add("m/models/model.json", smallProgram());
  zip.add("m/data/weights/model_weights_config.json", testing::smallWeightsConfig());
  zip.add("m/archive_format", "pt2");
  zip.finish();
  ASSERT_GT(std::filesystem::file_size(path), hole);

  const std::int64_t before = peakKilobytes();
  const auto start = std::chrono::steady_clock::now();
  const auto inventory = scan(path, catalogue_).inventory;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(inventory) << inventory.error().text();
  EXPECT_EQ(inventory->models[0].stored[0].recordBytes, static_cast<std::int64_t>(hole));
  EXPECT_LT(seconds.count(), 10.0) << "reading the hole takes longer on any disk";
  EXPECT_LT(peakKilobytes() - before, 100 * 1024);
}

TEST_F(Scan, SaysTheKindAlsoWhenItCannotRead) {
  const std::string good = smallArchive(smallProgram());
  const Scanned program = scan(write(good), catalogue_);
  EXPECT_EQ(program.kind, FileKind::ExportedProgram);
  EXPECT_EQ(program.size, good.size());
  const Scanned damaged = scan(write(smallArchive("{\"graph_module\": 3}")), catalogue_);
  EXPECT_EQ(damaged.kind, FileKind::Damaged);
  EXPECT_FALSE(damaged.inventory);
  const Scanned folder = scan(folder_.string(), catalogue_);
  EXPECT_EQ(folder.kind, FileKind::Unknown);
  EXPECT_FALSE(folder.inventory);
  const Scanned absent = scan((folder_ / "absent").string(), catalogue_);
  EXPECT_FALSE(absent.inventory);
  EXPECT_EQ(absent.size, 0U);
}

TEST_F(Scan, DigestIsSha256) {
  EXPECT_EQ(*sha256OfFile(write("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*sha256OfFile(write("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*sha256OfFile(write(std::string(3 << 20, 'a'))),
            "6f850bc94ae6f7de14297c01616c36d712d22864497b28a63b81d776b035e656");
  EXPECT_FALSE(sha256OfFile((folder_ / "absent").string()));
}

}  // namespace
}  // namespace neuroncheck::scanner

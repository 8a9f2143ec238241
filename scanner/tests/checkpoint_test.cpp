// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/checkpoint/collect.h"
#include "scanner/checkpoint/describe.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/checkpoint/nn_modules.h"
#include "scanner/open.h"
#include "scanner/tests/small_catalogue.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

/// One float tensor of six elements in storage `key`, of the given size.
std::string tensorCall(const std::string& key, char rows, char columns) {
  return bytes("ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU") +
         static_cast<char>(key.size()) + key +
         bytes(
             "U\x03"
             "cpuK\x06tQK\x00(K") +
         rows + "K" + columns + "t(K" + columns + bytes("K\x01t\x89NtR");
}

std::string savedZip(const std::string& pickle,
                     std::string_view data = "012345678901234567890123") {
  return testing::ZipWriter()
      .add("m/data.pkl", pickle)
      .add("m/data/0", data)
      .add("m/version", "3\n")
      .finish();
}

class CheckpointFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("ck_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& file, std::string_view content) {
    const std::string path = (folder_ / file).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Scanned scanBytes(std::string_view content) { return scan(write("c.pt", content), catalogue_); }

  std::filesystem::path folder_;
  testing::SmallCatalogue catalogue_;
};

TEST_F(CheckpointFile, NamesTensorsByTheWayToThem) {
  const std::string pickle = bytes("}(U\x05model}U\x01w") + tensorCall("0", 2, 3) +
                             bytes("sU\x04list](") + tensorCall("0", 1, 6) +
                             bytes(
                                 "K\x05"
                                 "eK\x07") +
                             tensorCall("0", 6, 1) + "u.";
  const Scanned scanned = scanBytes(savedZip(pickle));
  ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
  EXPECT_EQ(scanned.kind, FileKind::TorchSave);
  ASSERT_TRUE(scanned.noProgram);
  EXPECT_THAT(scanned.noProgram->text(), HasSubstr("torch.save zip of 3 tensors, no program"));
  EXPECT_THAT(scanned.noProgram->text(), HasSubstr("3 float32; 24 bytes"));
  EXPECT_THAT(scanned.noProgram->text(), HasSubstr("torch.export"));
  const Checkpoint& checkpoint = *scanned.inventory->checkpoint;
  EXPECT_EQ(checkpoint.top, "dict");
  EXPECT_TRUE(checkpoint.weightsOnlyLoadable());
  EXPECT_THAT(checkpoint.tensors, ElementsAre(Field(&CheckpointTensor::name, "model.w"),
                                              Field(&CheckpointTensor::name, "list[0]"),
                                              Field(&CheckpointTensor::name, "7")));
  EXPECT_THAT(checkpoint.tensors, ::testing::Each(Field(&CheckpointTensor::problem, "")));
}

TEST_F(CheckpointFile, KeepsTensorsThatCannotBeAsDescribed) {
  const auto problemOf = [&](const std::string& call, std::string_view data) {
    const Scanned scanned = scanBytes(savedZip("}U\x01w" + call + "s.", data));
    return scanned.inventory ? scanned.inventory->checkpoint->tensors.front().problem
                             : scanned.inventory.error().text();
  };
  EXPECT_THAT(problemOf(tensorCall("0", 3, 3), std::string(24, 'x')), HasSubstr("storage of 6"));
  EXPECT_THAT(problemOf(tensorCall("0", 2, 3), std::string(23, 'x')), HasSubstr("the file has 23"));
  EXPECT_THAT(problemOf(tensorCall("9", 2, 3), std::string(24, 'x')), HasSubstr("no record"));
  EXPECT_THAT(problemOf(bytes("ctorch._utils\n_rebuild_tensor_v2\n(K\x01tR"), ""),
              HasSubstr("no storage"));
  const Scanned scanned = scanBytes(savedZip("}U\x01w" + tensorCall("9", 2, 3) + "s."));
  EXPECT_THAT(scanned.inventory->notes, Contains(Field(&FileNote::rule, "NC113")));
}

TEST_F(CheckpointFile, NamesWhatLoadingItWouldRun) {
  const Scanned scanned =
      scanBytes(savedZip(bytes("cos\nsystem\n(U\x04"
                               "evil"
                               "tR.")));
  ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
  EXPECT_THAT(scanned.noProgram->text(), HasSubstr("os.system"));
  EXPECT_THAT(scanned.inventory->notes, Contains(Field(&FileNote::rule, "NC112")));
  EXPECT_FALSE(scanned.inventory->checkpoint->weightsOnlyLoadable());
}

TEST_F(CheckpointFile, IsBoundedWhereAPickleRefersToItself) {
  // Each list holds the one before twice: 2^60 ways lead to the tensor.
  std::string doubling = "]q" + std::string(1, '\0');
  for (int i = 0; i < 60; ++i) {
    doubling += bytes("]q") + static_cast<char>(i + 1) + "h" + static_cast<char>(i) + "ah" +
                static_cast<char>(i) + "a";
  }
  EXPECT_THAT(scanBytes(savedZip(doubling + ".")).inventory.error().text(),
              HasSubstr("refers to its own objects too often"));
  const Scanned circle =
      scanBytes(savedZip(bytes("]q\x00h\x00"
                               "a.")));
  EXPECT_THAT(circle.inventory.error().text(), HasSubstr("nested more than"));
  std::string deep;
  for (int i = 0; i < 1000; ++i) {
    deep += "]";
  }
  EXPECT_THAT(scanBytes(savedZip(deep + std::string(999, 'a') + ".")).inventory.error().text(),
              HasSubstr("nested more than"));
}

TEST_F(CheckpointFile, ADamagedPickleIsNamed) {
  const Scanned scanned = scanBytes(savedZip(bytes("}U\x01wh\x63s.")));
  ASSERT_FALSE(scanned.inventory);
  EXPECT_EQ(scanned.kind, FileKind::TorchSave);
  EXPECT_THAT(scanned.inventory.error().text(), HasSubstr("data.pkl"));
  EXPECT_THAT(scanned.inventory.error().text(), HasSubstr("memo entry 99"));
}

TEST(Globals, AreJudgedByWhatTheyDo) {
  EXPECT_EQ(riskOf("collections.OrderedDict"), GlobalRisk::Data);
  EXPECT_EQ(riskOf("torch.float8_e5m2"), GlobalRisk::Data);
  EXPECT_EQ(riskOf("torch.BFloat16Storage"), GlobalRisk::Data);
  EXPECT_EQ(riskOf("torch.nn.modules.linear.Linear"), GlobalRisk::Module);
  EXPECT_EQ(riskOf("my.model.Net"), GlobalRisk::Foreign);
  EXPECT_EQ(riskOf("osmosis.Model"), GlobalRisk::Foreign) << "a name that begins like a module";
  for (const char* name : {"os.system", "posix.system", "builtins.eval", "__builtin__.getattr",
                           "subprocess.Popen", "torch.hub.load", "functools.partial",
                           "torch.storage._load_from_bytes", "operator.attrgetter"}) {
    EXPECT_EQ(riskOf(name), GlobalRisk::Command) << name;
  }
}

std::string safetensors(const std::string& header, std::size_t dataBytes) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  }
  return out + header + std::string(dataBytes, 'x');
}

TEST_F(CheckpointFile, SafetensorsMustFitTheirShapeAndTheFile) {
  const auto problemOf = [&](const std::string& entry, std::size_t dataBytes) {
    const Scanned scanned = scanBytes(safetensors(R"({"w":)" + entry + "}", dataBytes));
    return scanned.inventory ? scanned.inventory->checkpoint->tensors.front().problem
                             : scanned.inventory.error().text();
  };
  EXPECT_EQ(problemOf(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 8), "");
  EXPECT_THAT(problemOf(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7),
              HasSubstr("ends at byte 8"));
  EXPECT_THAT(problemOf(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
              HasSubstr("needs 12 bytes"));
  EXPECT_THAT(problemOf(R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})", 8),
              HasSubstr("not known"));
  EXPECT_THAT(problemOf(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", 8),
              HasSubstr("ascending"));
  EXPECT_THAT(problemOf(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", 8),
              HasSubstr("negative"));
  EXPECT_THAT(
      problemOf(R"({"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]})", 8),
      HasSubstr("2^63"));
  EXPECT_THAT(problemOf(R"({"dtype":"F32","shape":[2]})", 8), HasSubstr("data_offsets"));
}

TEST_F(CheckpointFile, AFolderIsReadThroughItsIndex) {
  write("config.json", R"({"architectures":["LlamaForCausalLM"],"hidden_size":16})");
  write("a.safetensors",
        safetensors(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
  write(
      "model.safetensors.index.json",
      R"({"weight_map":{"x":"a.safetensors","y":"a.safetensors","z":"b.safetensors","w":"../c"}})");
  const Scanned scanned = scan(folder_.string(), catalogue_);
  ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
  EXPECT_EQ(scanned.kind, FileKind::HfFolder);
  const Checkpoint& checkpoint = *scanned.inventory->checkpoint;
  EXPECT_EQ(checkpoint.metadata.at("architecture"), "LlamaForCausalLM");
  EXPECT_EQ(checkpoint.metadata.at("hidden_size"), "16");
  const auto problemOf = [&](const std::string& name) {
    for (const CheckpointTensor& tensor : checkpoint.tensors) {
      if (tensor.name == name) {
        return tensor.problem;
      }
    }
    return std::string("absent");
  };
  EXPECT_EQ(problemOf("x"), "");
  EXPECT_THAT(problemOf("y"), HasSubstr("which does not"));
  EXPECT_THAT(problemOf("z"), HasSubstr("cannot be opened"));
  EXPECT_THAT(problemOf("w"), HasSubstr("outside the folder"));
}

TEST(NnModules, ImplyOperatorsByClass) {
  EXPECT_THAT(impliedOperators("torch.nn.modules.linear.Linear"), ElementsAre("aten::linear"));
  EXPECT_THAT(impliedOperators("torch.nn.modules.activation.MultiheadAttention"),
              ElementsAre("aten::linear", "aten::scaled_dot_product_attention"));
  EXPECT_THAT(impliedOperators("torch.nn.modules.container.Sequential"), IsEmpty());
  EXPECT_TRUE(isListedModule("torch.nn.modules.container.Sequential"));
  EXPECT_THAT(impliedOperators("my.Linear"), IsEmpty()) << "a class of the same name elsewhere";
  EXPECT_FALSE(isListedModule("torch.nn.modules.transformer.Transformer"));
}

TEST(Describe, WeightsAreAModelWithoutOperators) {
  Checkpoint checkpoint;
  checkpoint.tensors.push_back({.name = "w",
                                .spec = {},
                                .form = {},
                                .storage = "0",
                                .storageBytes = 8,
                                .isParameter = true,
                                .problem = {}});
  const Model model = weightsModel(checkpoint);
  EXPECT_THAT(model.uses, IsEmpty());
  ASSERT_EQ(model.stored.size(), 1U);
  EXPECT_TRUE(model.stored.front().isParameter);
}

}  // namespace
}  // namespace neuroncheck::scanner

// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_io/tensor_file.h"
#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Shards : public ::testing::Test {
 protected:
  void shard(const std::string& file, const std::string& tensor) const {
    folder_.write(
        file, testing::safetensors(
                  "{\"" + tensor + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
  }
  [[nodiscard]] std::string index(const std::string& map) const {
    return folder_.write("model.safetensors.index.json", R"({"weight_map":)" + map + "}");
  }
  [[nodiscard]] static std::string error(const std::string& path) {
    const auto file = openTensorFile(path);
    return file ? "" : file.error().text();
  }

  testing::Folder folder_;
};

TEST_F(Shards, AFolderWithoutIndexIsAllItsFiles) {
  EXPECT_THAT(error(folder_.path()), HasSubstr("no safetensors files"));
  shard("b.safetensors", "x");
  shard("a.safetensors", "y");
  folder_.write("notes.txt", "nothing");
  const auto file = openTensorFile(folder_.path());
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_THAT((*file)->names(), ElementsAre("y", "x"));
  EXPECT_EQ((*file)->kind(), TensorFileKind::Shards);
  EXPECT_TRUE((*file)->entry("x"));
  EXPECT_TRUE((*file)->verify("x"));
}

TEST_F(Shards, ANameInTwoShardsIsRefused) {
  shard("a.safetensors", "x");
  shard("b.safetensors", "x");
  EXPECT_THAT(error(folder_.path()), HasSubstr("the name 'x' occurs twice"));
}

TEST_F(Shards, ATensorThatCannotBeReadNamesItsShard) {
  const std::string shard = folder_.write(
      "a.safetensors",
      testing::safetensors(R"({"x":{"dtype":"F9","shape":[1],"data_offsets":[0,1]}})", "x"));
  const auto file = openTensorFile(folder_.path());
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ((*file)->entry("x").error().text(),
            shard + ": tensor 'x': its dtype 'F9' is not known");
  EXPECT_EQ((*file)->entry("y").error().text(),
            folder_.path() + ": tensor 'y': there is none of that name");
}

TEST_F(Shards, TheIndexMustHold) {
  shard("a.safetensors", "x");
  folder_.write("bad.safetensors", "x");
  EXPECT_EQ(error(index(R"({"x":"a.safetensors"})")), "");
  EXPECT_EQ(error(folder_.path()), "");
  EXPECT_THAT(error(index(R"({"y":"a.safetensors"})")),
              HasSubstr("tensor 'y' in 'a.safetensors', which does not"));
  EXPECT_THAT(error(index(R"({"x":"a.safetensors","x":"a.safetensors"})")),
              HasSubstr("occurs twice"));
  EXPECT_THAT(error(index(R"({"x":"b.safetensors"})")),
              HasSubstr("b.safetensors: cannot be opened"));
  EXPECT_THAT(error(index(R"({"x":"bad.safetensors"})")),
              HasSubstr("bad.safetensors: the header claims"));
  EXPECT_THAT(error(index(R"({"x":"../a.safetensors"})")), HasSubstr("outside its folder"));
  EXPECT_THAT(error(index(R"({"x":1})")), HasSubstr("a shard's name"));
  EXPECT_THAT(error(index("1")), HasSubstr("no 'weight_map'"));
  EXPECT_THAT(error(folder_.path("absent")), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace neuroncheck::tensor_io

// SPDX-License-Identifier: Apache-2.0
// Every file of datasets/tensors against what numpy and torch found in it when they wrote it.
#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/dtype.h"
#include "tensor_io/tensor_file.h"
#include "tensor_io/tensor_writer.h"
#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using ::testing::HasSubstr;
using testing::readFile;
using Json = nlohmann::ordered_json;

const std::string kFolder = std::string(NEURONCHECK_SOURCE_DIR) + "/datasets/tensors/";

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    out += fmt::format("{:02x}", std::to_integer<int>(byte));
  }
  return out;
}

std::string_view kindName(TensorFileKind kind) {
  switch (kind) {
    case TensorFileKind::Safetensors:
      return "safetensors";
    case TensorFileKind::Npy:
      return "npy";
    case TensorFileKind::Npz:
      return "npz";
    case TensorFileKind::Shards:
      return "shards";
    case TensorFileKind::Raw:
      return "raw";
  }
  return "";
}

std::string firstError(const Result<std::unique_ptr<TensorFile>>& file) {
  if (!file) {
    return file.error().text();
  }
  for (const std::string& name : (*file)->names()) {
    if (const auto entry = (*file)->entry(name); !entry) {
      return entry.error().text();
    }
  }
  return {};
}

void expectTensors(const TensorFile& file, const Json& expected) {
  EXPECT_EQ(file.names().size(), expected.size());
  for (const auto& [name, facts] : expected.items()) {
    SCOPED_TRACE(name);
    const auto entry = file.entry(name);
    ASSERT_TRUE(entry) << entry.error().text();
    EXPECT_EQ(neuroncheck::name(entry->dtype), facts["dtype"].get<std::string>());
    EXPECT_EQ(entry->sizes, facts["sizes"].get<std::vector<std::int64_t>>());
    EXPECT_EQ(entry->strides, facts["strides"].get<std::vector<std::int64_t>>());
    EXPECT_EQ(hex(entry->bytes), facts["bytes"].get<std::string>());
    const auto head = file.head(name);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->byteCount, entry->bytes.size());
    EXPECT_TRUE(file.verify(name));
  }
}

TEST(TensorFixtures, AreReadAsTheirWritersReadThem) {
  const Json expected = Json::parse(readFile(kFolder + "expected.json"));
  ASSERT_GT(expected.size(), 15U);
  for (const auto& [file, facts] : expected.items()) {
    SCOPED_TRACE(file);
    OpenOptions options;
    if (facts.contains("opaque")) {
      EXPECT_THAT(firstError(openTensorFile(kFolder + file)), HasSubstr("say which dtype"));
      options.opaque = parseDType(facts["opaque"].get<std::string>());
    }
    const auto opened = openTensorFile(kFolder + file, options);
    if (facts.contains("error")) {
      EXPECT_THAT(firstError(opened), HasSubstr(facts["error"].get<std::string>()));
      EXPECT_THAT(firstError(opened), HasSubstr(file));
      continue;
    }
    ASSERT_TRUE(opened) << opened.error().text();
    EXPECT_EQ(kindName((*opened)->kind()), facts["kind"].get<std::string>());
    expectTensors(**opened, facts["tensors"]);
    const auto metadata = facts.value("metadata", std::map<std::string, std::string>());
    EXPECT_EQ((*opened)->metadata(), metadata);
  }
}

/// Writes all of `from` to a file of its own and returns the bytes of that.
std::string rewritten(const TensorFile& from, TensorFormat format) {
  const testing::Folder folder;
  const std::string path = folder.path("again");
  const auto done = writeTensorFile(
      path, format,
      [&](TensorSink& sink) -> Result<void> {
        for (const std::string& name : from.names()) {
          NEURONCHECK_TRY(const TensorEntry entry, from.entry(name));
          NEURONCHECK_TRY_VOID(sink.begin(name, entry.dtype, entry.sizes));
          NEURONCHECK_TRY_VOID(sink.append(entry.bytes));
          NEURONCHECK_TRY_VOID(sink.finish());
        }
        return {};
      },
      from.metadata());
  EXPECT_TRUE(done) << done.error().text();
  return readFile(path);
}

TEST(TensorFixtures, AreWrittenByteForByteAsTheirWritersWroteThem) {
  for (const auto& [name, format] :
       {std::pair{"torch_dtypes.safetensors", TensorFormat::Safetensors},
        {"shards/model-00001-of-00002.safetensors", TensorFormat::Safetensors},
        {"numpy_dtypes.npz", TensorFormat::Npz},
        {"matrix.npy", TensorFormat::Npy},
        {"scalar.npy", TensorFormat::Npy},
        {"empty.npy", TensorFormat::Npy}}) {
    SCOPED_TRACE(name);
    const auto file = openTensorFile(kFolder + name);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(rewritten(**file, format), readFile(kFolder + name));
  }
}

TEST(TensorFixtures, TheNameOfAFileSaysNothing) {
  const testing::Folder folder;
  const std::string path = folder.write("x.safetensors", readFile(kFolder + "matrix.npy"));
  EXPECT_EQ((*openTensorFile(path))->kind(), TensorFileKind::Npy);
}

}  // namespace
}  // namespace neuroncheck::tensor_io

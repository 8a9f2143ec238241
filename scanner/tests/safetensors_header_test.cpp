// SPDX-License-Identifier: Apache-2.0
#include "scanner/safetensors/header.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/safetensors/index.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<SafetensorsHeader> headerOf(const std::string& json, std::size_t dataBytes) {
  std::string file(1, static_cast<char>(json.size()));
  file += std::string(7, '\0') + json + std::string(dataBytes, 'x');
  return readSafetensorsHeader(*memorySource(file));
}

TEST(SafetensorsHeader, PlacesTensorsInTheData) {
  const auto header = headerOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})", 9);
  ASSERT_TRUE(header) << header.error().text();
  const SafetensorsTensor& tensor = header->tensors.front();
  EXPECT_THAT(tensor.problem, IsEmpty());
  EXPECT_EQ(tensor.begin, 1U);
  EXPECT_EQ(tensor.end, 9U);
  EXPECT_EQ(header->dataOffset + header->dataBytes, 8 + 54 + 9U);
}

TEST(SafetensorsHeader, MarksWhatOverlapsLeavesGapsOrOccursTwice) {
  const auto problems = [](const std::string& json, std::size_t dataBytes) {
    auto header = headerOf(json, dataBytes);
    EXPECT_TRUE(header) << header.error().text();
    markPlaces(*header);
    std::vector<std::string> out;
    for (const SafetensorsTensor& tensor : header->tensors) {
      out.push_back(tensor.problem);
    }
    return out;
  };
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const auto b = [](const std::string& offsets) {
    return R"("b":{"dtype":"F32","shape":[1],"data_offsets":[)" + offsets + "]}";
  };
  EXPECT_THAT(problems("{" + a + "," + b("8,12") + "}", 12), ElementsAre("", ""));
  EXPECT_THAT(problems("{" + a + "," + b("4,8") + "}", 8),
              ElementsAre("", "its data starts at byte 4, within that of another"));
  EXPECT_THAT(problems("{" + a + "," + b("10,14") + "}", 14),
              ElementsAre("", "2 bytes before its data are of no tensor"));
  EXPECT_THAT(problems("{" + a + "," + b("8,12") + "}", 15),
              ElementsAre("", "3 bytes behind its data are of no tensor"));
  EXPECT_THAT(problems("{" + a + "," + a + "}", 8), ElementsAre("", "its name occurs twice"));
  // A dtype of the future has its place all the same.
  EXPECT_THAT(
      problems(R"({"x":{"dtype":"F9","shape":[2],"data_offsets":[0,8]},)" + b("8,12") + "}", 12),
      ElementsAre("its dtype 'F9' is not known", ""));
}

TEST(SafetensorsHeader, CountsPairsOfFourBits) {
  const auto header = headerOf(R"({"a":{"dtype":"F4","shape":[2,6],"data_offsets":[0,6]}})", 6);
  ASSERT_TRUE(header) << header.error().text();
  EXPECT_EQ(header->tensors.front().problem, "");
  EXPECT_THAT(header->tensors.front().sizes, ElementsAre(2, 3));
  const auto odd = headerOf(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2);
  EXPECT_THAT(odd->tensors.front().problem, HasSubstr("not even"));
}

TEST(SafetensorsHeader, KeepsThePlaceOfADTypeItDoesNotKnow) {
  const auto header = headerOf(R"({"a":{"dtype":"F6","shape":[2],"data_offsets":[0,3]}})", 3);
  EXPECT_EQ(header->tensors.front().word, "F6");
  EXPECT_EQ(header->tensors.front().end, 3U);
  EXPECT_THAT(header->tensors.front().problem, HasSubstr("'F6' is not known"));
}

TEST(SafetensorsHeader, HasOneWordForEachDType) {
  std::set<std::size_t> ranks;
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto word = safetensorsWord(dtype);
    if (!word) {
      continue;
    }
    EXPECT_TRUE(ranks.insert(word->rank).second);
    const auto header = headerOf(
        R"({"a":{"dtype":")" + std::string(word->word) + R"(","shape":[0],"data_offsets":[0,0]}})",
        0);
    EXPECT_EQ(header->tensors.front().dtype, dtype);
  }
  EXPECT_EQ(ranks.size(), 20U);
  EXPECT_FALSE(safetensorsWord(DType::Complex128));
}

TEST(WeightMap, StaysInItsFolder) {
  EXPECT_TRUE(isPlainName("model-00001-of-00002.safetensors"));
  for (const std::string name : {"", ".", "..", "a/b", "../a", "/a", "a\\b"}) {
    EXPECT_FALSE(isPlainName(name)) << name;
  }
}

}  // namespace
}  // namespace neuroncheck::scanner

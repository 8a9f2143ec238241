// SPDX-License-Identifier: Apache-2.0
#include "scanner/pickle/machine.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/pickle/opcodes.h"
#include "scanner/pickle/saved_tensor.h"

namespace neuroncheck::scanner::pickle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Literals hold zero bytes.
template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

const Value& rootOf(const Pickle& pickle) { return pickle.at(pickle.root); }

std::string errorOf(std::string_view text, const Limits& limits = {}) {
  const auto pickle = readPickle(text, limits);
  return pickle ? std::string() : pickle.error().text();
}

TEST(PickleMachine, ReadsScalarsOfEveryProtocol) {
  const auto number = [](const std::string& text) {
    const auto pickle = readPickle(text);
    EXPECT_TRUE(pickle) << pickle.error().text();
    return rootOf(*pickle).number;
  };
  EXPECT_EQ(number(bytes("I42\n.")), 42);
  EXPECT_EQ(number(bytes("L-7L\n.")), -7);
  EXPECT_EQ(number(bytes("\x80\x02K\xff.")), 255);
  EXPECT_EQ(number(bytes("\x80\x02M\x01\x02.")), 513);
  EXPECT_EQ(number(bytes("\x80\x02J\xfe\xff\xff\xff.")), -2);
  EXPECT_EQ(number(bytes("\x80\x02\x8a\x01\xff.")), -1);
  EXPECT_EQ(number(bytes("\x80\x02\x8a\x02\x00\x01.")), 256);
  EXPECT_EQ(number(bytes("\x80\x02\x8a\x00.")), 0);
  const auto real = readPickle(bytes("\x80\x02G?\xf8\x00\x00\x00\x00\x00\x00."));
  EXPECT_EQ(rootOf(*real).real, 1.5);
  EXPECT_EQ(rootOf(*readPickle(bytes("I01\n."))).kind, Kind::Bool);
  EXPECT_EQ(rootOf(*readPickle(bytes("N."))).kind, Kind::None);
  EXPECT_EQ(rootOf(*readPickle(bytes("L99999999999999999999L\n."))).kind, Kind::BigInt);
  for (const std::string& text : {bytes("S'ab'\n."), bytes("Vab\n."),
                                  bytes("U\x02"
                                        "ab."),
                                  bytes("X\x02\x00\x00\x00"
                                        "ab."),
                                  bytes("\x8c\x02"
                                        "ab."),
                                  bytes("\x8d\x02\x00\x00\x00\x00\x00\x00\x00"
                                        "ab.")}) {
    const auto pickle = readPickle(text);
    ASSERT_TRUE(pickle) << text;
    EXPECT_EQ(rootOf(*pickle).text, "ab");
  }
}

TEST(PickleMachine, BuildsContainersAndMemo) {
  // {"a": [1, 2], "b": (1, 2, 3)} and the list again by its memo entry.
  const auto pickle =
      readPickle(bytes("\x80\x02}q\x00(U\x01"
                       "a]q\x01(K\x01K\x02"
                       "eU\x01"
                       "bK\x01K\x02K\x03\x87U\x01"
                       "ch\x01u."));
  ASSERT_TRUE(pickle) << pickle.error().text();
  const Value& dict = rootOf(*pickle);
  ASSERT_EQ(dict.kind, Kind::Dict);
  ASSERT_EQ(dict.pairs.size(), 6U);
  EXPECT_EQ(pickle->at(dict.pairs[1]).items.size(), 2U);
  EXPECT_EQ(pickle->at(dict.pairs[3]).kind, Kind::Tuple);
  EXPECT_EQ(dict.pairs[5], dict.pairs[1]);
}

TEST(PickleMachine, LeavesNamesAsNamesAndCallsNothing) {
  const auto pickle = readPickle(bytes("cos\nsystem\n(S'rm -rf /'\ntR."));
  ASSERT_TRUE(pickle);
  EXPECT_EQ(rootOf(*pickle).kind, Kind::Call);
  EXPECT_EQ(pickle->calleeOf(rootOf(*pickle)), "os.system");
  EXPECT_THAT(pickle->globals, ElementsAre("os.system"));
  const auto stacked = readPickle(bytes("\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94)R."));
  ASSERT_TRUE(stacked) << stacked.error().text();
  EXPECT_THAT(stacked->globals, ElementsAre("os.system"));
  const auto instance = readPickle(bytes("(I1\nios\nsystem\n."));
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->calleeOf(rootOf(*instance)), "os.system");
}

TEST(PickleMachine, NamesTheDamage) {
  EXPECT_THAT(errorOf(""), HasSubstr("cut short"));
  EXPECT_THAT(errorOf("\xff"), HasSubstr("offset 0"));
  EXPECT_THAT(errorOf("."), HasSubstr("without an object"));
  EXPECT_THAT(errorOf("K"), HasSubstr("cut short"));
  EXPECT_THAT(errorOf("a."), HasSubstr("stack has none"));
  EXPECT_THAT(errorOf("t."), HasSubstr("mark"));
  EXPECT_THAT(errorOf(bytes("h\x05.")), HasSubstr("memo entry 5"));
  EXPECT_THAT(errorOf(bytes("(K\x01"
                            "d.")),
              HasSubstr("key without a value"));
  EXPECT_THAT(errorOf(bytes("K\x01K\x02"
                            "a.")),
              HasSubstr("no container"));
  EXPECT_THAT(errorOf(bytes("K\x01K\x02\x93.")), HasSubstr("no text"));
  EXPECT_THAT(errorOf(bytes("X\xff\xff\xff\xff"
                            "ab.")),
              HasSubstr("cut short"));
  EXPECT_THAT(errorOf(std::string(2000, '('), {.maxValues = 100, .maxStack = 100}),
              HasSubstr("nests more than"));
  EXPECT_THAT(errorOf(std::string(2000, ']'), {.maxValues = 100, .maxStack = 100'000}),
              HasSubstr("more than 100 objects"));
}

TEST(PickleMachine, BoundsWhatItBuilds) {
  const Limits small{.maxMemory = 10'000};
  // Objects, memo entries, names, and references: each alone is too much.
  EXPECT_THAT(errorOf(std::string(500, ']') + ".", small), HasSubstr("takes more than"));
  EXPECT_THAT(errorOf("]" + std::string(500, '\x94') + ".", small), HasSubstr("takes more than"));
  EXPECT_THAT(
      errorOf("cm\n" + std::string(3000, 'n') + "\n0cm\n" + std::string(3001, 'n') + "\n0cm\n" +
                  std::string(3002, 'n') + "\n0cm\n" + std::string(3003, 'n') + "\n.",
              small),
      HasSubstr("takes more than"));
  EXPECT_THAT(errorOf("(N" + std::string(2000, '2') + "l.", small), HasSubstr("takes more than"));
  EXPECT_THAT(errorOf("(N" + std::string(200, '2') + "l.", small), "");
  EXPECT_THAT(errorOf("cm\n" + std::string(5000, 'n') + "\n."), HasSubstr("has 5001 bytes"));
}

TEST(PickleMachine, SaysWhetherMoreBytesMightHelp) {
  bool cut = false;
  EXPECT_FALSE(readPickle(bytes("X\x05\x00\x00\x00"
                                "ab"),
                          {}, &cut));
  EXPECT_TRUE(cut);
  EXPECT_FALSE(readPickle("a.", {}, &cut));
  EXPECT_FALSE(cut);
  EXPECT_FALSE(readPickle("\xff", {}, &cut));
  EXPECT_FALSE(cut);
  EXPECT_TRUE(readPickle("N.", {}, &cut));
  EXPECT_FALSE(cut);
}

TEST(PickleMachine, FramesAndExtensionsAreAsPythonHasThem) {
  EXPECT_THAT(errorOf(bytes("\x80\x04\x95\x03\x00\x00\x00\x00\x00\x00\x00N.")),
              HasSubstr("claims 3 bytes, and"));
  EXPECT_EQ(errorOf(bytes("\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N.")), "");
  const auto pickle = readPickle(bytes("\x82\x07)R."));
  ASSERT_TRUE(pickle);
  EXPECT_THAT(pickle->globals, ElementsAre("copyreg extension 7"));
}

TEST(PickleMachine, EveryCutOfAPickleIsAnError) {
  const std::string whole = bytes(
      "\x80\x02"
      "ccollections\nOrderedDict\nq\x00)Rq\x01U\x01wctorch._utils\n_rebuild_tensor_v2\n((U"
      "\x07storagectorch\nFloatStorage\nU\x01"
      "0U\x03"
      "cpuK\x06tQK\x00K\x02K\x03\x86K\x03K\x01\x86\x89N"
      "tRs.");
  ASSERT_TRUE(readPickle(whole)) << errorOf(whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(readPickle(std::string_view(whole).substr(0, length))) << length;
  }
}

TEST(SavedTensor, StorageClassesHaveTheirDtype) {
  EXPECT_EQ(dtypeOfStorageClass("torch.FloatStorage"), DType::Float32);
  EXPECT_EQ(dtypeOfStorageClass("torch.QUInt8Storage"), DType::QUInt8);
  EXPECT_EQ(dtypeOfStorageClass("torch.storage.UntypedStorage"), DType::Unknown);
  EXPECT_EQ(dtypeOfStorageClass("torch.float8_e4m3fn"), DType::Float8E4M3FN);
  EXPECT_EQ(dtypeOfStorageClass("os.system"), std::nullopt);
}

SavedTensor tensorWith(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       std::int64_t offset, std::int64_t count) {
  SavedTensor tensor;
  for (const std::int64_t size : sizes) {
    tensor.spec.sizes.emplace_back(size);
  }
  for (const std::int64_t stride : strides) {
    tensor.spec.strides.emplace_back(stride);
  }
  tensor.spec.dtype = DType::Float32;
  tensor.spec.storageOffset = SymInt(offset);
  tensor.storage =
      StorageRef{.key = "0", .location = "cpu", .dtype = DType::Float32, .count = count};
  return tensor;
}

TEST(SavedTensor, ItsStorageMustHoldIt) {
  EXPECT_EQ(checkExtent(tensorWith({2, 3}, {3, 1}, 0, 6)), "");
  EXPECT_EQ(checkExtent(tensorWith({5}, {0}, 0, 1)), "") << "an expanded dimension has one element";
  EXPECT_EQ(checkExtent(tensorWith({0, 3}, {3, 1}, 0, 0)), "");
  EXPECT_THAT(checkExtent(tensorWith({2, 3}, {3, 1}, 1, 6)), HasSubstr("storage of 6"));
  EXPECT_THAT(checkExtent(tensorWith({2, 3}, {3, 1}, -1, 6)), HasSubstr("negative"));
  EXPECT_THAT(checkExtent(tensorWith({-2}, {1}, 0, 6)), HasSubstr("negative"));
  EXPECT_THAT(checkExtent(tensorWith({2}, {-1}, 1, 6)), HasSubstr("below 0"));
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THAT(checkExtent(tensorWith({kHuge, 4}, {4, 1}, 0, 6)), HasSubstr("64 bits"));
}

}  // namespace
}  // namespace neuroncheck::scanner::pickle

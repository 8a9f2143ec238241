// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/raw_records.h"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using ::testing::HasSubstr;

std::string errorOf(RawRecord record) {
  static const testing::Folder kFolder;
  const std::string path = kFolder.write("raw", std::string(64, 'x'));
  const auto file = openRawRecords(path, {std::move(record)});
  return file ? "" : file.error().text();
}

TEST(RawRecords, MustLieWithinTheFileAndHoldTheirElements) {
  const RawRecord sound{
      .name = "a", .dtype = DType::Float32, .sizes = {2, 3}, .offset = 8, .byteCount = 24};
  EXPECT_EQ(errorOf(sound), "");
  const auto with = [&](auto change) {
    RawRecord record = sound;
    change(record);
    return errorOf(record);
  };
  EXPECT_THAT(with([](auto& r) { r.offset = 48; }),
              HasSubstr("record 'a': its 24 bytes from byte 48"));
  EXPECT_THAT(with([](auto& r) { r.offset = std::numeric_limits<std::uint64_t>::max(); }),
              HasSubstr("not within"));
  EXPECT_THAT(with([](auto& r) { r.byteCount = 20; }), HasSubstr("needs 24 bytes, it has 20"));
  EXPECT_THAT(with([](auto& r) { r.byteCount = 28; }), HasSubstr("needs 24 bytes, it has 28"));
  EXPECT_THAT(with([](auto& r) { r.sizes = {-1}; }), HasSubstr("negative"));
  EXPECT_THAT(with([](auto& r) { r.dtype = DType::Unknown; }), HasSubstr("no fixed size"));
  EXPECT_EQ(with([](auto& r) { r.strides = {1, 2}; }), "");
  EXPECT_EQ(with([](auto& r) { r.strides = {0, 0}; }), "");
  EXPECT_THAT(with([](auto& r) { r.strides = {1, 3}; }), HasSubstr("needs 32 bytes, it has 24"));
  EXPECT_THAT(with([](auto& r) { r.strides = {1}; }), HasSubstr("2 sizes and 1 strides"));
  EXPECT_THAT(with([](auto& r) { r.strides = {-1, 1}; }), HasSubstr("a stride is negative"));
  EXPECT_THAT(with([](auto& r) { r.strides = {1, std::numeric_limits<std::int64_t>::max()}; }),
              HasSubstr("2^63"));
}

TEST(RawRecords, AreSeenAsAnotherProcessWritesThem) {
  const int memory = ::memfd_create("tensors", MFD_CLOEXEC);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(::pwrite(memory, "abcdefgh", 8, 0), 8);
  auto file = mapRawRecords(
      memory, {{.name = "a", .dtype = DType::UInt8, .sizes = {4}, .offset = 0, .byteCount = 4},
               {.name = "b", .dtype = DType::UInt8, .sizes = {4}, .offset = 2, .byteCount = 4}});
  ASSERT_TRUE(file) << file.error().text();
  const auto entry = (*file)->entry("b");
  ASSERT_TRUE(entry);
  EXPECT_EQ(testing::textOf(entry->bytes), "cdef");
  ASSERT_EQ(::pwrite(memory, "X", 1, 3), 1);
  EXPECT_EQ(testing::textOf(entry->bytes), "cXef");
  file->reset();
  EXPECT_EQ(testing::textOf(entry->bytes), "cXef") << "an entry outlives its file";
  ::close(memory);
}

TEST(RawRecords, AFileThatWasCutIsAnErrorAndNoSignal) {
  const int memory = ::memfd_create("tensors", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(memory, 1 << 20), 0);
  const auto file = mapRawRecords(memory, {{.name = "a",
                                            .dtype = DType::UInt8,
                                            .sizes = {1 << 20},
                                            .offset = 0,
                                            .byteCount = 1 << 20}});
  ASSERT_TRUE((*file)->entry("a"));
  ASSERT_EQ(::ftruncate(memory, 100), 0);
  EXPECT_THAT((*file)->entry("a").error().text(), HasSubstr("tensor 'a': the file ends at byte"));
  ::close(memory);
}

}  // namespace
}  // namespace neuroncheck::tensor_io

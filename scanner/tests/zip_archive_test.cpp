// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/zip_archive.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/archive/rooted_archive.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::HasSubstr;
using testing::ZipWriter;

constexpr std::uint64_t kPlenty = 1 << 20;

/// Keeps the bytes alive beside the archive over them.
class MemoryZip {
 public:
  explicit MemoryZip(std::string bytes, const ZipLimits& limits = {})
      : bytes_(std::make_unique<std::string>(std::move(bytes))),
        archive(
            ZipArchive::open(std::shared_ptr<const ByteSource>(memorySource(*bytes_)), limits)) {}
  [[nodiscard]] std::string error() const { return archive ? "" : archive.error().text(); }
  /// Text of a record, or of the error.
  [[nodiscard]] std::string text(std::size_t index) const {
    auto record = archive->read(index, kPlenty);
    return record ? std::string(record->bytes.view()) : "error: " + record.error().text();
  }

 private:
  std::unique_ptr<std::string> bytes_;

 public:
  Result<ZipArchive> archive;
};

TEST(ZipArchive, ReadsStoredAndDeflatedRecords) {
  const std::string longText(100'000, 'x');
  const MemoryZip zip(ZipWriter()
                          .add("m/a", "hello")
                          .add("m/b", longText, {.deflate = true})
                          .add("m/c", "")
                          .add("m/d", "", {.deflate = true})
                          .finish());
  ASSERT_TRUE(zip.archive) << zip.error();
  ASSERT_EQ(zip.archive->entries().size(), 4U);
  EXPECT_EQ(zip.text(0), "hello");
  EXPECT_EQ(zip.text(1), longText);
  EXPECT_EQ(zip.text(2), "");
  EXPECT_EQ(zip.text(3), "");
  EXPECT_TRUE(zip.archive->read(1, kPlenty)->checksumMatches);
  EXPECT_EQ(*zip.archive->readStart(1, 7), "xxxxxxx");
  EXPECT_EQ(*zip.archive->readStart(0, 700), "hello");
}

TEST(ZipArchive, PadsRecordsWithZeros) {
  const MemoryZip zip(ZipWriter().add("m/a", "hello").finish());
  const auto record = zip.archive->read(0, kPlenty);
  for (std::size_t i = 0; i < PaddedBytes::kPadding; ++i) {
    EXPECT_EQ(record->bytes.data()[record->bytes.size() + i], '\0');
  }
}

TEST(ZipArchive, UnpacksInPiecesAndSaysWhereStoredBytesLie) {
  const std::string longText(3'000'000, 'x');
  const std::string bytes =
      ZipWriter().add("a", "hello").add("b", longText, {.deflate = true}).finish();
  const MemoryZip zip(bytes);
  const auto place = zip.archive->locate(0);
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_FALSE(place->deflated);
  EXPECT_EQ(bytes.substr(place->offset, place->size), "hello");
  EXPECT_TRUE(zip.archive->locate(1)->deflated);
  for (const std::size_t index : {0U, 1U}) {
    std::string all;
    const auto sum = zip.archive->unpack(index, [&](std::span<const std::byte> piece) {
      EXPECT_LE(piece.size(), std::size_t{1} << 20);
      all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return Result<void>();
    });
    EXPECT_EQ(all, zip.archive->read(index, 4'000'000)->bytes.view());
    EXPECT_EQ(*sum, zip.archive->entries()[index].crc);
  }
}

TEST(ZipArchive, UnpacksNoMoreThanIsClaimed) {
  const auto errorOf = [](std::uint32_t claimed) {
    const MemoryZip zip(
        ZipWriter()
            .add("a", std::string(2'000'000, 'x'), {.deflate = true, .claimedSize = claimed})
            .finish());
    std::size_t given = 0;
    const auto sum = zip.archive->unpack(0, [&](std::span<const std::byte> piece) {
      given += piece.size();
      return Result<void>();
    });
    EXPECT_LE(given, claimed);
    return sum ? "" : sum.error().text();
  };
  EXPECT_EQ(errorOf(2'000'000), "");
  EXPECT_THAT(errorOf(1'500'000), HasSubstr("record a: it does not end after the 1500000 bytes"));
  EXPECT_THAT(errorOf(2'000'001), HasSubstr("record a: it inflates to 2000000 bytes, not to"));
}

TEST(ZipArchive, ReadsZip64) {
  const MemoryZip zip(ZipWriter().add("m/a", "hello", {.zip64 = true}).finish({.zip64 = true}));
  ASSERT_TRUE(zip.archive) << zip.error();
  EXPECT_EQ(zip.text(0), "hello");
}

TEST(ZipArchive, AcceptsAComment) {
  EXPECT_EQ(MemoryZip(ZipWriter().add("a", "b").finish({.zip64 = false, .comment = "made by hand"}))
                .error(),
            "");
}

// A cut archive ends with the end record of a zip stored inside it; that zip must not be shown as
// the archive.
TEST(ZipArchive, RefusesTheEndRecordOfAnInnerZip) {
  const std::string inner = ZipWriter().add("archive/data.pkl", "pickle").finish();
  const std::string outer =
      ZipWriter().add("m/models/model.json", "{}").add("m/sample_inputs/model.pt", inner).finish();
  ASSERT_EQ(MemoryZip(outer).error(), "");
  std::size_t refused = 0;
  for (std::size_t cut = 1; cut < 160; ++cut) {
    const MemoryZip zip(outer.substr(0, outer.size() - cut));
    EXPECT_FALSE(zip.archive) << "cut by " << cut;
    refused += zip.archive ? 0 : 1;
  }
  EXPECT_EQ(refused, 159U);
  EXPECT_THAT(MemoryZip(outer.substr(0, outer.size() - 30)).error(), HasSubstr("stored inside it"));
}

TEST(ZipArchive, RefusesEveryTruncation) {
  const std::string whole =
      ZipWriter().add("m/a", std::string(500, 'a')).add("m/b", "bb").finish({.zip64 = true});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(MemoryZip(whole.substr(0, size)).archive) << size;
  }
  EXPECT_FALSE(MemoryZip(whole + "x").archive);
}

TEST(ZipArchive, RefusesHostileNames) {
  const auto errorFor = [](std::string_view name) {
    return MemoryZip(ZipWriter().add(name, "x").finish()).error();
  };
  EXPECT_THAT(errorFor("../evil"), HasSubstr("leaves its folder"));
  EXPECT_THAT(errorFor("m/../../evil"), HasSubstr("leaves its folder"));
  EXPECT_THAT(errorFor("m/.."), HasSubstr("leaves its folder"));
  EXPECT_THAT(errorFor("/etc/passwd"), HasSubstr("is absolute"));
  EXPECT_THAT(errorFor("C:/x"), HasSubstr("is absolute"));
  EXPECT_THAT(errorFor("m\\x"), HasSubstr("backslash"));
  EXPECT_THAT(errorFor(std::string_view("m/\0x", 4)), HasSubstr("NUL"));
  EXPECT_THAT(errorFor(""), HasSubstr("empty"));
  EXPECT_EQ(errorFor("m/..x/a"), "");
}

TEST(ZipArchive, ReadsTheLastOfDuplicatesAndListsThem) {
  const MemoryZip zip(
      ZipWriter().add("m/a", "first").add("m/b", "b").add("m/a", "second").finish());
  ASSERT_TRUE(zip.archive) << zip.error();
  EXPECT_EQ(zip.archive->entries().size(), 3U);
  EXPECT_EQ(zip.archive->find("m/a"), 2U);
  EXPECT_EQ(zip.text(2), "second");
  const auto duplicates = zip.archive->duplicates();
  ASSERT_EQ(duplicates.size(), 1U);
  EXPECT_EQ(duplicates.front().first, "m/a");
  EXPECT_EQ(duplicates.front().second, 2U);
}

TEST(ZipArchive, ReportsAWrongChecksumButGivesTheBytes) {
  const MemoryZip zip(ZipWriter().add("m/a", "hello", {.crc = 1}).finish());
  const auto record = zip.archive->read(0, kPlenty);
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->checksumMatches);
  EXPECT_EQ(record->checksum, 0x3610a686U);
  EXPECT_EQ(record->bytes.view(), "hello");
}

TEST(ZipArchive, RefusesHeadersThatDisagree) {
  EXPECT_THAT(MemoryZip(ZipWriter().add("m/a", "x", {.localName = "m/b"}).finish()).text(0),
              HasSubstr("another name"));
  std::string bytes = ZipWriter().add("m/a", "xyz").finish();
  bytes[18] = 2;  // compressed size in the local header
  EXPECT_THAT(MemoryZip(bytes).text(0), HasSubstr("other sizes"));
  bytes = ZipWriter().add("m/a", "xyz").finish();
  bytes[8] = 8;  // method in the local header
  EXPECT_THAT(MemoryZip(bytes).text(0), HasSubstr("another method"));
  bytes = ZipWriter().add("m/a", "xyz").finish();
  bytes[0] = 'X';
  EXPECT_THAT(MemoryZip(bytes).text(0), HasSubstr("local header is missing"));
}

TEST(ZipArchive, RefusesEncryptedAndUnknownMethods) {
  EXPECT_THAT(MemoryZip(ZipWriter().add("m/a", "x", {.flags = 1}).finish()).text(0),
              HasSubstr("encrypted"));
  EXPECT_THAT(MemoryZip(ZipWriter().add("m/a", "x", {.method = 12}).finish()).text(0),
              HasSubstr("method 12"));
}

TEST(ZipArchive, BoundsInflation) {
  const std::string zeros(1 << 20, '\0');
  // Claims less than it holds, more than it holds, and more than deflate can hold.
  EXPECT_THAT(
      MemoryZip(ZipWriter().add("m/a", zeros, {.deflate = true, .claimedSize = 1000}).finish())
          .text(0),
      HasSubstr("does not end"));
  EXPECT_THAT(
      MemoryZip(ZipWriter()
                    .add("m/a", std::string(5000, 'a'), {.deflate = true, .claimedSize = 6000})
                    .finish())
          .text(0),
      HasSubstr("inflates to 5000 bytes"));
  const MemoryZip liar(
      ZipWriter().add("m/a", "x", {.deflate = true, .claimedSize = 4'000'000'000}).finish());
  EXPECT_THAT(liar.archive->read(0, std::uint64_t{1} << 40).error().text(),
              HasSubstr("cannot hold"));
  const MemoryZip bomb(ZipWriter().add("m/a", zeros, {.deflate = true}).finish());
  EXPECT_THAT(bomb.archive->read(0, 1000).error().text(), HasSubstr("over the limit"));
  std::string damaged = ZipWriter().add("m/a", std::string(5000, 'a'), {.deflate = true}).finish();
  damaged[33] = '\x07';  // a block type that does not exist
  EXPECT_THAT(MemoryZip(damaged).text(0), HasSubstr("damaged"));
}

TEST(ZipArchive, RefusesOverlappingRecords) {
  std::string bytes =
      ZipWriter().add("m/a", std::string(50, 'a')).add("m/b", std::string(50, 'b')).finish();
  const std::size_t second = bytes.rfind("PK\x01\x02");
  bytes[second + 42] = 0;  // both entries now start at byte 0
  EXPECT_THAT(MemoryZip(bytes).error(), HasSubstr("runs into"));
}

TEST(ZipArchive, RefusesWrongDirectories) {
  const auto errorFor = [](const ZipWriter::End& end) {
    return MemoryZip(ZipWriter().add("m/a", "x").finish(end)).error();
  };
  EXPECT_THAT(errorFor({.zip64 = false, .entries = 2}), HasSubstr("fewer entries"));
  EXPECT_THAT(errorFor({.zip64 = false, .entries = 0}), HasSubstr("holds more"));
  EXPECT_THAT(errorFor({.zip64 = false, .directorySize = 9}), HasSubstr("directly before"));
  EXPECT_THAT(errorFor({.zip64 = true, .directoryOffset = 9}), HasSubstr("directly before"));
}

TEST(ZipArchive, KeepsItsLimits) {
  const std::string bytes = ZipWriter().add("m/a", "x").add("m/b", "x").finish();
  EXPECT_THAT(MemoryZip(bytes, {.maxDirectoryBytes = 1 << 20, .maxEntries = 1}).error(),
              HasSubstr("over the limit"));
  EXPECT_THAT(MemoryZip(bytes, {.maxDirectoryBytes = 50, .maxEntries = 10}).error(),
              HasSubstr("over the limit"));
}

TEST(RootedArchive, StripsTheFolderAllRecordsShare) {
  const std::string rooted = ZipWriter().add("m/data/0", "x").add("m/version", "3").finish();
  auto zip = ZipArchive::open(std::shared_ptr<const ByteSource>(memorySource(rooted)));
  const RootedArchive archive(std::move(*zip));
  EXPECT_EQ(archive.prefix(), "m/");
  EXPECT_EQ(archive.name(0), "data/0");
  EXPECT_TRUE(archive.has("version"));
  EXPECT_TRUE(archive.hasFolder("data/"));
  EXPECT_FALSE(archive.hasFolder("code/"));
  const std::string mixed = ZipWriter().add("m/data/0", "x").add("version", "3").finish();
  auto flat = ZipArchive::open(std::shared_ptr<const ByteSource>(memorySource(mixed)));
  EXPECT_EQ(RootedArchive(std::move(*flat)).prefix(), "");
}

}  // namespace
}  // namespace neuroncheck::scanner

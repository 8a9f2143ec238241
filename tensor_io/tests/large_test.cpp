// SPDX-License-Identifier: Apache-2.0
// Files larger than memory, as files with holes; and records that unpack to files.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/tests/sparse_zip.h"
#include "scanner/tests/zip_writer.h"
#include "tensor_io/tensor_file.h"
#include "tensor_io/tests/files.h"

namespace neuroncheck::tensor_io {
namespace {

using scanner::testing::SparseZip;
using scanner::testing::ZipWriter;
using ::testing::HasSubstr;
using testing::npy;
using testing::npyHeader;

constexpr std::uint64_t kElements = std::uint64_t{20} << 30;
constexpr long kMostKilobytes = 32 * 1024;

long residentPeak() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Large : public ::testing::Test {
 protected:
  /// Makes the file `size` bytes long without writing them; false where the file system cannot.
  static bool grow(const std::string& path, std::uint64_t size) {
    return ::truncate(path.c_str(), static_cast<off_t>(size)) == 0;
  }
  /// Opens, reads the last element, and does so within time and memory.
  static void expectCheap(const std::string& path, const std::string& name) {
    const long before = residentPeak();
    const std::clock_t start = std::clock();  // a busy machine does not count
    const auto file = openTensorFile(path);
    ASSERT_TRUE(file) << file.error().text();
    const auto entry = (*file)->entry(name);
    ASSERT_TRUE(entry) << entry.error().text();
    ASSERT_EQ(entry->bytes.size(), kElements);
    EXPECT_EQ(entry->bytes.back(), std::byte{0});
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.1);
    EXPECT_LT(residentPeak() - before, kMostKilobytes);
  }

  testing::Folder folder_;
};

TEST_F(Large, AnNpyOfTwentyGibibytesOpensAtOnce) {
  const std::string head = npy(npyHeader("|u1", fmt::format("({},)", kElements)));
  const std::string path = folder_.write("a.npy", head);
  if (!grow(path, head.size() + kElements)) {
    GTEST_SKIP() << "no files with holes here";
  }
  expectCheap(path, "array");
}

TEST_F(Large, ASafetensorsFileOfTwentyGibibytesOpensAtOnce) {
  const std::string head = testing::safetensors(
      fmt::format(R"({{"w":{{"dtype":"U8","shape":[{0}],"data_offsets":[0,{0}]}}}})", kElements));
  const std::string path = folder_.write("a.safetensors", head);
  if (!grow(path, head.size() + kElements)) {
    GTEST_SKIP() << "no files with holes here";
  }
  expectCheap(path, "w");
}

TEST_F(Large, AnNpzOfTwentyGibibytesOpensAtOnce) {
  const std::string probe = folder_.write("probe", "");
  if (!grow(probe, kElements)) {
    GTEST_SKIP() << "no files with holes here";
  }
  const std::string path = folder_.path("a.npz");
  const std::string head = npy(npyHeader("|u1", fmt::format("({},)", kElements)));
  SparseZip zip(path);
  zip.add("small.npy", npy(npyHeader("|u1", "(1,)"), "x"));
  zip.addHole("w.npy", head, head.size() + kElements);
  zip.finish();
  expectCheap(path, "w");
}

std::uint8_t patternAt(std::size_t i) {
  return static_cast<std::uint8_t>(i * 2'654'435'761U >> 13U);
}

std::string deflatedArray(std::size_t size) {
  std::string data(size, 'x');
  for (std::size_t i = 0; i < size; ++i) {
    data[i] = static_cast<char>(patternAt(i));
  }
  return ZipWriter()
      .add("a.npy", npy(npyHeader("|u1", fmt::format("({},)", size)), data), {.deflate = true})
      .finish();
}

TEST_F(Large, ADeflatedRecordIsUnpackedToAFileWithoutAName) {
  constexpr std::size_t kSize = 5'000'000;
  const std::string zip = deflatedArray(kSize);
  const testing::Folder temporary;
  const auto file = openTensorBytes(testing::bytesOf(zip), {.temporaryFolder = temporary.path()});
  ASSERT_TRUE(file) << file.error().text();
  const auto entry = (*file)->entry("a");
  ASSERT_TRUE(entry) << entry.error().text();
  ASSERT_EQ(entry->bytes.size(), kSize);
  EXPECT_EQ(std::to_integer<std::uint8_t>(entry->bytes[kSize - 1]), patternAt(kSize - 1));
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  EXPECT_EQ((*file)->entry("a")->bytes.data(), entry->bytes.data()) << "unpacked once";
}

TEST_F(Large, UnpackingHasALimitAndNeedsItsFolder) {
  const std::string zip = deflatedArray(5'000'000);
  EXPECT_THAT(testing::errorOf(zip, {.maxUnpackedBytes = 4'000'000}),
              HasSubstr("tensor 'a': record a.npy: it unpacks to"));
  EXPECT_THAT(testing::errorOf(zip, {.temporaryFolder = folder_.path("absent")}),
              HasSubstr("no temporary file can be made"));
}

TEST_F(Large, ARecordThatTheDiskHasNoRoomForIsRefusedBeforeItIsUnpacked) {
  constexpr std::uint64_t kCompressed = std::uint64_t{64} << 30;
  const std::string probe = folder_.write("probe", "");
  if (!grow(probe, kCompressed)) {
    GTEST_SKIP() << "no files with holes here";
  }
  const std::uint64_t size = kCompressed * 1000;
  const std::string head = npy(npyHeader("|u1", fmt::format("({},)", size)));
  // One stored block of the deflate format, which the header does not fill, then a hole.
  const std::string start = head + std::string(1000, '\0');
  const std::string block = '\0' + testing::littleEndian(start.size(), 2) +
                            testing::littleEndian(~start.size(), 2) + start;
  const std::string path = folder_.path("a.npz");
  SparseZip zip(path);
  zip.addDeflatedHole("a.npy", block, kCompressed, head.size() + size);
  zip.finish();
  const auto file = openTensorFile(path, {.maxUnpackedBytes = ~std::uint64_t{0}});
  ASSERT_TRUE(file) << file.error().text();
  const auto claimed = (*file)->head("a");
  ASSERT_TRUE(claimed) << claimed.error().text();
  ASSERT_EQ(claimed->byteCount, size);
  EXPECT_THAT((*file)->entry("a").error().text(),
              HasSubstr("set TMPDIR to a folder with more room"));
}

}  // namespace
}  // namespace neuroncheck::tensor_io

// SPDX-License-Identifier: Apache-2.0
// Bounded, seeded cousin of the fuzzers: mutated inputs lead to a value or an Error, never to
// anything else.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scanner/archive/rooted_archive.h"
#include "scanner/identify/identify.h"
#include "scanner/pt2/model_reader.h"
#include "scanner/pt2/payload_config.h"
#include "scanner/pt2/program_archive.h"
#include "scanner/tests/program_text.h"
#include "scanner/tests/small_catalogue.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

constexpr int kRounds = 10'000;
constexpr std::uint64_t kMaxRecord = std::uint64_t{1} << 20;

std::string readFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One to four small edits: a flipped bit, a changed or removed or inserted byte run, a copy of
/// another part, a cut.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    for (std::uint64_t edits = below(4) + 1; edits > 0 && !bytes.empty(); --edits) {
      edit(bytes);
    }
    return bytes;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  void edit(std::string& bytes) {
    const std::size_t at = below(bytes.size());
    const std::size_t run = std::min<std::size_t>(below(12) + 1, bytes.size() - at);
    switch (below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        std::generate_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), run,
                        [&] { return static_cast<char>(below(256)); });
        break;
      case 2:
        bytes.erase(at, run);
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), run));
        break;
      case 4:
        bytes.replace(at, run, bytes.substr(below(bytes.size()), run));
        break;
      case 5: {
        static const std::vector<std::string> kTokens = {"null",
                                                         "-1",
                                                         "{}",
                                                         "[]",
                                                         "\"\"",
                                                         "9223372036854775807",
                                                         "1e999",
                                                         "true",
                                                         "\"as_graph\"",
                                                         "\"relu\"",
                                                         "\xff\xff\xff\xff",
                                                         "PK\x05\x06"};
        bytes.replace(at, run, kTokens[below(kTokens.size())]);
        break;
      }
      default:
        bytes.resize(below(8) == 0 ? at : bytes.size());
        break;
    }
  }

  std::mt19937_64 random_;
};

/// Small fixtures as they are; the archive of the tests first, so that there is always one.
std::vector<std::string> archives() {
  std::vector<std::string> result = {testing::smallArchive(testing::smallProgram())};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(NEURONCHECK_SOURCE_DIR "/datasets/models")) {
    if (entry.path().extension() == ".pt2" && entry.file_size() < (40U << 10)) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    result.push_back(readFile(path));
  }
  return result;
}

std::vector<std::string> programs() {
  std::vector<std::string> result = {testing::smallProgram()};
  for (const std::string& bytes : archives()) {
    auto zip = ZipArchive::open(std::shared_ptr<const ByteSource>(memorySource(bytes)));
    if (!zip) {
      continue;
    }
    const RootedArchive archive(std::move(*zip));
    for (const auto& program : pt2::contentsOf(archive).programs) {
      if (auto record = archive.zip().read(program.record, 30U << 10)) {
        result.emplace_back(record->bytes.view());
      }
    }
  }
  return result;
}

TEST(Mutation, ArchivesGiveAnInventoryOrAnError) {
  const testing::SmallCatalogue catalogue;
  const std::vector<std::string> seeds = archives();
  Mutator mutate(20260101);
  int read = 0;
  int refused = 0;
  const Limits limits{.maxJsonBytes = kMaxRecord,
                      .maxDirectoryBytes = kMaxRecord,
                      .maxEntries = 10'000,
                      .maxDepth = 128};
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = mutate(seeds[mutate.below(seeds.size())]);
    const auto identified =
        identifySource(std::shared_ptr<const ByteSource>(memorySource(bytes)), limits);
    ASSERT_TRUE(identified);
    if (!identified->archive) {
      ++refused;
      continue;
    }
    const auto inventory = pt2::readPrograms(*identified->archive, catalogue, limits);
    if (inventory) {
      ++read;
    } else {
      ++refused;
      ASSERT_FALSE(inventory.error().message.empty());
      ASSERT_EQ(inventory.error().code, ErrorCode::Input);
    }
  }
  // Both outcomes occur, or the test would prove little.
  EXPECT_GT(read, kRounds / 100);
  EXPECT_GT(refused, kRounds / 100);
}

TEST(Mutation, GraphsGiveAModelOrAnError) {
  const testing::SmallCatalogue catalogue;
  const std::vector<std::string> seeds = programs();
  Mutator mutate(20260102);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const PaddedBytes json(mutate(seeds[mutate.below(seeds.size())]));
    const auto model = pt2::readModel(json, "model", catalogue, Limits{.maxDepth = 128});
    if (model) {
      ++read;
    } else {
      ++refused;
      ASSERT_FALSE(model.error().message.empty());
      ASSERT_EQ(model.error().code, ErrorCode::Input);
    }
    const auto config = pt2::readPayloadConfig(json, "data/weights/", {});
    ASSERT_TRUE(config || config.error().code == ErrorCode::Input);
  }
  EXPECT_GT(read, kRounds / 100);
  EXPECT_GT(refused, kRounds / 100);
}

// Inputs that were, or could have been, the undoing of a reader; what a fuzzer finds is added.
TEST(Mutation, RegressionsGiveAValueOrAnError) {
  const testing::SmallCatalogue catalogue;
  const std::filesystem::path folder = NEURONCHECK_SOURCE_DIR "/scanner/tests/regressions";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++files;
    const std::string bytes = readFile(entry.path());
    const auto identified =
        identifySource(std::shared_ptr<const ByteSource>(memorySource(bytes)), {});
    EXPECT_TRUE(identified) << entry.path();
    if (identified && identified->archive) {
      const auto inventory = pt2::readPrograms(*identified->archive, catalogue, {});
      EXPECT_TRUE(inventory || !inventory.error().message.empty()) << entry.path();
    }
    const auto model = pt2::readModel(PaddedBytes(bytes), "model", catalogue, {});
    EXPECT_TRUE(model || !model.error().message.empty()) << entry.path();
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace neuroncheck::scanner

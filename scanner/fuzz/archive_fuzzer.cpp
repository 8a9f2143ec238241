// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file: told apart, every record of a zip read, every program in it scanned.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "scanner/identify/identify.h"
#include "scanner/pt2/program_archive.h"
#include "scanner/tests/small_catalogue.h"

namespace {

constexpr std::uint64_t kMaxRecord = std::uint64_t{1} << 20;
constexpr std::size_t kMaxRecords = 64;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neuroncheck::scanner;
  static const testing::SmallCatalogue kCatalogue;
  const Limits limits{.maxJsonBytes = kMaxRecord,
                      .maxDirectoryBytes = kMaxRecord,
                      .maxEntries = 10'000,
                      .maxDepth = 128};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto identified =
      identifySource(std::shared_ptr<const ByteSource>(memorySource(bytes)), limits);
  if (!identified || !identified->archive) {
    return 0;
  }
  const ZipArchive& zip = identified->archive->zip();
  for (std::size_t i = 0; i < std::min(zip.entries().size(), kMaxRecords); ++i) {
    const auto record = zip.read(i, kMaxRecord);
    const auto start = zip.readStart(i, 100);
    if (record && start && !record->bytes.view().starts_with(*start)) {
      __builtin_trap();
    }
  }
  const auto inventory = pt2::readPrograms(*identified->archive, kCatalogue, limits);
  if (!inventory && inventory.error().message.empty()) {
    __builtin_trap();
  }
  return 0;
}

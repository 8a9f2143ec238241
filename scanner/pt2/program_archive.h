// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/open.h"

namespace neuroncheck::scanner::pt2 {

/// Rules of the notes about a file (scanner/README.md).
inline constexpr std::string_view kRuleDuplicate = "NC101";
inline constexpr std::string_view kRuleChecksum = "NC102";
inline constexpr std::string_view kRuleCompiledBeside = "NC103";
inline constexpr std::string_view kRulePayload = "NC104";

/// The three layouts torch.export.save has written: flat (2.1 to 2.7), a PT2 archive whose payloads
/// are torch.save blobs (2.8), and one whose payloads are raw records with a config (2.9 and
/// later).
enum class ArchiveLayout : std::uint8_t { Flat, Blobs, Raw };
[[nodiscard]] std::string_view letter(ArchiveLayout layout);

/// What a PT2 archive holds, from its record names alone.
struct ProgramContents {
  ArchiveLayout layout = ArchiveLayout::Raw;
  struct Program {
    std::string name;
    std::size_t record = 0;  ///< index of its JSON
  };
  std::vector<Program> programs;
  std::vector<std::string> compiled;  ///< AOTInductor packages
};
[[nodiscard]] ProgramContents contentsOf(const RootedArchive& archive);

/// True for a PT2 archive of any layout, programs or compiled packages.
[[nodiscard]] bool isProgramArchive(const RootedArchive& archive);

/// Names that occur more than once, each with what is to be said of it.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> duplicateRecords(
    const RootedArchive& archive);

/// Reads every program of the archive: versions first, then the JSON records and payload configs,
/// never a payload. Of the pickles beside them the names are read that loading would run.
[[nodiscard]] Result<Inventory> readPrograms(const RootedArchive& archive,
                                             const SchemaSource& schemas, const Limits& limits);

}  // namespace neuroncheck::scanner::pt2

// SPDX-License-Identifier: Apache-2.0
#include "scanner/open.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/byte_source.h"
#include "scanner/archive/printable.h"
#include "scanner/checkpoint/describe.h"
#include "scanner/checkpoint/hf_config.h"
#include "scanner/checkpoint/hf_export.h"
#include "scanner/checkpoint/hf_folder.h"
#include "scanner/checkpoint/record_pickles.h"
#include "scanner/checkpoint/safetensors.h"
#include "scanner/checkpoint/torch_save.h"
#include "scanner/identify/identify.h"
#include "scanner/pt2/program_archive.h"
#include "scanner/torchscript/torchscript.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kMostNotes = 100;

bool isFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Error notAProgram(const Identification& identification) {
  std::string message = fmt::format("{}: {}", name(identification.kind), identification.detail);
  if (!identification.remedy.empty()) {
    message += "\n" + identification.remedy;
  }
  return Error{.code = ErrorCode::Input, .message = std::move(message), .context = {}};
}

/// The tensors of a file that holds no program; nullopt for a kind that has none to read.
std::optional<Result<Checkpoint>> readCheckpoint(const ByteSource& source,
                                                 const Identified& identified) {
  switch (identified.identification.kind) {
    case FileKind::TorchSave:
    case FileKind::PickledModule:
    case FileKind::Pickle:
      break;
    case FileKind::Safetensors:
      return readSafetensors(source);
    default:
      return std::nullopt;
  }
  if (identified.archive) {
    return readSavedZip(*identified.archive);
  }
  const auto start = source.readUpTo(0, 262);
  const bool tar = start && start->size() == 262 && start->ends_with("ustar");
  return tar ? readSavedTar(source) : readSavedStream(source);
}

Scanned failed(FileKind kind, std::uint64_t size, Error error, const std::string& path) {
  return {.kind = kind,
          .size = size,
          .inventory = tl::unexpected(std::move(error).within(path)),
          .noProgram = std::nullopt};
}

Scanned withCheckpoint(const std::string& path, std::uint64_t size,
                       const Identification& identification, Result<Checkpoint> checkpoint) {
  if (!checkpoint) {
    return failed(
        identification.kind, size,
        Error{.code = ErrorCode::Input,
              .message = fmt::format("{}: {}, and it cannot be read: {}", name(identification.kind),
                                     identification.detail, checkpoint.error().text()),
              .context = {}},
        path);
  }
  Identification described = identification;
  const std::size_t of = described.detail.find(" of ");
  if (identification.kind == FileKind::TorchSave && of != std::string::npos) {
    // Telling the file apart counted its storages; now the tensors are known.
    described.detail = fmt::format("{} of {}, no program", described.detail.substr(0, of),
                                   counted(checkpoint->tensors.size(), "tensor", "tensors"));
  }
  if (identification.kind == FileKind::HfFolder) {
    if (const auto config = readHfConfig(path)) {
      described.remedy = exportLines(path, *config);
    }
  }
  if (const std::string holds = describe(*checkpoint); !holds.empty()) {
    described.detail += "\n" + holds;
  }
  Inventory inventory;
  inventory.path = path;
  inventory.kind = identification.kind;
  inventory.size = size;
  inventory.notes = notesOf(*checkpoint);
  inventory.checkpoint = *std::move(checkpoint);
  return {.kind = identification.kind,
          .size = size,
          .inventory = std::move(inventory),
          .noProgram = notAProgram(described).within(path)};
}

/// Records of one name in a checkpoint's archive.
void noteDuplicates(const Identified& identified, Scanned& scanned) {
  if (!identified.archive || !scanned.inventory) {
    return;
  }
  for (const auto& [name, message] : pt2::duplicateRecords(*identified.archive)) {
    scanned.inventory->notes.push_back(
        {.rule = std::string(pt2::kRuleDuplicate), .record = printable(name), .message = message});
    if (scanned.noProgram) {
      scanned.noProgram->message += fmt::format("\nRecord {}: {}.", printable(name), message);
    }
    if (scanned.inventory->notes.size() > kMostNotes) {
      break;
    }
  }
}

}  // namespace

Result<Identification> identify(const std::string& path, const Limits& limits) {
  if (isFolder(path)) {
    return identifyFolder(path);
  }
  auto source = openFile(path);
  if (!source) {
    return tl::unexpected(std::move(source).error().within(path));
  }
  auto identified = identifySource(std::move(*source), limits);
  if (!identified) {
    return tl::unexpected(std::move(identified).error().within(path));
  }
  return std::move(identified->identification);
}

Scanned scan(const std::string& path, const SchemaSource& schemas, const ScanOptions& options) {
  if (isFolder(path)) {
    auto folder = identifyFolder(path);
    if (!folder) {
      return failed(FileKind::Unknown, 0, std::move(folder).error(), path);
    }
    return folder->kind == FileKind::HfFolder ? withCheckpoint(path, 0, *folder, readHfFolder(path))
                                              : failed(folder->kind, 0, notAProgram(*folder), path);
  }
  auto opened = openFile(path);
  if (!opened) {
    return failed(FileKind::Unknown, 0, std::move(opened).error(), path);
  }
  const std::shared_ptr<const ByteSource> source = *std::move(opened);
  const std::uint64_t size = source->size();
  auto identified = identifySource(source, options.limits);
  if (!identified) {
    return failed(FileKind::Unknown, size, std::move(identified).error(), path);
  }
  const FileKind kind = identified->identification.kind;
  if (auto checkpoint = readCheckpoint(*source, *identified)) {
    Scanned scanned =
        withCheckpoint(path, size, identified->identification, *std::move(checkpoint));
    noteDuplicates(*identified, scanned);
    return scanned;
  }
  if (kind == FileKind::TorchPackage) {
    RecordPickles pickles(*identified->archive);
    pickles.lookAtAll();
    for (const FileNote& note : pickles.notes(false)) {
      identified->identification.detail += "\n" + note.message;
    }
  }
  const bool script = kind == FileKind::TorchScript;
  if ((kind != FileKind::ExportedProgram && !script) || !identified->archive) {
    return failed(kind, size, notAProgram(identified->identification), path);
  }
  auto inventory = script ? readTorchScript(path, *identified->archive, schemas, options)
                          : pt2::readPrograms(*identified->archive, schemas, options.limits);
  if (!inventory && inventory.error().code == ErrorCode::Usage) {
    return failed(kind, size, std::move(inventory).error(), path);
  }
  if (!inventory && script) {
    Identification unreadable = identified->identification;
    unreadable.detail += ", and it cannot be read: " + inventory.error().text();
    return failed(FileKind::Damaged, size, notAProgram(unreadable), path);
  }
  if (!inventory) {
    // It has the records of a program, but they cannot be read.
    return failed(FileKind::Damaged, size, std::move(inventory).error(), path);
  }
  inventory->path = path;
  inventory->size = size;
  return {.kind = kind, .size = size, .inventory = std::move(inventory), .noProgram = std::nullopt};
}

}  // namespace neuroncheck::scanner

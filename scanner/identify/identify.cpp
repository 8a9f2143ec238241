// SPDX-License-Identifier: Apache-2.0
#include "scanner/identify/identify.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/identify/pickle_walk.h"
#include "scanner/identify/remedies.h"
#include "scanner/pt2/program_archive.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kStartBytes = std::size_t{64} << 10;
/// The pickle of a checkpoint holds names and shapes only; a longer one is told by its start.
constexpr std::size_t kPickleBytes = std::size_t{16} << 20;

Identification make(FileKind kind, std::string detail, std::string_view remedy = {}) {
  return {.kind = kind, .detail = std::move(detail), .remedy = std::string(remedy)};
}

/// Why an archive with torch's records is none of torch: one name outside the folder that holds the
/// others.
std::string strayRecord(const RootedArchive& archive) {
  const std::vector<ZipEntry>& entries = archive.zip().entries();
  for (const ZipEntry& entry : entries) {
    const std::string root(entry.name.substr(0, entry.name.find('/') + 1));
    if (root.empty() ||
        !(archive.zip().find(root + "archive_format") || archive.zip().find(root + "data.pkl"))) {
      continue;
    }
    const auto stray = std::ranges::find_if(
        entries, [&root](const ZipEntry& other) { return !other.name.starts_with(root); });
    if (stray != entries.end()) {
      return fmt::format(": the record name '{:.80}' is outside the folder '{}' of the others",
                         printable(stray->name), printable(root));
    }
  }
  return {};
}

Identification identifyProgram(const RootedArchive& archive) {
  const pt2::ProgramContents contents = pt2::contentsOf(archive);
  if (!contents.programs.empty()) {
    std::string detail =
        fmt::format("exported program, archive layout {}, {}", pt2::letter(contents.layout),
                    counted(contents.programs.size(), "model", "models"));
    if (!contents.compiled.empty()) {
      detail +=
          ", beside " + counted(contents.compiled.size(), "compiled package", "compiled packages");
    }
    return make(FileKind::ExportedProgram, std::move(detail));
  }
  if (!contents.compiled.empty()) {
    std::string names;
    for (const std::string& name : contents.compiled) {
      names += (names.empty() ? "" : ", ") + printable(name);
    }
    return make(FileKind::AotInductorPackage,
                fmt::format("AOTInductor package, compiled code of {} ({}), no graph to analyse",
                            counted(contents.compiled.size(), "model", "models"), names),
                remedyFromModel());
  }
  return make(FileKind::Damaged, "PT2 archive without a model and without a compiled package",
              remedyFromModel());
}

Identification identifyTorchScript(const RootedArchive& archive) {
  std::uint64_t code = 0;
  for (std::size_t i = 0; i < archive.count(); ++i) {
    const std::string_view name = archive.name(i);
    code += name.starts_with("code/") && name.ends_with(".py") ? 1 : 0;
  }
  return make(FileKind::TorchScript,
              fmt::format("TorchScript archive with {}{}", counted(code, "code file", "code files"),
                          archive.has("bytecode.pkl") ? " and mobile bytecode" : ""),
              remedyFromModel());
}

/// A pickle of torch.save, zip or legacy: a module object, or tensors and other data.
Identification identifySaved(const PickleWalk& walk, std::string_view container) {
  if (walk.modulePickle && walk.startsWithGlobal && walk.firstGlobal != "collections.OrderedDict") {
    return make(FileKind::PickledModule,
                fmt::format("{} of a whole module ({}): Python objects, no program", container,
                            printable(walk.firstGlobal)),
                remedyFromModel());
  }
  const bool complete = walk.valid;
  return make(FileKind::TorchSave,
              fmt::format("{} of {}{}, no program", container, complete ? "" : "at least ",
                          counted(walk.persistentIds, "tensor", "tensors")),
              remedyFromWeights());
}

Identification identifySavedZip(const RootedArchive& archive, std::size_t pickle) {
  const auto bytes = archive.zip().readStart(pickle, kPickleBytes);
  if (!bytes) {
    return make(FileKind::Damaged,
                "torch.save zip whose pickle cannot be read: " + bytes.error().text());
  }
  return identifySaved(walkPickle(*bytes), "torch.save zip");
}

}  // namespace

Identification identifyZip(const RootedArchive& archive) {
  if (pt2::isProgramArchive(archive)) {
    return identifyProgram(archive);
  }
  if (archive.has("constants.pkl")) {
    return identifyTorchScript(archive);
  }
  if (archive.has(".data/extern_modules")) {
    return make(FileKind::TorchPackage,
                "torch.package archive: Python sources, which run when it is imported, and pickled "
                "objects, no program",
                remedyFromModel());
  }
  if (archive.has("model.json") && archive.hasFolder("tensors/")) {
    return make(FileKind::TorchScript, "TorchScript archive of PyTorch 1.0", remedyFromModel());
  }
  if (const auto pickle = archive.find("data.pkl")) {
    return identifySavedZip(archive, *pickle);
  }
  if (archive.has("word/document.xml") || archive.has("[Content_Types].xml")) {
    return make(FileKind::Unknown, "zip archive of an office document");
  }
  return make(FileKind::Unknown,
              fmt::format("zip archive of {}, none of them of PyTorch{}",
                          counted(archive.count(), "record", "records"), strayRecord(archive)));
}

Result<Identified> identifySource(std::shared_ptr<const ByteSource> source, const Limits& limits) {
  NEURONCHECK_TRY(const std::string start, source->readUpTo(0, kStartBytes));
  Identified result;
  const bool flatbuffer = start.size() >= 8 && std::string_view(start).substr(4, 4) == "PTMF";
  const bool zip = start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06");
  if (flatbuffer || !zip) {
    NEURONCHECK_TRY(result.identification, identifyPlain(*source, start));
    return result;
  }
  auto archive = ZipArchive::open(std::move(source), {.maxDirectoryBytes = limits.maxDirectoryBytes,
                                                      .maxEntries = limits.maxEntries});
  if (!archive) {
    result.identification = make(FileKind::Damaged, archive.error().text());
    return result;
  }
  result.archive.emplace(std::move(*archive));
  result.identification = identifyZip(*result.archive);
  return result;
}

Result<Identification> identifyFolder(const std::string& path) {
  std::error_code error;
  std::set<std::string> names;
  std::uint64_t programs = 0;
  bool weights = false;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    names.insert(name);
    programs += name.ends_with(".pt2") ? 1 : 0;
    weights = weights || name.ends_with(".safetensors") ||
              name.ends_with(".safetensors.index.json") ||
              (name.starts_with("pytorch_model") &&
               (name.ends_with(".bin") || name.ends_with(".index.json")));
  }
  if (error) {
    return inputError("the folder cannot be read: " + error.message());
  }
  if (names.contains("config.json") && weights) {
    return make(FileKind::HfFolder,
                "Hugging Face model folder: a configuration and weights, no program",
                remedyFromPretrained());
  }
  if (programs > 0) {
    return make(FileKind::Unknown,
                fmt::format("folder with {} named *.pt2; name the files themselves",
                            counted(programs, "file", "files")));
  }
  return make(FileKind::Unknown,
              fmt::format("folder of {}", counted(names.size(), "entry", "entries")),
              remedyFromModel());
}

}  // namespace neuroncheck::scanner

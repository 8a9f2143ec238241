// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/program_archive.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/checkpoint/record_pickles.h"
#include "scanner/pt2/document.h"
#include "scanner/pt2/model_reader.h"
#include "scanner/pt2/payload_config.h"

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr std::string_view kFlatProgram = "serialized_exported_program.json";
constexpr std::string_view kModels = "models/";
constexpr std::string_view kJson = ".json";
constexpr std::string_view kCompiled = "data/aotinductor/";
/// Highest container version of torch 2.13 (caffe2/serialize/versions.h).
constexpr std::int64_t kContainerVersion = 10;
constexpr std::uint64_t kSmallRecord = 4096;
constexpr std::size_t kMaxNotes = 100;

class ProgramReader {
 public:
  ProgramReader(const RootedArchive& archive, const SchemaSource& schemas, const Limits& limits)
      : archive_(archive), schemas_(schemas), limits_(limits), contents_(contentsOf(archive)) {}

  [[nodiscard]] Result<Inventory> read();

 private:
  [[nodiscard]] Result<PaddedBytes> record(std::size_t index, std::uint64_t maxBytes);
  [[nodiscard]] Result<std::optional<std::string>> smallText(std::string_view name);
  [[nodiscard]] Result<void> checkVersions();
  [[nodiscard]] Result<void> readProgram(const ProgramContents::Program& program);
  [[nodiscard]] Result<void> readConfigs(Model& model);
  [[nodiscard]] Result<bool> readConfig(const std::string& folder, const std::string& config,
                                        Model& model, std::vector<StoredTensor>& stored);
  void nameBlobs(Model& model);
  void noteDuplicates();
  void noteCompiled();
  void checkPayload(const StoredTensor& tensor, bool pickled);
  void lookAtPickles();
  /// Claimed size of a record, -1 when there is none.
  [[nodiscard]] std::int64_t recordSize(std::string_view name) const;
  void note(std::string_view rule, std::string_view record, std::string message);

  const RootedArchive& archive_;
  const SchemaSource& schemas_;
  const Limits& limits_;
  ProgramContents contents_;
  RecordPickles pickles_{archive_};
  Inventory inventory_;
  std::size_t notesLeftOut_ = 0;
  std::uint64_t bytesLeft_ = limits_.maxJsonBytes;
};

void ProgramReader::note(std::string_view rule, std::string_view record, std::string message) {
  if (inventory_.notes.size() >= kMaxNotes) {
    ++notesLeftOut_;
    return;
  }
  inventory_.notes.push_back(
      {.rule = std::string(rule), .record = printable(record), .message = std::move(message)});
}

std::int64_t ProgramReader::recordSize(std::string_view name) const {
  const auto index = archive_.find(name);
  return index ? static_cast<std::int64_t>(
                     std::min<std::uint64_t>(archive_.zip().entries()[*index].size, INT64_MAX))
               : -1;
}

Result<PaddedBytes> ProgramReader::record(std::size_t index, std::uint64_t maxBytes) {
  // One bound over all records: many that inflate well are as bad as a big one.
  NEURONCHECK_TRY(ZipArchive::Record record,
                  archive_.zip().read(index, std::min(maxBytes, bytesLeft_)));
  bytesLeft_ -= record.bytes.size();
  // Text of a real graph deflates to a fortieth at best: more values than such a text has are a
  // bomb.
  constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;
  constexpr std::uint64_t kMemoryPerPacked = 160;
  const std::uint64_t packed = archive_.zip().entries()[index].compressedSize;
  const auto fits = checkMemory(record.bytes.view(), std::max(kMemory, kMemoryPerPacked * packed));
  if (!fits) {
    return tl::unexpected(Error(fits.error()).within("record " + printable(archive_.name(index))));
  }
  if (!record.checksumMatches) {
    const ZipEntry& entry = archive_.zip().entries()[index];
    note(kRuleChecksum, entry.name,
         fmt::format("the checksum is {:08x} but the archive says {:08x}: the record was changed "
                     "or damaged after it was "
                     "written (torch does not verify it)",
                     record.checksum, entry.crc));
  }
  return std::move(record.bytes);
}

Result<std::optional<std::string>> ProgramReader::smallText(std::string_view name) {
  const auto index = archive_.find(name);
  if (!index) {
    return std::nullopt;
  }
  NEURONCHECK_TRY(const PaddedBytes bytes, record(*index, kSmallRecord));
  std::string_view text = bytes.view();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  return std::string(text);
}

Result<void> ProgramReader::checkVersions() {
  if (contents_.layout == ArchiveLayout::Flat) {
    return {};  // its `version` record repeats the schema version of the JSON
  }
  NEURONCHECK_TRY(const auto format, smallText("archive_format"));
  if (format.value_or("pt2") != "pt2") {
    return inputError(fmt::format("record archive_format says '{}', not pt2", printable(*format)));
  }
  NEURONCHECK_TRY(const auto version, smallText("archive_version"));
  if (version.value_or("0") != "0") {
    return inputError(fmt::format("archive version '{}' is not read, the highest known is 0",
                                  printable(*version)));
  }
  NEURONCHECK_TRY(auto container, smallText(".data/version"));
  if (!container) {
    NEURONCHECK_TRY(container, smallText("version"));
  }
  if (container) {
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(container->data(), container->data() + container->size(), number);
    if (error == std::errc() && number > kContainerVersion) {
      return inputError(fmt::format("container version {} is not read, the highest known is {}",
                                    number, kContainerVersion));
    }
  }
  return {};
}

void ProgramReader::checkPayload(const StoredTensor& tensor, bool pickled) {
  if (tensor.recordBytes < 0) {
    note(kRulePayload, tensor.record,
         fmt::format("tensor '{}' names this record, but the archive has none of that name",
                     tensor.name));
    return;
  }
  const std::optional<std::int64_t> needed = storageBytes(tensor.spec);
  if (!pickled && tensor.recordBytes > 0 && needed && *needed > tensor.recordBytes) {
    note(kRulePayload, tensor.record,
         fmt::format("tensor '{}' reaches to byte {} of a record of {} bytes", tensor.name, *needed,
                     tensor.recordBytes));
  }
}

Result<bool> ProgramReader::readConfig(const std::string& folder, const std::string& config,
                                       Model& model, std::vector<StoredTensor>& stored) {
  const auto index = archive_.find(folder + config);
  if (!index) {
    return false;
  }
  NEURONCHECK_TRY(const PaddedBytes bytes, record(*index, limits_.maxJsonBytes));
  auto parsed = readPayloadConfig(bytes, folder, limits_);
  if (!parsed) {
    return tl::unexpected(std::move(parsed).error().within(printable(folder + config)));
  }
  for (std::size_t i = 0; i < parsed->tensors.size(); ++i) {
    StoredTensor& tensor = parsed->tensors[i];
    tensor.recordBytes = recordSize(tensor.record);
    checkPayload(tensor, parsed->pickled[i]);
    if (const auto payload = archive_.find(tensor.record); parsed->pickled[i] && payload) {
      pickles_.look(*payload);
    }
    stored.push_back(std::move(tensor));
  }
  for (const std::string& object : parsed->objects) {
    model.notes.push_back(
        fmt::format("custom object '{}' is pickled in the file and was not opened", object));
  }
  std::ranges::move(parsed->notes, std::back_inserter(model.notes));
  return true;
}

Result<void> ProgramReader::readConfigs(Model& model) {
  std::vector<StoredTensor> stored;
  NEURONCHECK_TRY(const bool weights,
                  readConfig("data/weights/", model.name + "_weights_config.json", model, stored));
  NEURONCHECK_TRY(
      const bool constants,
      readConfig("data/constants/", model.name + "_constants_config.json", model, stored));
  if (!weights && !constants) {
    model.notes.emplace_back(
        "the archive has no payload config: parameters are listed by the graph's inputs alone");
    return {};
  }
  std::set<std::string_view> configured;
  for (const StoredTensor& tensor : stored) {
    configured.insert(tensor.name);
  }
  for (const StoredTensor& wanted : model.stored) {
    if (!configured.contains(wanted.name)) {
      model.notes.push_back(
          fmt::format("'{}' is an input of the graph but no payload config names it", wanted.name));
    }
  }
  const auto missing = [](const StoredTensor& tensor) {
    return tensor.recordBytes == 0 && storageBytes(tensor.spec).value_or(1) > 0;
  };
  if (const auto count = std::ranges::count_if(stored, missing); count > 0) {
    model.notes.push_back(fmt::format(
        "weights are absent: {} of {} payload records are empty; shapes and sizes come from "
        "the metadata",
        count, stored.size()));
  }
  model.stored = std::move(stored);
  return {};
}

/// Layouts A and B keep all payloads in torch.save blobs, which are not opened; only their sizes
/// are known.
void ProgramReader::nameBlobs(Model& model) {
  const bool flat = contents_.layout == ArchiveLayout::Flat;
  const std::string weights =
      flat ? "serialized_state_dict.pt" : "data/weights/" + model.name + ".pt";
  const std::string constants =
      flat ? "serialized_constants.pt" : "data/constants/" + model.name + ".pt";
  std::set<std::string_view> lifted;
  for (const GraphInput& input : model.inputs) {
    if (input.kind == "CONSTANT_TENSOR" || !input.persistent.value_or(true)) {
      lifted.insert(input.target);
    }
  }
  for (StoredTensor& tensor : model.stored) {
    tensor.record = lifted.contains(tensor.name) ? constants : weights;
    tensor.recordBytes = recordSize(tensor.record);
  }
}

Result<void> ProgramReader::readProgram(const ProgramContents::Program& program) {
  NEURONCHECK_TRY(const PaddedBytes bytes, record(program.record, limits_.maxJsonBytes));
  auto model = readModel(bytes, program.name, schemas_, limits_);
  if (!model) {
    return tl::unexpected(
        std::move(model).error().within(printable(archive_.name(program.record))));
  }
  if (contents_.layout == ArchiveLayout::Raw) {
    NEURONCHECK_TRY_VOID(readConfigs(*model));
  } else {
    nameBlobs(*model);
  }
  std::set<std::string> devices(model->madeOn.begin(), model->madeOn.end());
  for (const StoredTensor& tensor : model->stored) {
    devices.insert(tensor.spec.device.type);
  }
  model->madeOn.assign(devices.begin(), devices.end());
  model->name = printable(model->name);
  inventory_.models.push_back(std::move(*model));
  return {};
}

/// The records that torch.export.load unpickles, beside the pickled weights that a config names.
void ProgramReader::lookAtPickles() {
  for (std::size_t i = 0; i < archive_.count(); ++i) {
    const std::string_view name = archive_.name(i);
    const bool folder = name.starts_with("data/sample_inputs/") ||
                        name.starts_with("data/weights/") || name.starts_with("data/constants/");
    if ((folder && name.ends_with(".pt")) || name.starts_with("data/constants/opaque_obj") ||
        (name.starts_with("serialized_") && name.ends_with(".pt"))) {
      pickles_.look(i);
    }
  }
  for (FileNote& found : pickles_.notes(true)) {
    inventory_.notes.push_back(std::move(found));
  }
}

void ProgramReader::noteDuplicates() {
  for (const auto& [name, message] : duplicateRecords(archive_)) {
    note(kRuleDuplicate, name, message);
  }
}

void ProgramReader::noteCompiled() {
  for (const std::string& name : contents_.compiled) {
    note(kRuleCompiledBeside, std::string(kCompiled) + name,
         fmt::format("compiled (AOTInductor) package '{}' lies beside the graph; it holds no graph "
                     "and was not opened",
                     name));
  }
  std::ranges::transform(contents_.compiled, std::back_inserter(inventory_.compiledModels),
                         [](const std::string& name) { return printable(name); });
}

Result<Inventory> ProgramReader::read() {
  inventory_.kind = FileKind::ExportedProgram;
  inventory_.layout = letter(contents_.layout);
  NEURONCHECK_TRY_VOID(checkVersions());
  noteDuplicates();
  noteCompiled();
  for (const ProgramContents::Program& program : contents_.programs) {
    NEURONCHECK_TRY_VOID(readProgram(program));
  }
  lookAtPickles();
  if (notesLeftOut_ > 0) {
    inventory_.notes.push_back(
        {.rule = std::string(kRulePayload),
         .record = {},
         .message = fmt::format("{} more notes about the file are left out", notesLeftOut_)});
  }
  std::set<std::string> producers;
  for (const Model& model : inventory_.models) {
    producers.insert(fmt::format("torch {}, export schema {}.{}", model.torchVersion,
                                 model.schemaMajor, model.schemaMinor));
  }
  for (const std::string& producer : producers) {
    inventory_.producer += (inventory_.producer.empty() ? "" : "; ") + producer;
  }
  return std::move(inventory_);
}

}  // namespace

std::string_view letter(ArchiveLayout layout) {
  switch (layout) {
    case ArchiveLayout::Flat:
      return "A";
    case ArchiveLayout::Blobs:
      return "B";
    case ArchiveLayout::Raw:
      return "C";
  }
  return "?";
}

std::vector<std::pair<std::string_view, std::string>> duplicateRecords(
    const RootedArchive& archive) {
  std::vector<std::pair<std::string_view, std::string>> found;
  for (const auto& [name, count] : archive.zip().duplicates()) {
    found.emplace_back(
        name, fmt::format("the archive holds {} records of this name; the last one is read here, "
                          "torch may read another, and they may hold different things",
                          count));
  }
  return found;
}

ProgramContents contentsOf(const RootedArchive& archive) {
  ProgramContents contents;
  bool config = false;
  bool blob = false;
  std::set<std::string_view> compiled;
  for (std::size_t i = 0; i < archive.count(); ++i) {
    const std::string_view name = archive.name(i);
    if (name == kFlatProgram && archive.find(name) == i) {
      contents.layout = ArchiveLayout::Flat;
      contents.programs.push_back({.name = "model", .record = i});
      return contents;
    }
    // Of records with the same name only the last counts.
    if (name.starts_with(kModels) && name.ends_with(kJson) &&
        name.size() > kModels.size() + kJson.size() && archive.find(name) == i) {
      contents.programs.push_back(
          {.name = std::string(
               name.substr(kModels.size(), name.size() - kModels.size() - kJson.size())),
           .record = i});
    }
    config =
        config || ((name.starts_with("data/weights/") || name.starts_with("data/constants/")) &&
                   name.ends_with("_config.json"));
    blob = blob || (name.starts_with("data/weights/") && name.ends_with(".pt"));
    if (name.starts_with(kCompiled)) {
      const std::string_view rest = name.substr(kCompiled.size());
      if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
        compiled.insert(rest.substr(0, slash));
      }
    }
  }
  contents.layout = blob && !config ? ArchiveLayout::Blobs : ArchiveLayout::Raw;
  contents.compiled.assign(compiled.begin(), compiled.end());
  return contents;
}

bool isProgramArchive(const RootedArchive& archive) {
  const ProgramContents contents = contentsOf(archive);
  return !contents.compiled.empty() || contents.layout == ArchiveLayout::Flat ||
         archive.has("archive_format") ||
         (!contents.programs.empty() && archive.has("archive_version"));
}

Result<Inventory> readPrograms(const RootedArchive& archive, const SchemaSource& schemas,
                               const Limits& limits) {
  return ProgramReader(archive, schemas, limits).read();
}

}  // namespace neuroncheck::scanner::pt2

// SPDX-License-Identifier: Apache-2.0
#include "scanner/torchscript/torchscript.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/inventory_json.h"
#include "scanner/archive/printable.h"
#include "scanner/checkpoint/record_pickles.h"
#include "scanner/pt2/groups.h"

namespace neuroncheck::scanner {
namespace {

/// Code of a module is text a person could have written; more of it is no module.
constexpr std::uint64_t kMostSource = std::uint64_t{64} << 20;
constexpr std::size_t kMostCalls = 200'000;

void complete(Model& model, const SchemaSource& schemas) {
  std::set<std::string> graphs;
  for (OpUse& use : model.uses) {
    const OpInfo* info = schemas.find(use.op);
    use.inCatalogue = info != nullptr;
    use.group = pt2::groupOf(use, info);
    if (!use.graph.empty() && graphs.insert(use.graph).second) {
      model.subgraphs.push_back(use.graph);
    }
  }
}

Json requestFor(const std::string& path, const std::vector<SourceFile>& files,
                const ScanOptions& options) {
  Json request{{"do", "torchscript"},
               {"path", path},
               {"input_shapes", Json::array()},
               {"custom_calls", Json::array()},
               {"libraries", options.libraries}};
  for (const InputShape& shape : options.inputShapes) {
    request["input_shapes"].push_back({{"sizes", shape.sizes}, {"dtype", name(shape.dtype)}});
  }
  for (const SourceFile& file : files) {
    for (const SourceCall& call : file.calls) {
      if (!call.op.starts_with("aten::")) {
        request["custom_calls"].push_back({{"op", call.op},
                                           {"positional", call.positional},
                                           {"keywords", call.keywords},
                                           {"unpacked", call.unpacked}});
      }
    }
  }
  return request;
}

/// What the file was refused while it was loaded.
void noteAttempts(const Json& answer, std::vector<FileNote>& notes) {
  std::string tried;
  for (const Json& attempt : answer.value("attempts", Json::array())) {
    const std::string words = printable(attempt.is_string() ? attempt.get<std::string>() : "");
    if (tried.find(words) == std::string::npos) {
      tried += (tried.empty() ? "" : ", ") + words;
    }
  }
  if (!tried.empty()) {
    notes.push_back({.rule = "NC115",
                     .record = "code",
                     .message = fmt::format("loading this file runs code of it, which tried to {}; "
                                            "the sandbox refused",
                                            tried)});
  }
}

/// libtorch reads the pickles of an archive without Python, so that names in them run nothing; who
/// opens them with Python's pickle is in danger.
void noteCommands(const RootedArchive& archive, std::vector<FileNote>& notes) {
  RecordPickles pickles(archive);
  pickles.lookAtAll();
  std::ranges::move(pickles.notes(false), std::back_inserter(notes));
}

/// The sentence of libtorch's message that says why: the interpreter puts a stack before it, the
/// dispatcher a list of backends after it, and addresses differ from run to run.
std::string shortReason(std::string message) {
  constexpr std::string_view kStack =
      "The following operation failed in the TorchScript interpreter";
  while (message.ends_with('\n')) {
    message.pop_back();
  }
  if (message.starts_with(kStack)) {
    message = message.substr(message.rfind('\n') + 1);
  }
  // Errors of its compiler start with an empty line.
  message.erase(0, std::min(message.find_first_not_of(" \n"), message.size()));
  message = message.substr(0, message.find('\n'));
  message = message.substr(0, message.find(" This could be because"));
  static const std::regex address("0x[0-9a-f]{6,}");
  return printable(std::regex_replace(message, address, "0x..."), 400);
}

/// An answer of the host: the inventory, or why there is none.
struct HostAnswer {
  std::optional<Inventory> inventory;
  std::string failed;
  std::vector<FileNote> notes;
};

Result<HostAnswer> askHost(const Json& request, const ScanOptions& options) {
  HostAnswer out;
  auto answer = options.torchHost(request);
  if (!answer) {
    if (answer.error().code == ErrorCode::Usage) {
      return tl::unexpected(std::move(answer).error());
    }
    out.failed = answer.error().text();
    return out;
  }
  noteAttempts(*answer, out.notes);
  const std::string sandbox = answer->value("sandbox", "");
  if (!sandbox.empty() && sandbox != "complete") {
    out.notes.push_back(
        {.rule = "NC116",
         .record = "",
         .message = fmt::format("this machine gave an incomplete sandbox to load the file in: {}",
                                sandbox)});
  }
  if (const auto refused = answer->find("refused"); refused != answer->end()) {
    return fail(ErrorCode::Usage, refused->get<std::string>());
  }
  if (const auto failed = answer->find("failed"); failed != answer->end()) {
    out.failed = failed->get<std::string>();
    return out;
  }
  auto inventory = inventoryFromJson(answer->value("inventory", Json::object()));
  if (!inventory) {
    out.failed = "its answer cannot be read: " + inventory.error().text();
    return out;
  }
  out.inventory = *std::move(inventory);
  return out;
}

}  // namespace

Result<std::vector<SourceFile>> readSourceCalls(const RootedArchive& archive,
                                                const Limits& limits) {
  std::vector<SourceFile> files;
  std::uint64_t left = std::min(kMostSource, limits.maxJsonBytes);
  std::size_t calls = 0;
  for (std::size_t i = 0; i < archive.count(); ++i) {
    const std::string_view name = archive.name(i);
    if (!name.starts_with("code/") || !name.ends_with(".py")) {
      continue;
    }
    auto record = archive.zip().read(i, left);
    if (!record) {
      return tl::unexpected(std::move(record).error().within(printable(name)));
    }
    left -= record->bytes.size();
    std::vector<SourceCall> found = findCalls(record->bytes.view(), kMostCalls + 1);
    calls += found.size();
    if (calls > kMostCalls) {
      return inputError(
          fmt::format("its source calls more than {} operators, which no module does; "
                      "{} is where they end",
                      kMostCalls, printable(name)));
    }
    files.push_back({.name = printable(name), .calls = std::move(found)});
  }
  return files;
}

Model approximateModel(const std::vector<SourceFile>& files, const SchemaSource& schemas) {
  Model model;
  model.name = "source";
  model.dialect = "torchscript";
  model.shapes = ShapeOrigin::Unknown;
  model.approximate = true;
  for (const SourceFile& file : files) {
    for (const SourceCall& call : file.calls) {
      const auto op = OpName::parse(call.op);
      if (!op) {
        continue;
      }
      if (op->ns == "aten" && schemas.overloads(op->packet()).empty()) {
        ++model.interpreterOps[call.op];
        continue;
      }
      OpUse use;
      use.id = static_cast<std::uint32_t>(model.uses.size());
      use.op = *op;
      use.inCatalogue = !schemas.overloads(op->packet()).empty();
      use.node = fmt::format("{}_{}", op->base, call.line);
      use.source = {.file = file.name, .line = call.line};
      use.lastFrame = use.source;
      use.conditional = call.conditional;
      use.inLoop = call.inLoop;
      use.group = pt2::groupOf(use, schemas.find(*op));
      model.uses.push_back(std::move(use));
    }
  }
  model.nodeCount = model.uses.size();
  return model;
}

Result<Inventory> readTorchScript(const std::string& path, const RootedArchive& archive,
                                  const SchemaSource& schemas, const ScanOptions& options) {
  NEURONCHECK_TRY_VOID(checkFileVersion(archive));
  NEURONCHECK_TRY(const std::vector<SourceFile> files, readSourceCalls(archive, options.limits));
  std::string why = options.torchHostAbsent;
  std::vector<FileNote> notes;
  if (options.torchHost) {
    NEURONCHECK_TRY(HostAnswer answer, askHost(requestFor(path, files, options), options));
    if (answer.inventory) {
      for (Model& model : answer.inventory->models) {
        complete(model, schemas);
      }
      answer.inventory->notes = std::move(answer.notes);
      noteCommands(archive, answer.inventory->notes);
      return *std::move(answer.inventory);
    }
    why = "libtorch cannot load it: " + shortReason(answer.failed);
    notes = std::move(answer.notes);
  }
  if (files.empty()) {
    return inputError("it has no code records; " + why);
  }
  Inventory inventory;
  inventory.kind = FileKind::TorchScript;
  inventory.notes = std::move(notes);
  noteCommands(archive, inventory.notes);
  inventory.models.push_back(approximateModel(files, schemas));
  inventory.models.back().notes.push_back(
      fmt::format("operators are the names in the archive's readable source, each call counted "
                  "once, without overloads and operands: {}",
                  why));
  if (!options.inputShapes.empty()) {
    inventory.models.back().notes.emplace_back(
        "the input shapes were not used: names have no shapes to follow");
  }
  return inventory;
}

}  // namespace neuroncheck::scanner

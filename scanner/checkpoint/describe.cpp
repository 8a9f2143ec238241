// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/describe.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kMostNamed = 3;

std::string sizeText(double bytes) {
  constexpr double kStep = 1000;
  std::string_view unit = "bytes";
  for (const std::string_view next : {"kB", "MB", "GB", "TB"}) {
    if (bytes < kStep) {
      break;
    }
    bytes /= kStep;
    unit = next;
  }
  return unit == "bytes" ? fmt::format("{:.0f} {}", bytes, unit)
                         : fmt::format("{:.1f} {}", bytes, unit);
}

/// Memory of all tensors; a storage that several share counts once.
double bytesOf(const Checkpoint& checkpoint) {
  double bytes = 0;
  std::set<std::string_view> seen;
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    if (!tensor.storage.empty()) {
      const bool isNew = seen.insert(tensor.storage).second;
      bytes += isNew && tensor.storageBytes > 0 ? static_cast<double>(tensor.storageBytes) : 0;
    } else {
      bytes += static_cast<double>(tensor.spec.byteCount().value_or(0));
    }
  }
  return bytes;
}

std::string dtypesText(const Checkpoint& checkpoint) {
  std::map<std::string_view, std::size_t> counts;
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    ++counts[name(tensor.spec.dtype)];
  }
  std::vector<std::pair<std::size_t, std::string_view>> sorted;
  sorted.reserve(counts.size());
  for (const auto& [dtype, count] : counts) {
    sorted.emplace_back(count, dtype);
  }
  std::ranges::sort(sorted, std::ranges::greater());
  std::string out;
  for (const auto& [count, dtype] : sorted) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, dtype);
  }
  return out;
}

/// "a, b, c and 4 more".
std::string namesText(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  std::string out = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return names.size() > shown ? fmt::format("{} and {} more", out, names.size() - shown) : out;
}

std::vector<std::string> globalsOf(const std::vector<PickleGlobal>& globals, GlobalRisk risk) {
  std::vector<std::string> names;
  for (const PickleGlobal& global : globals) {
    if (global.risk == risk) {
      names.push_back(printable(global.name, 120));
    }
  }
  return names;
}

}  // namespace

std::string describe(const Checkpoint& checkpoint) {
  std::string out;
  if (!checkpoint.tensors.empty()) {
    out = fmt::format("Tensors: {}; {}", dtypesText(checkpoint), sizeText(bytesOf(checkpoint)));
    if (!checkpoint.modules.empty()) {
      out += fmt::format("; in {}", counted(checkpoint.modules.size(), "module", "modules"));
    }
    out += '.';
  }
  if (!checkpoint.impliedOps.empty()) {
    std::vector<std::string> ops;
    ops.reserve(checkpoint.impliedOps.size());
    for (const auto& [op, count] : checkpoint.impliedOps) {
      ops.push_back(fmt::format("{} x{}", op, count));
    }
    out += fmt::format(
        "\nIts torch.nn modules imply (approximately; its own code is not in the file): {}.",
        fmt::join(ops, ", "));
  }
  for (const FileNote& note : notesOf(checkpoint)) {
    out += (out.empty() ? "" : "\n") + note.message;
  }
  return out;
}

std::vector<FileNote> globalNotes(const std::vector<PickleGlobal>& globals,
                                  std::string_view subject) {
  std::vector<FileNote> notes;
  const auto commands = globalsOf(globals, GlobalRisk::Command);
  if (!commands.empty()) {
    notes.push_back({.rule = "NC112",
                     .record = commands.front(),
                     .message = fmt::format("{} asks for {}: loading it would run that. "
                                            "Nothing was loaded here; do not load it anywhere.",
                                            subject, namesText(commands))});
  }
  const auto foreign = globalsOf(globals, GlobalRisk::Foreign);
  if (!foreign.empty()) {
    notes.push_back({.rule = "NC114",
                     .record = foreign.front(),
                     .message = fmt::format("{} asks for {}: code that is not in the file, "
                                            "and that runs when the file is loaded.",
                                            subject, namesText(foreign))});
  }
  return notes;
}

std::vector<FileNote> notesOf(const Checkpoint& checkpoint) {
  std::vector<FileNote> notes = globalNotes(checkpoint.globals, "The pickle");
  std::vector<std::string> broken;
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    if (!tensor.problem.empty()) {
      broken.push_back(fmt::format("'{}' ({})", printable(tensor.name, 120), tensor.problem));
    }
  }
  if (!broken.empty()) {
    notes.push_back(
        {.rule = "NC113",
         .record = broken.front(),
         .message = fmt::format("{} cannot be as described: {}.",
                                counted(broken.size(), "tensor", "tensors"), namesText(broken))});
  }
  return notes;
}

Model weightsModel(const Checkpoint& checkpoint) {
  Model model;
  model.name = "weights";
  model.dialect = "none";
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    // Formats without storages of their own keep each tensor's bytes for itself.
    const bool held = tensor.storage.empty() && tensor.form.empty() && tensor.problem.empty();
    model.stored.push_back(
        {.name = tensor.name,
         .spec = tensor.spec,
         .record = tensor.storage,
         .recordBytes = held ? tensor.spec.byteCount().value_or(-1) : tensor.storageBytes,
         .isParameter = tensor.isParameter});
  }
  return model;
}

}  // namespace neuroncheck::scanner

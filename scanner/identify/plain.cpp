// SPDX-License-Identifier: Apache-2.0
// Everything that is no zip: told by magic numbers, and where there are none by whether the whole
// structure holds.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/identify/identify.h"
#include "scanner/identify/pickle_walk.h"
#include "scanner/identify/remedies.h"
#include "scanner/identify/safetensors.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kPickleBytes = std::size_t{16} << 20;
/// torch.save before 1.6: protocol 2, then the long 0x1950a86a20f9469cfc6c.
constexpr std::string_view kLegacyMagic(
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);

Identification make(FileKind kind, std::string detail, std::string_view remedy = {}) {
  return {.kind = kind, .detail = std::move(detail), .remedy = std::string(remedy)};
}

/// Magic, protocol version and system info come first, each a pickle; the object is the fourth.
Identification identifyLegacy(std::string_view bytes) {
  PickleWalk walk;
  for (int i = 0; i < 4; ++i) {
    walk = walkPickle(bytes);
    if (!walk.valid && i < 3) {
      return make(FileKind::Damaged, "legacy torch.save file that ends within its header");
    }
    bytes.remove_prefix(std::min(walk.size, bytes.size()));
  }
  // The module itself may stand behind a persistent id that carries its class and source.
  if (walk.modulePickle && !walk.firstGlobal.empty() &&
      walk.firstGlobal != "collections.OrderedDict") {
    return make(FileKind::PickledModule,
                fmt::format("legacy torch.save file of a whole module ({}), no program",
                            printable(walk.firstGlobal)),
                remedyFromModel());
  }
  return make(FileKind::TorchSave,
              fmt::format("legacy torch.save file (before 1.6) of {}{} tensors, no program",
                          walk.valid ? "" : "at least ", walk.persistentIds),
              remedyFromWeights());
}

std::optional<Identification> identifyTar(std::string_view start) {
  if (start.size() < 512 || start.substr(257, 5) != "ustar") {
    return std::nullopt;
  }
  const std::string_view name = start.substr(0, start.substr(0, 100).find('\0'));
  for (const std::string_view member : {"storages", "tensors", "pickle", "sys_info"}) {
    if (name == member || name == "./" + std::string(member)) {
      return make(FileKind::TorchSave, "legacy torch.save tar (before 0.1.10): tensors, no program",
                  remedyFromWeights());
    }
  }
  if (name.ends_with(".nemo") || name == "./model_config.yaml" || name == "model_config.yaml") {
    return make(FileKind::Unknown, "tar archive of a NeMo checkpoint", remedyFromModel());
  }
  return make(FileKind::Unknown, "tar archive");
}

/// One varint of a protobuf; nullopt at the end of the bytes or beyond 64 bits.
std::optional<std::uint64_t> takeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

/// ONNX has no magic number: a ModelProto whose top fields are all of its schema (onnx/onnx.proto),
/// starting with ir_version.
bool looksLikeOnnx(std::string_view start, std::uint64_t fileSize) {
  constexpr std::array<std::uint64_t, 8> kLengthFields = {2, 3, 4, 6, 7, 8, 14, 20};
  constexpr std::uint64_t kFunctions = 25;
  constexpr std::uint64_t kMaxIrVersion = 1000;
  bool version = false;
  bool body = false;
  std::uint64_t left = fileSize;
  while (!start.empty()) {
    const std::size_t before = start.size();
    const auto tag = takeVarint(start);
    if (!tag) {
      return false;
    }
    const auto value = takeVarint(start);
    if (!value) {
      return version && body;  // cut off by the window, not by the file
    }
    left -= before - start.size();
    const std::uint64_t field = *tag >> 3;
    const bool text = (*tag & 7) == 2;
    if (!text) {
      if ((*tag & 7) != 0 || (field != 1 && field != 5) ||
          (field == 1 && (*value == 0 || *value > kMaxIrVersion))) {
        return false;
      }
      version = version || field == 1;
      continue;
    }
    if (!version || *value > left ||
        (field != kFunctions && std::ranges::find(kLengthFields, field) == kLengthFields.end())) {
      return false;
    }
    body = body || field == 7 || field == 8 || field == 2;
    left -= *value;
    start.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(*value, start.size())));
  }
  return version && body;
}

/// Valid UTF-8 without control characters other than white space; a sequence cut by the window
/// counts as valid.
bool looksLikeText(std::string_view bytes) {
  constexpr std::size_t kLongestSequence = 4;
  while (!bytes.empty()) {
    const std::size_t length = utf8Length(bytes);
    const auto first = static_cast<unsigned char>(bytes.front());
    if (length == 0) {
      return bytes.size() < kLongestSequence && first >= 0xC2 && first <= 0xF4;
    }
    if (first < 0x20 && first != '\n' && first != '\r' && first != '\t' && first != '\f') {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

Identification identifyText(std::string_view text) {
  if (text.starts_with("version https://git-lfs.github.com/spec/")) {
    return make(FileKind::Text, "Git LFS pointer: the file itself was not fetched", "git lfs pull");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    return make(FileKind::Text, "text that may be JSON, no PyTorch file", remedyFromModel());
  }
  if (first != std::string_view::npos && text[first] == '<') {
    return make(FileKind::Text,
                "text that may be HTML or XML (a failed download?), no PyTorch file",
                remedyFromModel());
  }
  return make(FileKind::Text, "text, no PyTorch file", remedyFromModel());
}

std::optional<Identification> identifyByMagic(std::string_view start) {
  if (start.size() >= 8 && start.substr(4, 4) == "PTMF") {
    return make(FileKind::MobileFlatbuffer, "flatbuffer module of PyTorch Mobile; not analysed",
                remedyFromModel());
  }
  if (start.size() >= 8 && start.substr(4, 2) == "ET" && start[6] >= '0' && start[6] <= '9') {
    return make(FileKind::ExecuTorch, "ExecuTorch program, compiled for another runtime",
                remedyFromModel());
  }
  struct Magic {
    std::string_view bytes;
    std::string_view what;
  };
  constexpr std::array<Magic, 8> kOthers = {
      {{.bytes = "\x7f"
                 "ELF",
        .what = "executable or shared library (ELF)"},
       {.bytes = "\x89HDF\r\n", .what = "HDF5 file (Keras weights?)"},
       {.bytes = "GGUF", .what = "GGUF weights of llama.cpp"},
       {.bytes = "\x93NUMPY", .what = "NumPy array"},
       {.bytes = "\x1f\x8b", .what = "gzip-compressed data; unpack it first"},
       {.bytes = "7z\xbc\xaf", .what = "7-zip archive; unpack it first"},
       {.bytes = "SQLite format 3", .what = "SQLite database"},
       {.bytes = "\x89PNG", .what = "PNG image"}}};
  for (const Magic& magic : kOthers) {
    if (start.starts_with(magic.bytes)) {
      return make(FileKind::Unknown, std::string(magic.what), remedyFromModel());
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Identification> identifyPlain(const ByteSource& source, const std::string& start) {
  if (source.size() == 0) {
    return make(FileKind::Empty, "empty file");
  }
  if (const auto known = identifyByMagic(start)) {
    return *known;
  }
  if (start.starts_with(kLegacyMagic)) {
    NEURONCHECK_TRY(const std::string bytes, source.readUpTo(0, kPickleBytes));
    return identifyLegacy(bytes);
  }
  if (const auto tar = identifyTar(start)) {
    return *tar;
  }
  NEURONCHECK_TRY(const auto tensors, describeSafetensors(source));
  if (tensors) {
    return make(FileKind::Safetensors, fmt::format("safetensors file, {}, no program", *tensors),
                remedyFromSafetensors());
  }
  if (!start.starts_with('\x80')) {
    // Protocol 0 is printable: only a whole, valid pickle that names something is told from text,
    // and one that names commands, whatever stands behind it.
    NEURONCHECK_TRY(const std::string bytes, source.readUpTo(0, kPickleBytes));
    const PickleWalk walk = walkPickle(bytes);
    const bool command = std::ranges::any_of(
        walk.globals, [](const std::string& name) { return riskOf(name) == GlobalRisk::Command; });
    if (walk.valid && (command || (walk.size == source.size() && !walk.globals.empty()))) {
      return make(FileKind::Pickle, "Python pickle (protocol 0), not of torch.save; never loaded");
    }
  }
  if (start.size() >= 2 && start[0] == '\x80' && start[1] >= 0 && start[1] <= 5) {
    NEURONCHECK_TRY(const std::string bytes, source.readUpTo(0, kPickleBytes));
    const PickleWalk walk = walkPickle(bytes);
    return make(FileKind::Pickle,
                walk.valid ? "Python pickle, not of torch.save; never loaded"
                           : "Python pickle, cut off or damaged",
                remedyFromModel());
  }
  if (looksLikeOnnx(start, source.size())) {
    return make(FileKind::Onnx, "ONNX model", remedyFromModel());
  }
  if (looksLikeText(start)) {
    return identifyText(start);
  }
  return make(FileKind::Unknown, "binary data of no kind known here", remedyFromModel());
}

}  // namespace neuroncheck::scanner

// SPDX-License-Identifier: Apache-2.0
#include "scanner/open.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/byte_source.h"
#include "scanner/identify/identify.h"
#include "scanner/pt2/program_archive.h"

namespace neuroncheck::scanner {
namespace {

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

Scanned failed(FileKind kind, std::uint64_t size, Error error, const std::string& path) {
  return {.kind = kind, .size = size, .inventory = tl::unexpected(std::move(error).within(path))};
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

Scanned scan(const std::string& path, const SchemaSource& schemas, const Limits& limits) {
  if (isFolder(path)) {
    auto folder = identifyFolder(path);
    return folder ? failed(folder->kind, 0, notAProgram(*folder), path)
                  : failed(FileKind::Unknown, 0, std::move(folder).error(), path);
  }
  auto source = openFile(path);
  if (!source) {
    return failed(FileKind::Unknown, 0, std::move(source).error(), path);
  }
  const std::uint64_t size = (*source)->size();
  auto identified = identifySource(std::move(*source), limits);
  if (!identified) {
    return failed(FileKind::Unknown, size, std::move(identified).error(), path);
  }
  const FileKind kind = identified->identification.kind;
  if (kind != FileKind::ExportedProgram || !identified->archive) {
    return failed(kind, size, notAProgram(identified->identification), path);
  }
  auto inventory = pt2::readPrograms(*identified->archive, schemas, limits);
  if (!inventory) {
    // It has the records of a program, but they cannot be read.
    return failed(FileKind::Damaged, size, std::move(inventory).error(), path);
  }
  inventory->path = path;
  inventory->size = size;
  return {.kind = kind, .size = size, .inventory = std::move(inventory)};
}

}  // namespace neuroncheck::scanner

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

Result<Inventory> scanFile(const std::string& path, const SchemaSource& schemas,
                           const Limits& limits) {
  NEURONCHECK_TRY(std::shared_ptr<const ByteSource> source, openFile(path));
  const std::uint64_t size = source->size();
  NEURONCHECK_TRY(const Identified identified, identifySource(std::move(source), limits));
  if (identified.identification.kind != FileKind::ExportedProgram || !identified.archive) {
    return tl::unexpected(notAProgram(identified.identification));
  }
  NEURONCHECK_TRY(Inventory inventory, pt2::readPrograms(*identified.archive, schemas, limits));
  inventory.path = path;
  inventory.size = size;
  return inventory;
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

Result<Inventory> scan(const std::string& path, const SchemaSource& schemas, const Limits& limits) {
  if (isFolder(path)) {
    NEURONCHECK_TRY(const Identification folder, identifyFolder(path));
    return tl::unexpected(notAProgram(folder).within(path));
  }
  auto inventory = scanFile(path, schemas, limits);
  if (!inventory) {
    return tl::unexpected(std::move(inventory).error().within(path));
  }
  return inventory;
}

}  // namespace neuroncheck::scanner

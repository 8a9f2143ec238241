// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/folder_file.h"

#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::scanner {

namespace fs = std::filesystem;

namespace {

/// "" for a file of the folder.
std::string linkProblem(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) {
    return {};
  }
  const fs::path target = fs::canonical(path, error);
  if (error) {
    return fmt::format("'{}' is a link that leads nowhere: {}",
                       printable(path.filename().string(), 120), error.message());
  }
  const fs::path folder = fs::canonical(path.parent_path(), error);
  const fs::path snapshots = folder.parent_path();
  const bool blob = snapshots.filename() == "snapshots" &&
                    target.parent_path() == snapshots.parent_path() / "blobs";
  if (!error && (blob || target.parent_path() == folder)) {
    return {};
  }
  return fmt::format("'{}' is a link to a file outside the folder",
                     printable(path.filename().string(), 120));
}

}  // namespace

bool isThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

Result<std::unique_ptr<ByteSource>> openOwn(const fs::path& path) {
  if (std::string problem = linkProblem(path); !problem.empty()) {
    return inputError(std::move(problem));
  }
  return openFile(path.string());
}

}  // namespace neuroncheck::scanner

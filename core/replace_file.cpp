// SPDX-License-Identifier: Apache-2.0
#include "core/replace_file.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck {
namespace {

namespace fs = std::filesystem;

/// Removes the partial file unless it became the final one.
class Partial {
 public:
  explicit Partial(std::string path) : path_(std::move(path)) { removeFile(); }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  ~Partial() { removeFile(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void removeFile() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  std::string path_;
};

/// The file that a link leads to, so that writing through a link keeps the link.
std::string resolved(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) {
    return path;
  }
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

bool isSpecialFile(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

Result<void> replaceFile(const std::string& path,
                         const std::function<Result<void>(const std::string&)>& produce) {
  const std::string target = resolved(path);
  if (isSpecialFile(target)) {
    return fail(ErrorCode::Output, fmt::format("cannot write {}: it is no regular file", path));
  }
  const Partial partial(fmt::format("{}.part.{}", target, getpid()));
  NEURONCHECK_TRY_VOID(produce(partial.path()));
  std::error_code error;
  fs::rename(partial.path(), target, error);
  if (error) {
    return fail(ErrorCode::Output, fmt::format("cannot write {}: {}", path, error.message()));
  }
  return {};
}

}  // namespace neuroncheck

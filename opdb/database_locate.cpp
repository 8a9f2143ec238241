// SPDX-License-Identifier: Apache-2.0
#include "opdb/database_locate.h"

#include "opdb/location.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/database.h"

namespace neuroncheck::opdb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRelative = "share/neuron-check/operators.db";

/// Empty when unset. Nothing in the program changes the environment after start.
std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string() : std::string(value);
}

bool isFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

fs::path folderOf(const std::string& executablePath) {
  std::error_code error;
  const fs::path program =
      executablePath.empty() ? fs::read_symlink("/proc/self/exe", error) : fs::path(executablePath);
  const fs::path canonical = fs::weakly_canonical(program, error);
  return (error ? program : canonical).parent_path();
}

}  // namespace

std::optional<std::string> userDatabasePath() {
  const std::string data = environment("XDG_DATA_HOME");
  const std::string home = environment("HOME");
  if (data.empty() && home.empty()) {
    return std::nullopt;
  }
  const fs::path base = data.empty() ? fs::path(home) / ".local" / "share" : fs::path(data);
  return (base / "neuron-check" / "operators.db").string();
}

DatabaseLocation findDefaultDatabase(const std::string& executablePath) {
  DatabaseLocation location;
  const auto look = [&](const fs::path& path, std::string_view what) -> std::optional<std::string> {
    location.tried.push_back(fmt::format("{} ({})", path.string(), what));
    return isFile(path) ? std::optional(path.string()) : std::nullopt;
  };
  if (const std::string named = environment("NEURON_CHECK_DB"); !named.empty()) {
    location.path = look(named, "NEURON_CHECK_DB");
    return location;
  }
  if (const auto user = userDatabasePath()) {
    location.path = look(*user, "copy made by db import");
    location.isUserCopy = location.path.has_value();
  }
  const fs::path folder = folderOf(executablePath);
  std::optional<std::string> builtIn;
  for (const fs::path& base : {folder.parent_path(), folder.parent_path().parent_path()}) {
    builtIn = builtIn ? builtIn : look(base / kRelative, "beside the program");
  }
  builtIn = builtIn ? builtIn
                    : look(fs::path(NEURONCHECK_DATADIR) / "neuron-check" / "operators.db",
                           "installed data");
  (location.isUserCopy ? location.builtIn : location.path) = builtIn;
  return location;
}

std::string outdatedCopy(const DatabaseLocation& location) {
  if (!location.isUserCopy || !location.path || !location.builtIn) {
    return "";
  }
  const auto copy = Database::open(*location.path);
  const auto builtIn = Database::open(*location.builtIn);
  if (!copy || !builtIn || copy->madeFrom() == builtIn->madeFrom()) {
    return "";
  }
  return fmt::format(
      "{} was copied from another version of the built-in operator database and answers instead of "
      "it: remove it and import your tables again, or name it with --db",
      *location.path);
}

Result<std::string> findDefaultDatabase() {
  const DatabaseLocation location = findDefaultDatabase({});
  if (location.path) {
    return *location.path;
  }
  return inputError(
      fmt::format("no operator database found; looked at {}", fmt::join(location.tried, ", ")));
}

}  // namespace neuroncheck::opdb

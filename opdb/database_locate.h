// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace neuroncheck::opdb {

/// Where an operator database was found, or where it was looked for.
struct DatabaseLocation {
  std::optional<std::string> path;
  bool isUserCopy = false;  ///< written by `db import`, so it may hold more than the built-in one
  std::optional<std::string> builtIn;  ///< with `isUserCopy`: the one that it goes before
  std::vector<std::string> tried;      ///< every place looked at, in order, each with what it is
};

/// Finds the database to use when none is named. In order: the environment variable NEURON_CHECK_DB
/// (then nothing else), the user's copy (userDatabasePath), <folder of the program>/../share and
/// /../../share, the installed data folder. `executablePath` may be empty: then the running
/// program's.
[[nodiscard]] DatabaseLocation findDefaultDatabase(const std::string& executablePath);

/// One line saying that the user's copy was made of other data files than the built-in database it
/// goes before, and what to do; empty when there is nothing to say.
[[nodiscard]] std::string outdatedCopy(const DatabaseLocation& location);

/// Where `db import` writes unless told otherwise: $XDG_DATA_HOME (or
/// ~/.local/share)/neuron-check/operators.db; nullopt when neither XDG_DATA_HOME nor HOME is set.
[[nodiscard]] std::optional<std::string> userDatabasePath();

}  // namespace neuroncheck::opdb

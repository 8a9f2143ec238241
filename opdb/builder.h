// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.h"

namespace neuroncheck::opdb {

/// The data files a database is made of. Paths may be empty where noted.
struct BuildInputs {
  std::string catalogueVersion;  ///< "torch 2.13.0"
  std::string ops;               ///< ops.jsonl: one operator a line
  std::string expansions;        ///< expansions.jsonl; may be empty
  std::string releases;          ///< releases.csv
  std::string support;           ///< support-matrix.csv; may be empty
  std::string features;          ///< features.csv; may be empty
  std::string rules;             ///< compiler-rules.csv; may be empty
};

struct BuildSummary {
  std::size_t ops = 0;
  std::size_t expansions = 0;
  std::size_t releases = 0;
  std::size_t support = 0;
  std::size_t features = 0;
  std::size_t rules = 0;
  /// Expansions that were recorded of operators outside the catalogue and left out, and conditions
  /// outside the grammar, whose rows are kept without (then the condition counts as not known):
  /// "file:line: reason".
  std::vector<std::string> notes;
  /// "file:line: reason" of every row that was left out. Our own data has none; the build tool
  /// fails otherwise.
  std::vector<std::string> problems;
};

/// Makes an operator database from data files and puts it at `out` in one step (a temporary file
/// beside it, renamed). The bytes depend only on the inputs and the SQLite version. Fails with
/// Input for a file that cannot be read, Output otherwise; single bad rows are in
/// BuildSummary::problems and left out.
[[nodiscard]] Result<BuildSummary> buildDatabase(const BuildInputs& inputs, const std::string& out);

}  // namespace neuroncheck::opdb

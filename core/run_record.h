// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/result.h"

namespace neuroncheck {

/// Versions a result depends on; the word "unknown" where nothing said. Never empty strings.
struct Environment {
  std::string torch = "unknown";
  std::string backend = "unknown";
  std::string compiler = "unknown";
  std::string runtime = "unknown";
  std::string driver = "unknown";
  std::string chip = "unknown";
  std::string logicalCore = "unknown";
  std::string host;  ///< operating system and machine, as uname says
  bool operator==(const Environment&) const = default;
};

/// What one input led to: an inventory with its assessment, or an error (then `error` is set and `verdict` is Unknown).
struct InputResult {
  Inventory inventory;
  Assessment assessment;
  std::optional<Error> error;
};

/// Everything one run of the program found: what the run file stores and every reporter reads.
struct RunRecord {
  std::string tool;           ///< "neuron-check 0.1.0"
  std::vector<std::string> command;
  std::string started;        ///< UTC, ISO 8601
  std::string finished;
  Environment environment;
  Target target;
  std::string database;       ///< path and catalogue version of the operator database
  std::vector<InputResult> inputs;
  /// Device of a conformance run; "none" for a static scan, which is then said in every report.
  std::string device = "none";
  bool simulated = false;
};

/// Worst verdict over all inputs; Unknown when there is none or one could not be read.
[[nodiscard]] Verdict worstVerdict(const RunRecord& record);

/// An operator or finding that blocks models, and how many models would be no worse than `ready-unconfirmed` without it.
struct Blocker {
  std::string what;            ///< "aten::native_batch_norm" or "NC401"
  std::string kind;            ///< "operator" | "finding"
  Claim claim = Claim::Unknown;
  std::vector<std::string> models;      ///< models it appears in as a blocker
  std::vector<std::string> unblocks;    ///< models for which it is the only blocker
};
/// Which missing operator or finding stands in the way of most models: sorted by models it alone blocks, then by models.
[[nodiscard]] std::vector<Blocker> rankBlockers(const RunRecord& record);

}  // namespace neuroncheck

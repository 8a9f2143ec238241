// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/outcome.h"
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

/// What one input led to: an inventory with its assessment, or an error (then `error` is set and
/// `verdict` is Unknown).
struct InputResult {
  Inventory inventory;
  Assessment assessment;
  std::optional<Error> error;
};

/// Everything one run of the program found: what the run file stores and every reporter reads.
struct RunRecord {
  std::string tool;  ///< "neuron-check 0.1.0"
  std::vector<std::string> command;
  std::string started;  ///< UTC, ISO 8601
  std::string finished;
  Environment environment;
  Target target;
  std::string database;  ///< path and catalogue version of the operator database
  std::vector<InputResult> inputs;
  /// Device of a conformance run; "none" for a static scan, which is then said in every report.
  std::string device = "none";
  bool simulated = false;
  std::uint64_t seed = 0;          ///< of the run; equal seeds give equal operands
  std::string profile;             ///< digest of the simulated device's profile, else empty
  std::string shard;               ///< "2/8" when only that part of the plan was run, else empty
  std::vector<Outcome> outcomes;   ///< of a run, in the order of its plan
  std::vector<NotChecked> notRun;  ///< what a run left out, and why
};

/// Worst verdict over all inputs; Unknown when there is none or one could not be read.
[[nodiscard]] Verdict worstVerdict(const RunRecord& record);

/// The model of the inventory that was judged; null when the assessment names one the inventory
/// does not have.
[[nodiscard]] const Model* modelOf(const InputResult& input, const ModelAssessment& judged);
/// What reports call a model: the path of its file, with the model's name when the file has
/// several.
[[nodiscard]] std::string modelLabel(const InputResult& input, const ModelAssessment& judged);

/// An operator or finding that blocks models, and how many models would be no worse than
/// `ready-unconfirmed` without it.
struct Blocker {
  /// "aten::native_batch_norm" or "NC401". Where a use is a composite, the missing operator below
  /// it.
  std::string what;
  std::string kind;   ///< "operator" | "finding"
  std::string title;  ///< of a finding: its rule's title; empty for an operator
  Claim claim = Claim::Unknown;
  std::vector<std::string> models;    ///< models it appears in as a blocker
  std::vector<std::string> unblocks;  ///< models for which it is the only blocker
};
/// In the way is every claim that alone leads to a verdict worse than ready-unconfirmed, and every
/// finding of severity error, except an operator finding (NC2xx) about operators that are in the
/// way already. Which missing operator or finding stands in the way of most models: sorted by
/// models it alone blocks, then by models.
[[nodiscard]] std::vector<Blocker> rankBlockers(const RunRecord& record);

}  // namespace neuroncheck

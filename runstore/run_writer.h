// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::runstore {

/// Why a run file cannot go on with `planned`: the first of tool, device, profile, seed, target,
/// shard, versions of the environment, inputs and cases that differs, with both sides; nullopt when
/// it can.
[[nodiscard]] std::optional<std::string> resumeDifference(const RunRecord& stored,
                                                          const RunRecord& planned);

/// Keeps a run file while its cases run: each event is committed at once, so that a process that is
/// killed loses nothing that it was told before. One writer per file; others may read. Not
/// thread-safe.
class RunWriter {
 public:
  /// Begins a file with a run's plan: `planned.outcomes` have their texts and the state not-run.
  /// Output error when the file cannot be written, when another run is writing it, or when it holds
  /// something that would be lost: an unfinished run, or a file of another kind.
  [[nodiscard]] static Result<RunWriter> begin(const RunRecord& planned, const std::string& path);
  /// Goes on with a file that begin() made, finished or not. Usage error that names the difference
  /// when it is of another plan; Input error when it is no run file; Output error when another run
  /// is writing it.
  [[nodiscard]] static Result<RunWriter> resume(const RunRecord& planned, const std::string& path);

  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;
  ~RunWriter();

  /// What the file holds, after resume(): outcomes that are not isUnfinished() are kept.
  [[nodiscard]] const RunRecord& stored() const;
  /// These cases, by their place in the plan, run from now on.
  void started(const std::vector<std::size_t>& positions);
  void finished(std::size_t position, const Outcome& outcome);
  /// The first failure to write. From then on nothing more is written; what was written stays.
  [[nodiscard]] const std::optional<Error>& error() const;
  /// Writes what is known at the end (finished, environment, what was not run) and leaves one plain
  /// file. The first failure to write, if there was one.
  [[nodiscard]] Result<void> finish(const RunRecord& record);

 private:
  class State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace neuroncheck::runstore

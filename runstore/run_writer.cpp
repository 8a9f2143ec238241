// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_writer.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <sqlite3.h>

#include "runstore/run_file.h"
#include "runstore/run_lock.h"
#include "runstore/run_schema.h"

namespace neuroncheck::runstore {
namespace {

constexpr int kReaderWaitMs = 2000;

/// Something was found and something is left to find: replacing the file would lose it.
bool isUnfinishedRun(const RunRecord& record) {
  return std::ranges::any_of(record.outcomes, isUnfinished) &&
         std::ranges::any_of(record.outcomes, [](const Outcome& outcome) {
           return outcome.state != CaseState::NotRun;
         });
}

Result<void> checkReplaceable(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) ||
      std::filesystem::file_size(path, ignored) == 0) {
    return {};
  }
  const auto there = load(path);
  if (!there) {
    return fail(ErrorCode::Output,
                fmt::format("{}: what is there is not replaced, because it cannot be read ({})",
                            path, there.error().message));
  }
  if (isUnfinishedRun(*there)) {
    return fail(ErrorCode::Output,
                fmt::format("{}: an unfinished run is there: go on with it by --resume, or remove "
                            "the file",
                            path));
  }
  return {};
}

std::string casesDiffer(const RunRecord& stored, const RunRecord& planned) {
  const std::size_t both = std::min(stored.outcomes.size(), planned.outcomes.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (stored.outcomes[i].id != planned.outcomes[i].id) {
      return fmt::format("case {} is '{}' in the file, '{}' now", i + 1, stored.outcomes[i].text,
                         planned.outcomes[i].text);
    }
  }
  return fmt::format("it has {} cases in the file, {} now", stored.outcomes.size(),
                     planned.outcomes.size());
}

std::string targetWords(const Target& target) {
  return fmt::format("{} {} (answered by {}), {}, {}", target.product, target.release,
                     target.answeringRelease, target.chip, name(target.mode));
}

}  // namespace

std::optional<std::string> resumeDifference(const RunRecord& stored, const RunRecord& planned) {
  struct Fact {
    const char* what;
    std::string before, now;
  };
  const auto orNone = [](const std::string& text) { return text.empty() ? "none" : text; };
  for (const Fact& fact :
       {Fact{"tool", stored.tool, planned.tool}, Fact{"device", stored.device, planned.device},
        Fact{"profile", orNone(stored.profile), orNone(planned.profile)},
        Fact{"seed", std::to_string(stored.seed), std::to_string(planned.seed)},
        Fact{"target", targetWords(stored.target), targetWords(planned.target)},
        Fact{"shard", orNone(stored.shard), orNone(planned.shard)},
        Fact{"torch", stored.environment.torch, planned.environment.torch},
        Fact{"backend", stored.environment.backend, planned.environment.backend},
        Fact{"compiler", stored.environment.compiler, planned.environment.compiler},
        Fact{"runtime", stored.environment.runtime, planned.environment.runtime},
        Fact{"driver", stored.environment.driver, planned.environment.driver}}) {
    if (fact.before != fact.now) {
      return fmt::format("its {} is {} in the file, {} now", fact.what, fact.before, fact.now);
    }
  }
  if (!std::ranges::equal(
          stored.inputs, planned.inputs, {},
          [](const InputResult& input) { return input.inventory.sha256; },
          [](const InputResult& input) { return input.inventory.sha256; })) {
    return "its models are others than those given now";
  }
  if (!std::ranges::equal(stored.outcomes, planned.outcomes, {}, &Outcome::id, &Outcome::id)) {
    return casesDiffer(stored, planned);
  }
  return std::nullopt;
}

class RunWriter::State {
 public:
  State(std::string path, RunLock lock, RunRecord stored)
      : path_(std::move(path)),
        lock_(std::move(lock)),
        stored_(std::move(stored)),
        database_(path_, SQLite::OPEN_READWRITE, kReaderWaitMs),
        ready_(prepare()),
        texts_(database_),
        tables_(database_, texts_) {}

  void write(const std::function<void()>& statements) {
    if (error_) {
      return;
    }
    try {
      SQLite::Transaction transaction(database_);
      statements();
      transaction.commit();
    } catch (const std::exception& error) {
      const int cause = sqlite3_system_errno(database_.getHandle());
      error_ = Error{.code = ErrorCode::Output,
                     .message = fmt::format(
                         "cannot write the run file {}: {}{}; what it held before is kept: make "
                         "room and go on with --resume",
                         path_, error.what(),
                         cause == 0 ? std::string()
                                    : fmt::format(" ({})", std::generic_category().message(cause))),
                     .context = {}};
    }
  }

  /// One plain file; while somebody reads it, or without room, it stays two, which load() reads.
  void close() {
    try {
      database_.exec("PRAGMA journal_mode = DELETE");
    } catch (const SQLite::Exception&) {
      sqlite3_wal_checkpoint_v2(database_.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                                nullptr);
    }
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { close(); }

  std::string path_;
  RunLock lock_;  // outlives the connection: closing any descriptor of a file ends SQLite's locks
  RunRecord stored_;
  SQLite::Database database_;
  bool ready_;
  TextTable texts_;
  OutcomeTables tables_;
  std::optional<Error> error_;

 private:
  bool prepare() {
    sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    // Without a sync per commit a killed process loses nothing; a machine without power may lose
    // the last commits, never the file.
    database_.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return true;
  }
};

RunWriter::RunWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

namespace {

Result<void> asOutput(const std::string& path, const std::function<void()>& open) {
  try {
    open();
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::Output,
                fmt::format("cannot write the run file {}: {}", path, error.what()));
  }
}

}  // namespace

Result<RunWriter> RunWriter::begin(const RunRecord& planned, const std::string& path) {
  NEURONCHECK_TRY_VOID(checkReplaceable(path));
  NEURONCHECK_TRY_VOID(save(planned, path));
  NEURONCHECK_TRY(RunLock lock, RunLock::take(path));
  std::unique_ptr<State> state;
  NEURONCHECK_TRY_VOID(
      asOutput(path, [&] { state = std::make_unique<State>(path, std::move(lock), RunRecord()); }));
  return RunWriter(std::move(state));
}

Result<RunWriter> RunWriter::resume(const RunRecord& planned, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return inputError(fmt::format("--resume: there is no run file {}", path));
  }
  // Looked at before it is locked: a file that is no run file is said to be that.
  NEURONCHECK_TRY_VOID(load(path).map([](const RunRecord&) {}));
  NEURONCHECK_TRY(RunLock lock, RunLock::take(path));
  // What stands in a file that nobody else writes: between the two looks another run may have
  // ended.
  NEURONCHECK_TRY(RunRecord stored, load(path));
  if (const auto difference = resumeDifference(stored, planned)) {
    return fail(ErrorCode::Usage,
                fmt::format("--resume: {} holds another run: {}", path, *difference));
  }
  std::unique_ptr<State> state;
  NEURONCHECK_TRY_VOID(asOutput(
      path, [&] { state = std::make_unique<State>(path, std::move(lock), std::move(stored)); }));
  return RunWriter(std::move(state));
}

const RunRecord& RunWriter::stored() const { return state_->stored_; }

void RunWriter::started(const std::vector<std::size_t>& positions) {
  state_->write([&] {
    SQLite::Statement update(state_->database_,
                             "UPDATE outcome SET state = ?, stage = ?, message = ? WHERE "
                             "case_position = ?");
    const Outcome mark = begun({});
    for (const std::size_t position : positions) {
      update.reset();
      update.bind(1, std::string(neuroncheck::name(mark.state)));
      update.bind(2, state_->texts_.id(mark.stage));
      update.bind(3, state_->texts_.id(mark.message));
      update.bind(4, static_cast<std::int64_t>(position));
      update.exec();
    }
  });
}

void RunWriter::finished(std::size_t position, const Outcome& outcome) {
  state_->write([&] { state_->tables_.put(position, outcome); });
}

const std::optional<Error>& RunWriter::error() const { return state_->error_; }

Result<void> RunWriter::finish(const RunRecord& record) {
  state_->write([&] { writeEnd(state_->database_, record); });
  state_->close();
  if (state_->error_) {
    return tl::unexpected(*state_->error_);
  }
  return {};
}

}  // namespace neuroncheck::runstore

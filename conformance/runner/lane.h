// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/plan/fills.h"
#include "conformance/plan/plan.h"
#include "conformance/runner/shared_memory.h"
#include "core/inventory_json.h"
#include "core/outcome.h"
#include "core/schema.h"

namespace neuroncheck::conformance {

/// Sends one request to a worker and waits for its answer (docs/worker-protocol.md).
using Ask = std::function<Result<Json>(const Json& request, std::chrono::milliseconds timeout)>;

/// The device that cases are run on, and the bounds of one case.
struct DeviceChoice {
  std::string words = "cpu";
  std::string profile = "{}";  ///< of the simulated device
  std::chrono::seconds caseTime{60};
  std::uint64_t caseBytes = std::uint64_t{256} << 20;  ///< operands of one case
};

/// One attempt: a case with one fill.
struct Unit {
  const PlannedCase* planned = nullptr;
  std::size_t index = 0;  ///< of the case in the plan
  FillChoice choice;
  std::uint64_t seed = 0;
};

/// What one attempt came to. `attempt` is there when it was judged; otherwise `state` says what
/// stopped it.
struct UnitOutcome {
  CaseState state = CaseState::NotRun;
  std::string stage;
  std::string cause;
  std::string message;
  std::string ending;
  std::string stderrTail;
  std::vector<std::string> fallbacks;
  std::vector<std::string> notes;
  std::string dispatch;
  double seconds = 0;
  std::optional<AttemptOutcome> attempt;
};

/// A pair of workers, one with the device and one with the references, and the memory they share.
/// Used by one thread.
class Lane {
 public:
  /// `schemas` may be shared between lanes when `find` is guarded (`SchemaSource` is not
  /// thread-safe).
  using FindSchema = std::function<const FunctionSchema*(const OpName&)>;

  [[nodiscard]] static Result<Lane> make(DeviceChoice device, Ask deviceWorker, Ask reference,
                                         FindSchema findSchema);

  /// Runs the attempts, in one process for each worker while nothing goes wrong, and judges them. A
  /// process that dies is the fault of the attempt it was at; the others go to a fresh one. In the
  /// order of `units`. Unavailable error when the device is not there at all.
  [[nodiscard]] Result<std::vector<UnitOutcome>> run(std::span<const Unit> units);

  /// Bytes that the operands of a case take; what is beyond DeviceChoice::caseBytes is not run.
  [[nodiscard]] static std::uint64_t bytesOf(const CaseSpec& spec);

 private:
  struct Placed;
  class Batch;
  Lane(DeviceChoice device, Ask deviceWorker, Ask reference, FindSchema findSchema,
       SharedMemory memory);

  DeviceChoice device_;
  Ask askDevice_;
  Ask askReference_;
  FindSchema findSchema_;
  SharedMemory memory_;
};

}  // namespace neuroncheck::conformance

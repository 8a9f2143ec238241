// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/lane.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <mutex>

#include <fmt/format.h>

#include "conformance/runner/draw_samples.h"
#include "conformance/runner/judge_case.h"
#include "conformance/runner/raised_state.h"
#include "numerics/rules/op_rules.h"

namespace neuroncheck::conformance {
namespace {

constexpr std::uint64_t kAlignment = 64;
/// Operands of a batch lie below this; every request has a region of its own above it.
constexpr std::uint64_t kOperandBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kRegionBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kRegions = 120;
/// Numbers that outputs are weighted with in gradient cases, the same for every case.
constexpr std::int64_t kCotangents = std::int64_t{4} << 20;
constexpr std::uint64_t kCotangentsAt = kOperandBytes + (kRegions + 1) * kRegionBytes;
constexpr std::size_t kMostOutputs = 16;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// What the reference has to know of the rules of an operator.
Json rulesOf(const numerics::OpRule* rule) {
  Json out = Json::array();
  if (rule == nullptr) {
    return out;
  }
  for (const numerics::OutputRule& output : rule->outputs) {
    const bool valueless = output.notComparable != numerics::NotComparable::No ||
                           output.opClass == numerics::OpClass::Random ||
                           output.opClass == numerics::OpClass::Factorisation;
    out.push_back({{"exact", valueless || output.opClass == numerics::OpClass::Exact},
                   {"decision", output.opClass == numerics::OpClass::Discontinuous},
                   {"length", output.length},
                   {"magnitude", output.companion},
                   {"unstable", output.unstable},
                   {"stored", output.stored}});
  }
  return out;
}

/// Normal numbers that every floating-point dtype of a device holds exactly.
void writeCotangents(std::span<std::byte> to) {
  numerics::FillRequest request;
  request.fill = numerics::FillId::Normal;
  request.dtype = DType::BFloat16;
  request.sizes = {kCotangents};
  request.seed = 1;
  const auto filler = numerics::Filler::make(request);
  NEURONCHECK_CHECK(filler.has_value(), "normal numbers can be made");
  const std::vector<std::byte> narrow = filler->all();
  for (std::size_t i = 0; i < narrow.size() / 2; ++i) {  // bf16 is the upper half of an fp32
    std::memcpy(to.data() + 4 * i + 2, narrow.data() + 2 * i, 2);
  }
}

std::vector<std::string> textsOf(const Json& answer, const char* key) {
  return answer.value(key, std::vector<std::string>());
}

}  // namespace

/// An attempt with its operands in memory and what the workers said so far.
struct Lane::Placed {
  const Unit* unit = nullptr;
  const FunctionSchema* schema = nullptr;
  const numerics::OpRule* rule = nullptr;
  std::vector<std::vector<std::uint64_t>> operands;
  std::vector<std::uint64_t> cotangents;
  std::optional<Json> device;
  std::optional<Json> reference;
  UnitOutcome outcome;
  bool deviceDone = false;
  bool referenceDone = false;
  bool skipped = false;  ///< its case was decided before its turn
};

/// One call of Lane::run.
class Lane::Batch {
 public:
  Batch(Lane& lane, std::span<const Unit> units) : lane_(lane) {
    for (const Unit& unit : units) {
      Placed placed;
      placed.unit = &unit;
      placed_.push_back(std::move(placed));
    }
  }

  Result<std::vector<UnitOutcome>> run() {
    for (Placed& placed : placed_) {
      place(placed);
    }
    auto reference = std::async(std::launch::async, [this] { return askAll(false); });
    const Result<void> device = askAll(true);
    const Result<void> referenced = reference.get();
    NEURONCHECK_TRY_VOID(device);
    NEURONCHECK_TRY_VOID(referenced);
    std::vector<UnitOutcome> out;
    for (Placed& placed : placed_) {
      finish(placed);
      out.push_back(std::move(placed.outcome));
    }
    lane_.memory_.release(0, kOperandBytes);
    for (std::uint64_t region = 0; region <= regions_; ++region) {
      lane_.memory_.release(kOperandBytes + region * kRegionBytes, kRegionBytes);
    }
    return out;
  }

 private:
  static void stop(Placed& placed, CaseState state, std::string stage, std::string cause,
                   std::string message) {
    placed.deviceDone = placed.referenceDone = true;
    placed.outcome.state = state;
    placed.outcome.stage = std::move(stage);
    placed.outcome.cause = std::move(cause);
    placed.outcome.message = std::move(message);
  }

  void place(Placed& placed) {
    const CaseSpec& spec = placed.unit->planned->spec;
    const OpName& op = spec.steps.back().op;
    placed.schema = lane_.findSchema_(op);
    placed.rule = numerics::opRules().find(op);
    const std::uint64_t bytes = bytesOf(spec);
    if (bytes > lane_.device_.caseBytes || next_ + bytes > kOperandBytes) {
      return stop(placed, CaseState::NotRun, "plan", "too large",
                  fmt::format("its operands take {} MiB, the limit is {} MiB", bytes >> 20U,
                              lane_.device_.caseBytes >> 20U));
    }
    for (const CaseStep& step : spec.steps) {
      const OperandLayout layout = layoutOf(step);
      std::vector<std::uint64_t> offsets(layout.operands.size(), 0);
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        if (layout.isRoot(i)) {
          offsets[i] = next_;
          next_ += aligned(layout.bytes[i]);
        }
      }
      const CaseArguments arguments(step, lane_.findSchema_(step.op));
      const auto filled = fillOperands(arguments, step, layout, offsets, placed.unit->choice,
                                       placed.unit->seed, lane_.memory_.bytes());
      if (!filled) {
        return stop(placed, CaseState::NotRun, "plan", "no fill", filled.error().text());
      }
      placed.operands.push_back(std::move(offsets));
    }
    if (spec.backward) {
      for (std::size_t output = 0; output < kMostOutputs; ++output) {
        placed.cotangents.push_back(kCotangentsAt + output * kAlignment);
      }
    }
  }

  Json caseOf(std::size_t index, bool device) const {
    const Placed& placed = placed_[index];
    Json entry{{"id", index},
               {"case", placed.unit->planned->text},
               {"operands", placed.operands},
               {"cotangents", placed.cotangents},
               {"seed", placed.unit->seed}};
    if (!device) {
      entry["rules"] = rulesOf(placed.rule);
      entry["moved_only"] = movesOnly(placed.unit->planned->spec);
    }
    return entry;
  }

  Json requestFor(bool device, const std::vector<std::size_t>& which) {
    Json request{{"do", device ? "run_cases" : "reference"},
                 {"arena", lane_.memory_.path()},
                 {"case_seconds", lane_.device_.caseTime.count()}};
    const std::uint64_t begin = kOperandBytes + (regions_++) * kRegionBytes;
    request["begin"] = begin;
    request["end"] = begin + kRegionBytes;
    if (device) {
      request["device"] = lane_.device_.words;
      request["profile"] = lane_.device_.profile;
    }
    request["cases"] = Json::array();
    for (const std::size_t index : which) {
      request["cases"].push_back(caseOf(index, device));
    }
    return request;
  }

  std::chrono::milliseconds patience(std::size_t cases) const {
    return lane_.device_.caseTime * static_cast<std::int64_t>(cases + 1) + std::chrono::seconds(60);
  }

  /// Asks one worker until every attempt has an answer of it.
  Result<void> askAll(bool device) {
    const auto done = [device](Placed& placed) -> bool& {
      return device ? placed.deviceDone : placed.referenceDone;
    };
    while (true) {
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < placed_.size(); ++i) {
        if (!done(placed_[i])) {
          open.push_back(i);
        }
      }
      if (open.empty()) {
        return {};
      }
      Json request;
      {
        const std::scoped_lock lock(regionsMutex_);
        if (regions_ >= kRegions) {
          return {};
        }
        request = requestFor(device, open);
      }
      auto answer =
          (device ? lane_.askDevice_ : lane_.askReference_)(request, patience(open.size()));
      if (!answer) {
        // The worker itself died or hangs: the first of them is the suspect, alone.
        died(placed_[open.front()], device, answer.error().text(), {});
        done(placed_[open.front()]) = true;
        continue;
      }
      if (answer->contains("unavailable")) {
        return fail(ErrorCode::Unavailable, answer->at("unavailable").get<std::string>());
      }
      if (!answer->contains("cases")) {
        return fail(ErrorCode::Internal, "a worker's answer has no cases");
      }
      NEURONCHECK_TRY_VOID(take(*answer, open, device));
    }
  }

  /// Sorts the answers of one request. At least the first open attempt is done afterwards.
  Result<void> take(const Json& answer, const std::vector<std::size_t>& open, bool device) {
    const Json& cases = answer.at("cases");
    std::size_t answered = 0;
    for (std::size_t i = 0; i < open.size() && i < cases.size(); ++i) {
      const Json& one = cases[i];
      Placed& placed = placed_[open[i]];
      if (one.contains("unavailable")) {
        return fail(ErrorCode::Unavailable, one.at("unavailable").get<std::string>());
      }
      if (!one.contains("outputs") && !one.contains("raised")) {
        continue;
      }
      ++answered;
      (device ? placed.device : placed.reference) = one;
      (device ? placed.deviceDone : placed.referenceDone) = true;
    }
    if (answer.contains("ended")) {
      const auto culprit = answer.value("culprit", std::size_t{0});
      if (culprit < open.size()) {
        Placed& placed = placed_[open[culprit]];
        died(placed, device, answer.at("ended").get<std::string>(),
             answer.value("stderr", std::string()));
        (device ? placed.deviceDone : placed.referenceDone) = true;
        ++answered;
      }
    }
    if (answered == 0) {
      Placed& placed = placed_[open.front()];
      died(placed, device, "it gave no answer", {});
      (device ? placed.deviceDone : placed.referenceDone) = true;
    }
    return {};
  }

  /// What ends a process decides its case: the other fills of it are not tried.
  void died(Placed& placed, bool device, std::string ending, std::string errors) {
    if (device) {
      placed.outcome.ending = std::move(ending);
      placed.outcome.stderrTail = std::move(errors);
      for (Placed& other : placed_) {
        if (&other != &placed && other.unit->index == placed.unit->index && !other.deviceDone) {
          other.deviceDone = true;
          other.skipped = true;
        }
      }
    } else {
      placed.reference =
          Json{{"raised", {{"kind", "died"}, {"stage", "same"}, {"message", std::move(ending)}}}};
    }
  }

  void finish(Placed& placed) {
    UnitOutcome& outcome = placed.outcome;
    if (!outcome.stage.empty()) {
      return;  // it was never sent
    }
    if (placed.device) {
      outcome.seconds = placed.device->value("seconds", 0.0);
      outcome.dispatch = placed.device->value("dispatch", std::string());
      noteFallbacks(placed);
    }
    const bool refused = !placed.reference || placed.reference->contains("raised");
    if (!outcome.ending.empty()) {
      const Ended ended = stateOfEnding(outcome.ending, outcome.stderrTail);
      outcome.state = ended.state;
      outcome.cause = ended.cause;
      outcome.stage = "forward";
      outcome.message = fmt::format("the process ended: {}", outcome.ending);
      return;
    }
    if (!placed.device) {
      outcome.state = CaseState::NotRun;
      outcome.stage = "plan";
      outcome.message = placed.skipped ? "another fill of the case ended the process"
                                       : "the batch it was in could not be finished";
      return;
    }
    if (placed.device->contains("raised")) {
      return finishRaised(placed, refused);
    }
    if (placed.unit->planned->spec.expectedError) {
      outcome.state = CaseState::RunError;
      outcome.stage = "forward";
      outcome.cause = "no error";
      outcome.message = "the case expects an error and none was raised";
      return;
    }
    if (refused) {
      const Json raised = placed.reference ? placed.reference->at("raised") : Json::object();
      outcome.state = CaseState::ReferenceError;
      outcome.stage = "reference";
      outcome.cause = raised.value("stage", std::string("reference"));
      outcome.message = raised.value("message", std::string("the reference gave no answer"));
      return;
    }
    judge(placed);
  }

  static void noteFallbacks(Placed& placed) {
    std::vector<std::string>& out = placed.outcome.fallbacks;
    for (const std::string& op : textsOf(*placed.device, "fell_back")) {
      out.push_back(op + " (dispatch table)");
    }
    for (const std::string& op : textsOf(*placed.device, "on_cpu")) {
      out.push_back(op + " (its kernel calls the CPU's)");
    }
    if (placed.device->contains("log") && placed.device->at("log").contains("fallback")) {
      for (const auto& [op, count] : placed.device->at("log").at("fallback").items()) {
        out.push_back(op + " (the backend's list)");
      }
    }
    if (placed.device->contains("outputs")) {
      for (const Json& output : placed.device->at("outputs")) {
        if (!output.value("on_device", true)) {
          out.emplace_back("a result lies on the CPU");
          break;
        }
      }
    }
  }

  static void finishRaised(Placed& placed, bool referenceRaised) {
    UnitOutcome& outcome = placed.outcome;
    const Json& raised = placed.device->at("raised");
    const RaisedState judged =
        stateOfRaised(raised.value("kind", std::string()), raised.value("stage", std::string()),
                      raised.value("message", std::string()));
    outcome.stage = raised.value("stage", std::string());
    outcome.message = raised.value("message", std::string());
    outcome.state = judged.state;
    outcome.cause = judged.cause;
    if (placed.device->value("poisoned", false)) {
      outcome.notes.emplace_back(
          "after it the device no longer adds: its process was replaced, later cases are unharmed");
    }
    const auto& expected = placed.unit->planned->spec.expectedError;
    if (expected && outcome.message.find(*expected) != std::string::npos) {
      outcome.state = CaseState::Pass;
      outcome.cause = "expected error";
    } else if (referenceRaised && judged.state != CaseState::NotRun) {
      outcome.state = CaseState::ReferenceError;
      outcome.cause = "both refuse";
    }
  }

  void judge(Placed& placed) {
    std::optional<Json> explained;
    AttemptEvidence evidence;
    evidence.device = &*placed.device;
    evidence.reference = &*placed.reference;
    evidence.memory = lane_.memory_.bytes();
    evidence.operands = placed.operands.back();
    evidence.explain = [&](const std::string&) -> Result<const Json*> {
      if (!explained) {
        NEURONCHECK_TRY(explained, askHypotheses(placed));
      }
      return &*explained;
    };
    evidence.cotangents = lane_.memory_.bytes().subspan(kCotangentsAt);
    evidence.draw = [&](const SampleCase& sample, std::span<const std::uint64_t> seeds) {
      return draw(placed, sample, seeds, lane_.device_);
    };
    evidence.drawOnCpu = [&](const SampleCase& sample, std::span<const std::uint64_t> seeds) {
      DeviceChoice cpu;
      cpu.caseTime = lane_.device_.caseTime;
      return draw(placed, sample, seeds, cpu);
    };
    AttemptPlan plan{.spec = &placed.unit->planned->spec,
                     .schema = placed.schema,
                     .rule = placed.rule,
                     .choice = placed.unit->choice,
                     .seed = placed.unit->seed};
    placed.outcome.attempt = judgeAttempt(plan, evidence);
    placed.outcome.state = placed.outcome.attempt->state;
    placed.outcome.stage = "judge";
  }

  Result<Drawn> draw(const Placed& placed, const SampleCase& sample,
                     std::span<const std::uint64_t> seeds, const DeviceChoice& device) {
    const std::uint64_t begin = kOperandBytes + kRegions * kRegionBytes;
    const DrawRoom room{.device = &device,
                        .ask = device.words == "cpu" ? &lane_.askReference_ : &lane_.askDevice_,
                        .memory = &lane_.memory_,
                        .operandsBegin = next_,
                        .operandsEnd = kOperandBytes,
                        .resultsBegin = begin,
                        .resultsEnd = begin + kRegionBytes,
                        .cotangents = kCotangentsAt,
                        .seed = placed.unit->seed};
    lane_.memory_.release(begin, kRegionBytes);
    return drawSamples(room, sample, placed.schema, seeds);
  }

  /// The values of every hypothesis about operands; they overwrite those asked for before.
  Result<Json> askHypotheses(const Placed& placed) {
    const auto index = static_cast<std::size_t>(&placed - placed_.data());
    Json entry = caseOf(index, false);
    entry["hypotheses"] = {"tf32-inputs",          "bf16-inputs",
                           "fp16-inputs",          "flush-subnormal-inputs",
                           "integer-through-fp32", "int64-as-int32"};
    const std::uint64_t begin = kOperandBytes + kRegions * kRegionBytes;
    const Json request{{"do", "reference"},
                       {"arena", lane_.memory_.path()},
                       {"begin", begin},
                       {"end", begin + kRegionBytes},
                       {"case_seconds", lane_.device_.caseTime.count()},
                       {"cases", Json::array({entry})}};
    NEURONCHECK_TRY(Json answer, lane_.askReference_(request, patience(1)));
    if (!answer.contains("cases") || !answer.at("cases")[0].contains("outputs")) {
      return fail(ErrorCode::Internal, "the hypotheses were not evaluated");
    }
    return answer.at("cases")[0];
  }

  Lane& lane_;
  std::vector<Placed> placed_;
  std::uint64_t next_ = 0;
  std::uint64_t regions_ = 0;
  std::mutex regionsMutex_;
};

Lane::Lane(DeviceChoice device, Ask deviceWorker, Ask reference, FindSchema findSchema,
           SharedMemory memory)
    : device_(std::move(device)),
      askDevice_(std::move(deviceWorker)),
      askReference_(std::move(reference)),
      findSchema_(std::move(findSchema)),
      memory_(std::move(memory)) {}

Result<Lane> Lane::make(DeviceChoice device, Ask deviceWorker, Ask reference,
                        FindSchema findSchema) {
  constexpr auto kBytes = static_cast<std::uint64_t>(kCotangents) * sizeof(float);
  NEURONCHECK_TRY(SharedMemory memory, SharedMemory::make(kCotangentsAt + kBytes));
  writeCotangents(memory.bytes().subspan(kCotangentsAt, kBytes));
  return Lane(std::move(device), std::move(deviceWorker), std::move(reference),
              std::move(findSchema), std::move(memory));
}

Result<std::vector<UnitOutcome>> Lane::run(std::span<const Unit> units) {
  return Batch(*this, units).run();
}

std::uint64_t Lane::bytesOf(const CaseSpec& spec) {
  std::uint64_t bytes = 0;
  for (const CaseStep& step : spec.steps) {
    std::uint64_t more = layoutOf(step).total();
    bytes = __builtin_add_overflow(bytes, more, &more) ? UINT64_MAX : more;
  }
  return bytes;
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/trace_request.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/case_operands.h"
#include "torch_host/sandbox/isolated.h"
#include "torch_host/trace/meta_kernels.h"
#include "torch_host/trace/operands.h"
#include "torch_host/trace/recorder_library.h"
#include "torch_host/trace/trace_case.h"

namespace neuroncheck::trace {
namespace {

using nlohmann::json;

constexpr std::uint64_t kWorkMemory = std::uint64_t{4} << 30;
constexpr std::uint64_t kMostMemory = std::uint64_t{512} << 30;

/// A case of the request that can be tried.
struct Job {
  std::size_t index = 0;  ///< place in the answer
  CaseSpec spec;
  std::uint64_t bytes = 0;  ///< of its operands, or those a list of sizes may ask for
};

struct Options {
  TraceBounds bounds;
  std::chrono::seconds cpu{20};
};

Json answerOf(const Traced& traced) {
  Json out = Json::object();
  out["arrivals"] = Json::array();
  for (const OpUse& use : traced.arrivals) {
    Json arrival = Json{{"target", use.op.str()}};
    arrival.update(nodeToJson(use));
    out["arrivals"].push_back(std::move(arrival));
  }
  if (traced.raised) {
    out["raised"] = *traced.raised;
    out["raised_at"] = traced.raisedAt;
  }
  if (traced.notTraced) {
    out["not_traced"] = *traced.notTraced;
  }
  return out;
}

Json notTraced(const std::string& reason) {
  return {{"arrivals", Json::array()}, {"not_traced", reason}};
}

/// Bytes that a list of sizes may ask for, whatever it is; only addresses are set aside for them.
std::uint64_t requestedBytes(const CaseValue& value) {
  const auto* list = std::get_if<CaseList>(&value.value);
  std::uint64_t bytes = 8;
  for (const CaseValue& item : list == nullptr ? std::vector<CaseValue>() : list->items) {
    const auto* size = std::get_if<std::int64_t>(&item.value);
    if (size == nullptr || *size < 0 ||
        __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(*size), &bytes)) {
      return 0;
    }
  }
  return bytes;
}

std::uint64_t addressesOf(const CaseSpec& spec) {
  std::uint64_t bytes = 0;
  for (const CaseStep& step : spec.steps) {
    bytes = std::max(bytes, layoutOf(step).total());
    for (const CaseArgument& argument : step.args) {
      bytes = std::max(bytes, requestedBytes(argument.value));
    }
  }
  return bytes;
}

std::chrono::milliseconds processorTime() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

/// Traces jobs one after the other in a child and says when one is done. Ends early when little of
/// the child's time is left, so that each case has nearly all of it.
void work(const std::vector<Job>& jobs, const RecorderLibrary& recorder, const Options& options,
          const sandbox::Send& send) {
  const auto kernels = registerMetaKernels();
  boundCpuResults();
  const auto began = processorTime();
  for (const Job& job : jobs) {
    Json message = answerOf(traceCase(job.spec, recorder, options.bounds));
    message["index"] = job.index;
    if (!send(dumpJson(message)) || processorTime() - began > options.cpu / 8) {
      return;
    }
  }
}

/// Runs the jobs in children until each has an answer.
void runAll(std::vector<Job> jobs, const RecorderLibrary& recorder, const Options& options,
            Json& answers) {
  while (!jobs.empty()) {
    const std::uint64_t most = std::ranges::max(jobs, {}, &Job::bytes).bytes;
    sandbox::Bounds bounds;
    bounds.cpu = options.cpu;
    bounds.wall = 3 * options.cpu + std::chrono::seconds(5);
    // Results of large operands have addresses too, and nothing in them.
    bounds.memory = most > options.bounds.cpuBytes
                        ? kWorkMemory + 16 * std::min(kMostMemory / 16, most)
                        : kWorkMemory;
    bounds.allowExecutableMemory = true;
    std::set<std::size_t> done;
    const sandbox::Isolated isolated = sandbox::runIsolated(
        [&](const sandbox::Send& send) { work(jobs, recorder, options, send); },
        [&](const std::string& message) {
          Json answer = Json::parse(message, nullptr, false);
          const auto index =
              answer.is_object() ? answer.value("index", answers.size()) : answers.size();
          if (index < answers.size() && done.insert(index).second) {
            answer.erase("index");
            answers[index].update(answer);
          }
        },
        bounds);
    std::erase_if(jobs, [&](const Job& job) { return done.contains(job.index); });
    if (!jobs.empty() && (!isolated.ending.empty() || done.empty())) {
      const std::string ending = isolated.ending.empty() ? "no answer" : isolated.ending;
      answers[jobs.front().index].update(notTraced("running it ended the process: " + ending));
      jobs.erase(jobs.begin());
    }
  }
}

}  // namespace

Json answerTrace(const json& request) {
  const auto recorder = RecorderLibrary::load();
  if (!recorder) {
    return {{"error", recorder.error().text()}};
  }
  Options options;
  options.cpu = std::chrono::seconds(std::max(1, request.value("cpu_seconds", 20)));
  options.bounds.exactBytes = request.value("exact_bytes", options.bounds.exactBytes);
  options.bounds.cpuBytes = request.value("cpu_bytes", options.bounds.cpuBytes);
  Json out = Json::object();
  out["cases"] = Json::array();
  std::vector<Job> small;
  std::vector<Job> large;
  for (const json& entry : request.at("cases")) {
    Json answer = Json{{"id", entry.at("id")}};
    auto spec = CaseSpec::parse(entry.at("case").get<std::string>());
    if (!spec) {
      answer.update(notTraced("its case cannot be read: " + spec.error().text()));
    } else {
      const std::uint64_t bytes = addressesOf(*spec);
      Job job{.index = out["cases"].size(), .spec = *std::move(spec), .bytes = bytes};
      (bytes > options.bounds.cpuBytes ? large : small).push_back(std::move(job));
    }
    out["cases"].push_back(std::move(answer));
  }
  out["refused"] = (*recorder)->setNative(request.at("native").get<std::vector<std::string>>());
  runAll(std::move(small), **recorder, options, out["cases"]);
  runAll(std::move(large), **recorder, options, out["cases"]);
  return out;
}

}  // namespace neuroncheck::trace

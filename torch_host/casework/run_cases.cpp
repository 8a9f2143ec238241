// SPDX-License-Identifier: Apache-2.0
// Runs cases on the device under test and puts what came back into the arena. Nothing is judged
// here.
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/TensorOptions.h>

#include <chrono>
#include <tuple>

#include <fmt/format.h>

#include "torch_host/casework/batch.h"
#include "torch_host/casework/device.h"
#include "torch_host/casework/dispatch_class.h"
#include "torch_host/casework/requests.h"

namespace neuroncheck::casework {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

c10::DispatchKey keyOf(const c10::Device& device) {
  return c10::computeDispatchKey(c10::kFloat, c10::kStrided, device);
}

/// Runs one case on a device.
class DeviceCase {
 public:
  DeviceCase(const Job& job, Arena& arena, const TestDevice& device)
      : job_(job), arena_(arena), device_(device) {}

  json run() {
    const auto began = Clock::now();
    std::ignore = device_.takeLog();  // of whatever ran before
    std::optional<FallbackWatch> watch;
    if (!device_.device().is_cpu()) {
      watch.emplace(keyOf(device_.device()));
    }
    runStages();
    if (watch) {
      const OpName& op = job_.spec.steps.back().op;
      const auto handle = c10::Dispatcher::singleton().findSchema(
          {fmt::format("{}::{}", op.ns, op.base), op.overload});
      answer_["dispatch"] =
          handle ? name(dispatchClassOf(*handle, keyOf(device_.device()))) : "missing";
      answer_["fell_back"] = watch->fellBack();
    }
    if (auto log = device_.takeLog()) {
      answer_["log"] = *std::move(log);
    }
    answer_["seconds"] = std::chrono::duration<double>(Clock::now() - began).count();
    return std::move(answer_);
  }

 private:
  /// True when the stage went through.
  bool stage(std::string_view name, const std::function<Result<void>()>& body) {
    return runStage(answer_, name, body);
  }

  void runStages() {
    const Manner manner{.device = device_.device()};
    Execution done;
    const bool ran = stage("forward", [&]() -> Result<void> {
      NEURONCHECK_TRY(done, execute(job_, arena_, manner));
      return {};
    });
    if (!ran) {
      return;
    }
    Gradients grads;
    if (job_.spec.backward && !stage("backward", [&]() -> Result<void> {
          NEURONCHECK_TRY(grads, gradientsOf(done, job_, arena_, manner));
          return {};
        })) {
      return;
    }
    if (!stage("synchronize", [&]() -> Result<void> {
          device_.synchronize();
          return {};
        })) {
      return;
    }
    stage("copy", [&]() -> Result<void> { return gather(done, grads); });
  }

  Result<void> gather(const Execution& done, const Gradients& grads) {
    json outputs = json::array();
    for (const OutputTensor& output : done.outputs) {
      NEURONCHECK_TRY(json one, stored(output.tensor, arena_));
      one["alias"] = output.alias;
      one["written"] = output.written;
      one["on_device"] = !output.tensor.defined() || output.tensor.device() == device_.device();
      outputs.push_back(std::move(one));
    }
    json list = json::array();
    for (std::size_t i = 0; i < grads.values.size(); ++i) {
      NEURONCHECK_TRY(json one, stored(grads.values[i], arena_));
      one["operand"] = grads.operands[i];
      list.push_back(std::move(one));
    }
    NEURONCHECK_TRY(const std::vector<std::size_t> changed, done.operands->changed());
    answer_["outputs"] = std::move(outputs);
    answer_["gradients"] = std::move(list);
    answer_["changed"] = changed;
    answer_["seeded"] = done.seeded;
    return {};
  }

  const Job& job_;
  Arena& arena_;
  const TestDevice& device_;
  json answer_ = json::object();
};

/// Whether the device still adds: 1 + 2 on a few elements.
bool canary(const TestDevice& device) {
  bool right = false;
  const auto raised = raisedBy([&]() -> Result<void> {
    const auto add = c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor");
    const at::Tensor one = at::scalar_tensor(1.0F).expand({5}).contiguous().to(device.device());
    const at::Tensor two = at::scalar_tensor(2.0F).expand({5}).contiguous().to(device.device());
    torch::jit::Stack stack{one, two, 1};
    add.callBoxed(&stack);
    device.synchronize();
    const at::Tensor sum = stack.front().toTensor().cpu().contiguous();
    right = sum.numel() == 5;
    for (std::int64_t i = 0; right && i < 5; ++i) {
      right = sum.const_data_ptr<float>()[i] == 3.0F;
    }
    return {};
  });
  return right && !raised;
}

sandbox::Bounds boundsOf(const json& request, const TestDevice& device) {
  sandbox::Bounds bounds;
  const auto seconds = std::chrono::seconds(std::max(1, request.value("case_seconds", 60)));
  bounds.wall = seconds;
  bounds.cpu = std::chrono::seconds(24 * 3600);
  // What runs is torch's code and the device's, none of a model: no sandbox, in which autograd
  // could not start its threads. A real device maps more addresses than any bound.
  bounds.memory = device.foreign() ? 0 : request.value("memory", std::uint64_t{8} << 30);
  bounds.sandboxed = false;
  bounds.keepErrors = true;
  return bounds;
}

}  // namespace

json answerRunCases(const json& request) {
  auto device = TestDevice::prepare(request.at("device").get<std::string>(),
                                    request.value("profile", std::string("{}")));
  if (!device) {
    return {{"unavailable", device.error().text()}};
  }
  auto arena =
      Arena::open(request.at("arena").get<std::string>(), request.at("begin").get<std::uint64_t>(),
                  request.at("end").get<std::uint64_t>());
  if (!arena) {
    return {{"error", arena.error().text()}};
  }
  Batch batch = batchOf(request);
  json answer = json::object();
  std::string unavailable;
  const auto begin = [&] {
    const auto opened = device->open();
    unavailable = opened ? std::string() : opened.error().text();
  };
  const auto one = [&](const Job& job, bool& last) -> json {
    if (!unavailable.empty()) {
      last = true;
      return {{"unavailable", unavailable}};
    }
    DeviceCase now(job, *arena, *device);
    json result = now.run();
    // An error may have left the device unusable; the cases that follow must not pay for it.
    if (result.contains("raised")) {
      last = !canary(*device);
      result["poisoned"] = last;
    }
    return result;
  };
  runBatch(batch, boundsOf(request, *device), begin, one, answer);
  answer["cases"] = std::move(batch.answers);
  answer["simulated"] = device->simulated();
  return answer;
}

}  // namespace neuroncheck::casework

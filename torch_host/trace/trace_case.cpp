// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/trace_case.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/case_operands.h"
#include "torch_host/trace/arrivals.h"
#include "torch_host/trace/operands.h"

namespace neuroncheck::trace {
namespace {

constexpr std::size_t kMaxMessage = 2000;
constexpr const char* kBeyondMemory = "does not fit the memory bound";

/// Refuses single results that no case needs: the address space of a child that traces large
/// operands is no bound of what it may write.
class BoundedAllocator final : public c10::Allocator {
 public:
  explicit BoundedAllocator(c10::Allocator* base) : base_(base) {}
  c10::DataPtr allocate(std::size_t bytes) override {
    TORCH_CHECK(bytes <= kMostOfOneResult, "a result of ", bytes >> 20, " MiB ", kBeyondMemory);
    return base_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    base_->copy_data(to, from, bytes);
  }

 private:
  static constexpr std::size_t kMostOfOneResult = std::size_t{1} << 30;
  c10::Allocator* base_;
};

/// How one call ended.
struct Ending {
  bool built = true;  ///< the arguments could be made
  std::optional<std::string> message;
  bool noKernel = false;  ///< torch has no kernel for this
};

/// torch's words, without what the dispatcher knows of every other backend.
std::string shortened(std::string message) {
  if (message.find("Could not run '") != std::string::npos) {
    message.resize(std::min(message.size(), message.find("\n\n")));
  }
  if (message.size() > kMaxMessage) {
    message.resize(kMaxMessage);
    message += "...";
  }
  return message;
}

template <typename Body>
Ending endingOf(const Body& body) {
  try {
    return body();
  } catch (const c10::NotImplementedError& error) {
    return {.message = shortened(error.what_without_backtrace()), .noKernel = true};
  } catch (const c10::Error& error) {
    return {.message = shortened(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return {.message = shortened(error.what())};
  } catch (...) {
    return {.message = "an exception of an unknown kind"};
  }
}

c10::Device neuron() { return {c10::DeviceType::PrivateUse1, 0}; }

/// One call of the operator of a step on one device.
Ending callOn(const CaseStep& step, const c10::OperatorHandle& op, c10::Device device, Fill fill) {
  return endingOf([&]() -> Ending {
    auto stack = buildArguments(step, op.schema(), device, fill);
    if (!stack) {
      return {.built = false, .message = stack.error().text()};
    }
    const c10::NoGradGuard noGrad;
    op.callBoxed(&*stack);
    return {};
  });
}

Ending callRecorded(const CaseStep& step, const c10::OperatorHandle& op, Fill fill,
                    const RecorderLibrary& recorder, const ArrivalCollector& collector) {
  return endingOf([&]() -> Ending {
    auto stack = buildArguments(step, op.schema(), neuron(), fill);
    if (!stack) {
      return {.built = false, .message = stack.error().text()};
    }
    const c10::NoGradGuard noGrad;
    recorder.observe(&collector.observer());
    recorder.start();
    const Ending ending = endingOf([&]() -> Ending {
      op.callBoxed(&*stack);
      return {};
    });
    recorder.stop();
    recorder.observe(nullptr);
    return ending;
  });
}

Traced notTraced(std::string reason) {
  Traced out;
  out.notTraced = std::move(reason);
  return out;
}

/// What refuses a case before anything runs.
std::optional<std::string> refusal(const CaseSpec& spec, const TraceBounds& bounds) {
  if (spec.steps.size() != 1) {
    return "a sequence of calls is not traced";
  }
  if (spec.backward) {
    return "gradients are not traced";
  }
  const std::uint64_t bytes = layoutOf(spec.steps.front()).total();
  if (bytes > bounds.caseBytes) {
    return fmt::format("its operands are too large to trace: {} MiB, at most {} MiB", bytes >> 20,
                       bounds.caseBytes >> 20);
  }
  return std::nullopt;
}

/// Why the operator refuses these inputs wherever it runs; nullopt when it is the recorder alone.
std::optional<std::string> refusedElsewhere(const CaseStep& step, const c10::OperatorHandle& op,
                                            Fill fill, bool large, const Ending& recorded) {
  if (large && recorded.noKernel) {
    return std::nullopt;  // No value of an input makes a kernel.
  }
  const Ending other = callOn(step, op, large ? c10::kMeta : c10::kCPU, fill);
  return large && other.noKernel ? recorded.message : other.message;
}

}  // namespace

void boundCpuResults() {
  static BoundedAllocator allocator(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&allocator, UINT8_MAX);
}

Traced traceCase(const CaseSpec& spec, const RecorderLibrary& recorder, const TraceBounds& bounds) {
  if (auto reason = refusal(spec, bounds)) {
    return notTraced(*std::move(reason));
  }
  const CaseStep& step = spec.steps.front();
  const std::string packet = step.op.ns + "::" + step.op.base;
  const auto op = c10::Dispatcher::singleton().findSchema({packet, step.op.overload});
  if (!op) {
    return notTraced(fmt::format("torch has no operator {}", step.op.str()));
  }
  recorder.setBounds(bounds.exactBytes, bounds.cpuBytes);
  const bool large = layoutOf(step).total() > bounds.cpuBytes;
  std::optional<std::string> refused;
  for (const Fill fill : {Fill::Zeros, Fill::Ones, Fill::Identity}) {
    ArrivalCollector collector(isFactory(op->schema()));
    const Ending ending = callRecorded(step, *op, fill, recorder, collector);
    if (!ending.built) {
      return notTraced("its arguments cannot be made: " + *ending.message);
    }
    if (collector.lostTrack()) {
      return notTraced(
          "it works on sparse, nested or quantised tensors, which the recorder does not hold");
    }
    Traced out;
    if (!ending.message) {
      out.arrivals = collector.take();
      return out;
    }
    if (const std::string reason = recorder.gaveUp(); !reason.empty()) {
      return notTraced(reason);
    }
    if (ending.message->find(kBeyondMemory) != std::string::npos) {
      return notTraced(*ending.message);
    }
    const auto elsewhere = refusedElsewhere(step, *op, fill, large, ending);
    if (!elsewhere) {
      out.arrivals = collector.take();
      out.raised = ending.message;
      out.raisedAt = collector.raisedAt();
      return out;
    }
    refused = refused ? refused : elsewhere;
    if (large) {
      break;
    }
  }
  return notTraced("the operator refuses inputs of zeros: " + *refused);
}

}  // namespace neuroncheck::trace

// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/launch.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>

#include <vector>

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/hooks.h"
#include "torch_host/sim/arithmetic.h"
#include "torch_host/sim/call.h"
#include "torch_host/sim/engine.h"
#include "torch_host/sim/process_faults.h"
#include "torch_host/sim/result_faults.h"
#include "torch_host/sim/state.h"

namespace torch::autograd {
/// Of torch/csrc/autograd/graph_task.h, which costs a minute to include; -1 outside a backward.
TORCH_API int get_current_graph_task_id();
}  // namespace torch::autograd

namespace neuroncheck::sim {
namespace {

using at::Tensor;

/// Copies that a fallback makes come back here; they are part of the call that makes them.
thread_local bool insideCall = false;

struct InsideCall {
  InsideCall() { insideCall = true; }
  ~InsideCall() { insideCall = false; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;
};

template <typename Exception>
[[noreturn]] void raiseAs(const Failure& failure) {
  throw Exception(c10::SourceLocation{__func__, __FILE__, __LINE__}, failure.message);
}

bool isBackward(const Call& call) {
  return torch::autograd::get_current_graph_task_id() >= 0 ||
         call.packet.find("_backward") != std::string::npos;
}

/// Substitutes for operands: the same memory read and written as if it were contiguous.
class ContiguousReading {
 public:
  ContiguousReading(Call& call, Side side) : call_(call) {
    const size_t first = call.stack.size() - call.arguments.size();
    const auto& formal = call.op.schema().arguments();
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const bool written = formal[i].alias_info() != nullptr && formal[i].alias_info()->isWrite();
      const bool meant = side == Side::All || (side == Side::Written) == written;
      if (meant && call.arguments[i].isTensor()) {
        call.stack[first + i] = substitute(call.arguments[i].toTensor());
      }
    }
  }

  /// Gives back the tensors themselves where the operator returned substitutes.
  void restore() {
    const size_t first = call_.stack.size() - call_.op.schema().returns().size();
    for (size_t i = first; i < call_.stack.size(); ++i) {
      for (const auto& [original, stand] : pairs_) {
        if (call_.stack[i].isTensor() && call_.stack[i].toTensor().is_same(stand)) {
          call_.stack[i] = original;
        }
      }
    }
  }

 private:
  Tensor substitute(const Tensor& tensor) {
    if (!isOnDevice(tensor) || tensor.is_contiguous()) {
      return tensor;
    }
    const auto end = static_cast<size_t>(tensor.storage_offset() + tensor.numel());
    if (end * tensor.element_size() > tensor.storage().nbytes()) {
      return tensor;  // a broadcast: there is no memory to read
    }
    auto stand = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(tensor.storage()),
                                                          tensor.key_set(), tensor.dtype());
    stand.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
    stand.unsafeGetTensorImpl()->set_sizes_contiguous(tensor.sizes());
    pairs_.emplace_back(tensor, stand);
    return stand;
  }

  Call& call_;
  std::vector<std::pair<Tensor, Tensor>> pairs_;
};

/// Values of written operands, to be put back.
class WrittenValues {
 public:
  explicit WrittenValues(const Call& call) {
    const auto& formal = call.op.schema().arguments();
    for (size_t i = 0; i < formal.size(); ++i) {
      if (formal[i].alias_info() != nullptr && formal[i].alias_info()->isWrite()) {
        eachTensor(call.arguments[i], [this](const Tensor& tensor) {
          if (isOnDevice(tensor)) {
            values_.emplace_back(tensor, onHost(tensor).clone());
          }
        });
      }
    }
  }
  void restore() const {
    for (const auto& [tensor, before] : values_) {
      if (before.sizes() == tensor.sizes()) {
        onHost(tensor).copy_(before);
      } else {
        onHost(tensor).zero_();
      }
    }
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> values_;
};

struct Firing {
  const Fault* fault;
  std::size_t index;
};

/// One call on its way through the device.
class Launch {
 public:
  Launch(Call& call, DeviceState& state) : call_(call), state_(state), profile_(state.profile()) {
    plumbing_ = isPlumbing(call.name);
    native_ = !plumbing_ && isNative();
    metadata_ = plumbing_ && call.packet != "aten::_copy_from" &&
                call.packet != "aten::_copy_from_and_resize";
    waits_ = waits(call.op, call.stack) || (!plumbing_ && !native_);
  }

  void run() {
    if (waits_) {
      synchronize();
    }
    if (!metadata_) {
      if (const auto broken = state_.broken()) {
        fail(*broken);
      }
    }
    refuse();
    findFaults();
    applyBefore();
    const SpecialValues special(call_, *profile_);
    compute();
    if (native_) {
      special.apply(call_);
    }
    for (const Firing& firing : firing_) {
      if (!isBeforeRun(firing.fault->kind) && !isOtherRun(firing.fault->kind)) {
        spoilResults(call_, *firing.fault, firing.index, state_);
      }
    }
    if (state_.givesGarbage() && !metadata_) {
      for (const Touched& result : touched(call_.op, call_.arguments, call_.stack)) {
        fillWithGarbage(result.tensor, state_);
      }
    }
    state_.launched(call_.name, call_.packet);
  }

 private:
  [[nodiscard]] bool isListed(const std::unordered_set<std::string>& names) const {
    const std::string& overload = call_.op.operator_name().overload_name;
    return names.contains(call_.name) || names.contains(call_.packet) ||
           (overload.empty() && names.contains(call_.packet + ".default"));
  }
  [[nodiscard]] bool isNative() const { return profile_->allNative || isListed(profile_->native); }

  /// Raises, now or at the next synchronisation.
  void fail(const Failure& failure) {
    if (failure.compiler && profile_->latchAfterCompileError) {
      state_.breakFor(failure);
    }
    if (profile_->async && !waits_) {
      state_.latch(failure);
    } else {
      raiseFailure(failure);
    }
  }

  /// A native operator that cannot be run on the device after all.
  void failOrRecover(const Failure& failure) {
    if (profile_->onFailure == OnFailure::Cpu && !plumbing_) {
      native_ = false;
    } else {
      fail(failure);
    }
  }

  void refuse() {
    if (isListed(profile_->unsupported)) {
      raiseFailure({"neuron_sim: " + call_.name + " is unsupported in this profile",
                    ErrorType::NotImplemented});
    }
    for (const Refusal& refusal : profile_->refuse) {
      if (matches(refusal.calls, call_)) {
        failOrRecover(refusal.failure);
        break;
      }
    }
  }

  void findFaults() {
    for (std::size_t i = 0; i < profile_->faults.size(); ++i) {
      const Fault& fault = profile_->faults[i];
      if (!matches(fault.calls, call_)) {
        continue;
      }
      const bool backwardOnly =
          fault.phase == Phase::Backward || fault.kind == FaultKind::WrongGradient;
      if ((backwardOnly || fault.phase == Phase::Forward) && isBackward(call_) != backwardOnly) {
        continue;
      }
      if (state_.fires(fault, i)) {
        firing_.push_back({&fault, i});
      }
    }
  }

  void applyBefore() {
    for (const auto& [fault, index] : firing_) {
      disturbProcess(*fault);
      switch (fault->kind) {
        case FaultKind::Error:
          failOrRecover(fault->failure);
          break;
        case FaultKind::LateError:
          state_.latch(fault->failure);
          break;
        case FaultKind::FallbackRaises:
          native_ = false;
          raiseFailure(fault->failure);
        case FaultKind::Oom:
          raiseFailure({"neuron_sim: out of memory after " +
                            std::to_string(exhaustMemory(fault->mebibytes)) + " MiB",
                        ErrorType::OutOfMemory});
        case FaultKind::Poison:
          if (fault->garbage) {
            state_.poison();
          } else {
            state_.breakFor(fault->failure);
          }
          raiseFailure(fault->failure);
        default:
          break;
      }
    }
  }

  void compute() {
    for (const auto& [fault, index] : firing_) {
      if (isOtherRun(fault->kind)) {
        computeOtherwise(*fault);
        return;
      }
    }
    if (plumbing_) {
      execute(call_.op, &call_.stack);
    } else if (!native_) {
      fallBack();
    } else {
      if (isMove(call_.packet)) {
        execute(call_.op, &call_.stack);
      } else if (profile_->narrowInt64 || profile_->narrowFloat64) {
        runDegraded(call_, narrowed(profile_->narrowInt64, profile_->narrowFloat64));
      } else if (profile_->wideArithmetic) {
        runDegraded(call_, wide());
      } else {
        execute(call_.op, &call_.stack);
      }
      state_.executed(call_.name);
    }
  }

  void computeOtherwise(const Fault& fault) {
    bool possible = true;
    switch (fault.kind) {
      case FaultKind::SilentCpu:
        execute(call_.op, &call_.stack);
        return;  // and nothing lists it
      case FaultKind::IgnoreStrides: {
        ContiguousReading reading(call_, fault.operands);
        execute(call_.op, &call_.stack);
        reading.restore();
        break;
      }
      case FaultKind::NoopInplace: {
        const WrittenValues before(call_);
        execute(call_.op, &call_.stack);
        before.restore();
        break;
      }
      case FaultKind::BFloat16Accumulation:
        possible = runWithCoarseSums(call_, 1, at::kBFloat16);
        break;
      case FaultKind::BFloat16TileAccumulation:
        possible = runWithCoarseSums(call_, 128, at::kBFloat16);
        break;
      case FaultKind::Float16Accumulation:
        possible = runWithCoarseSums(call_, 1, at::kHalf);
        break;
      default:
        possible = runDegraded(call_, arithmeticOf(fault.kind, state_));
    }
    TORCH_CHECK(possible, "neuron_sim: the fault ", name(fault.kind), " is not possible in ",
                call_.name);
    state_.executed(call_.name);
  }

  void fallBack() {
    if (profile_->fallback == FallbackPolicy::Raise) {
      raiseFailure({"neuron_sim: " + call_.name +
                        " has no kernel on the device and this profile forbids the CPU",
                    ErrorType::NotImplemented});
    }
    const bool warns =
        profile_->fallback == FallbackPolicy::WarnAlways ||
        (profile_->fallback == FallbackPolicy::Warn && state_.warnedFirst(call_.name));
    if (warns) {
      TORCH_WARN("neuron_sim: ", call_.name, " runs on the CPU");
    }
    if (profile_->fallbackCopies) {
      fallBackByCopies(call_.op, &call_.stack);
    } else {
      backend::runOnAliases(call_.op, &call_.stack);
    }
    state_.fellBack(call_.name);
  }

  Call& call_;
  DeviceState& state_;
  std::shared_ptr<const Profile> profile_;
  bool plumbing_ = false;
  bool native_ = false;
  bool metadata_ = false;  ///< describes memory and does nothing to it
  bool waits_ = false;
  std::vector<Firing> firing_;
};

}  // namespace

void raiseFailure(const Failure& failure) {
  switch (failure.type) {
    case ErrorType::NotImplemented:
      raiseAs<c10::NotImplementedError>(failure);
    case ErrorType::Index:
      raiseAs<c10::IndexError>(failure);
    case ErrorType::Value:
      raiseAs<c10::ValueError>(failure);
    case ErrorType::Type:
      raiseAs<c10::TypeError>(failure);
    case ErrorType::LinAlg:
      raiseAs<c10::LinAlgError>(failure);
    case ErrorType::OutOfMemory:
      raiseAs<c10::OutOfMemoryError>(failure);
    case ErrorType::Runtime:
      break;
  }
  raiseAs<c10::Error>(failure);
}

void synchronize() {
  if (const auto pending = DeviceState::get().takePending()) {
    raiseFailure(*pending);
  }
}

void launch(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (insideCall) {
    execute(op, stack);
    return;
  }
  const InsideCall inside;
  const backend::PauseRecording pause;
  const at::AutoDispatchBelowADInplaceOrView below;
  Call call(op, *stack);
  Launch(call, DeviceState::get()).run();
}

void composeForGradient(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  bool wanted = false;
  const size_t first = stack->size() - op.schema().arguments().size();
  for (size_t i = first; i < stack->size() && c10::GradMode::is_enabled(); ++i) {
    eachTensor((*stack)[i], [&](const Tensor& tensor) { wanted |= tensor.requires_grad(); });
  }
  // For a device that has no kernel of its own torch's entry is the composition.
  op.redispatchBoxed(
      c10::DispatchKeySet(wanted ? c10::DispatchKey::AutogradXLA : c10::DispatchKey::PrivateUse1),
      stack);
}

}  // namespace neuroncheck::sim

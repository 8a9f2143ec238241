// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// C interface of libneuron_recorder.so, for ctypes and dlopen. Loading the library registers the
/// PrivateUse1 backend `neuron`; a process may load only one such library. One recording at a time.
// NOLINTBEGIN(readability-identifier-naming): C names, for programs in any language
extern "C" {

/// Registers a backend kernel for each operator of `names` ("aten::linear", "aten::mm.out", one a
/// line), replacing the set of an earlier call. Each runs its CPU code at operator level, so its
/// children are not seen. The attention choice is made as a backend with the overrideable attention
/// kernel makes it exactly when that operator is in the set. Returns the names that were refused
/// because they have no schema or torch does not take them, one a line (empty when none); valid
/// until the next call.
const char* neuron_recorder_set_native(const char* names);

/// Begins to record the operator calls of this thread and of the backward passes it starts.
void neuron_recorder_start(void);

/// Ends the recording and returns it as JSON text (see call_log.h); valid until the next call.
const char* neuron_recorder_stop(void);

/// Hears of each call of a recording, in place of the JSON text. `op` is a
/// `const c10::OperatorHandle*`, `stack` a `const torch::jit::Stack*` that ends with the call's
/// arguments (before) or its results (after); both are valid during the call alone. Calls are
/// numbered from 0 in the order in which they begin. Only for a program that links the same
/// libtorch.
struct neuron_recorder_observer {
  void* context;
  void (*before)(void* context, size_t call, int depth, const void* op, const void* stack);
  /// `arrived`: see call_log.h. `raised`: an exception leaves the call and there are no results.
  void (*after)(void* context, size_t call, bool arrived, bool raised, const void* op,
                const void* stack);
};

/// From the next start on, calls are told to `observer` (kept by the caller while it is set); null
/// goes back to JSON text.
void neuron_recorder_observe(const struct neuron_recorder_observer* observer);

/// Bounds of what a kernel may compute. A call that arrives with operands of more than
/// `exactBytes` bytes is run on tensors without memory, by its Meta kernel: its results have the
/// right geometry, and zeros as values. Where there is no such kernel it runs on the CPU as others
/// do, unless its operands have more than `cpuBytes`: then it raises, and
/// `neuron_recorder_gave_up` says why. Without a call of this function everything is computed.
void neuron_recorder_set_bounds(uint64_t exactBytes, uint64_t cpuBytes);

/// Why a call of the last recording could not be made at all, empty when none; valid until the
/// next start.
const char* neuron_recorder_gave_up(void);
}
// NOLINTEND(readability-identifier-naming)

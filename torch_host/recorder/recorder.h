// SPDX-License-Identifier: Apache-2.0
#pragma once

/// C interface of libneuron_recorder.so, for ctypes and dlopen. Loading the library registers the
/// PrivateUse1 backend `neuron`; a process may load only one such library. One recording at a time.
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
}

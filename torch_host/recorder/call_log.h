// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "torch_host/recorder/recorder.h"

namespace neuroncheck::recorder {

/// Forgets the calls recorded before and records the calling thread's operator calls from here on.
/// Threads of the autograd engine started by this thread inherit it.
void startRecording();

/// From the next start on, who hears of calls in place of the JSON text; null for nobody.
void setObserver(const neuron_recorder_observer* observer);

/// Ends recording. Returns a JSON array, one object a call in the order of the calls:
///
///   {"d": depth, "op": "aten::mm", "in": [...], "out": [...], "arrived": bool, "raised": bool}
///
/// `arrived`: the call ended at a kernel of the backend or at its fallback, so it has no children.
/// `raised`: an exception left the call (`out` is then empty). Values, in the order of the schema:
/// null, true, numbers, strings, lists; tensors are {"t": id, "dtype": "float32", "size": [...],
/// "stride": [...], "contiguous": bool, "device": "neuron"} with an id that is equal for equal
/// tensor objects, plus "wrapped": true for a number that was made a tensor, or "layout" instead of
/// strides; undefined tensors {"t": null}; complex numbers {"complex": [re, im]}; everything else
/// {"kind": "Generator"}. Dtypes, layouts and memory formats arrive as numbers, as the schema
/// passes them.
std::string stopRecording();

/// Marks the innermost call of this thread as one that reached the backend.
void markArrival();

}  // namespace neuroncheck::recorder

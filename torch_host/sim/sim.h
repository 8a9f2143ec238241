// SPDX-License-Identifier: Apache-2.0
#pragma once

/// C interface of libneuron_sim.so, for ctypes and dlopen. Loading the library registers the
/// PrivateUse1 backend `neuron`, a simulated device; a process may load only one such library.
/// Everything run on it is simulated. Texts that are returned are valid until the next call of the
/// same function. Callers that use several threads serialise these calls.
// NOLINTBEGIN(readability-identifier-naming): C names, for programs in any language
extern "C" {

/// Makes a fresh device that behaves as the profile says (docs/schemas/sim-profile-1.schema.json):
/// what the device had latched, logged or counted is forgotten. Returns an empty text, or why the
/// profile is refused, naming the field (the device is then as it was).
const char* neuron_sim_configure(const char* json);

/// Names of the profile that can have no effect, as JSON {"native": [...], "unsupported": [...],
/// "refuse": [...]}: operators without a schema here, and refused ones that never reach the device
/// because torch composes them of others.
const char* neuron_sim_unused(void);

/// What has run since the last call, as JSON: {"executed": {"aten::mm": 3}, "fallback":
/// {"aten::foo": 1}}; lists of names with "lists": "sets"; {} with "none". Allocations, copies and
/// views are not listed.
const char* neuron_sim_take_log(void);

/// How often each fault of the profile has fired since the last call, as a JSON list of numbers in
/// the order of the profile. A fault may fire and change nothing: inf-to-max where nothing is
/// infinite.
const char* neuron_sim_take_fired(void);

/// Waits for the device. 0, or 1 when something had failed since the last synchronisation; then
/// neuron_sim_error says what, and it is not raised again.
int neuron_sim_synchronize(void);
const char* neuron_sim_error(void);
}
// NOLINTEND(readability-identifier-naming)

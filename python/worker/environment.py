# SPDX-License-Identifier: Apache-2.0
"""The environment a backend is run in: nothing may turn into a silent CPU computation that a variable can forbid.

Set before torch is imported, whatever the user had set, and recorded in the handshake. Names and meanings are those publicly known of
TorchNeuron in 2026; a release that lacks one ignores it.
"""
import os

STRICT = {
    # The module is imported by us, when the environment is set, and not by torch.
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    # Operators that have an implementation raise when it fails. One without any still falls back: no variable stops that.
    "TORCH_NEURONX_FALLBACK_ONLY_FOR_UNIMPLEMENTED_OPS": "1",
    # What does not compile raises instead of running as the original graph.
    "TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION": "1",
    "TORCH_NEURONX_DYNAMO_DISABLE_CPU_AUTOCOPY": "1",
    # Errors belong to the operator that made them.
    "NEURON_LAUNCH_BLOCKING": "1",
    # Operators are not fused with those of other cases.
    "TORCH_NEURONX_ENABLE_CONCATENATION": "0",
    # Bounds are checked before an operator runs.
    "TORCH_NEURONX_SKIP_OP_PRECONDITIONS": "0",
    # Equal operands give equal results, rounded to nearest.
    "NEURON_RT_STOCHASTIC_ROUNDING_EN": "0",
}
PREFIXES = ("TORCH_NEURONX_", "NEURON_", "NEURONX_", "NKI_", "TORCH_DEVICE_BACKEND_", "PYTORCH_", "TORCHINDUCTOR_")


def make_strict():
    """Sets the variables of this process. Returns the values of the user that were replaced."""
    replaced = {name: os.environ[name] for name, value in STRICT.items() if os.environ.get(name, value) != value}
    os.environ.update(STRICT)
    return replaced


def recorded():
    """Every variable that a backend of this kind may look at."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES) and not name.startswith("NEURON_CHECK")}

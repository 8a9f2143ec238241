# SPDX-License-Identifier: Apache-2.0
"""neuron-check's case worker for backends that register from Python. README.md says how it works."""

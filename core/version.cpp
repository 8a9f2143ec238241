// SPDX-License-Identifier: Apache-2.0
#include "core/version.h"

namespace neuroncheck {

std::string_view toolName() { return "neuron-check " NEURONCHECK_VERSION; }

}  // namespace neuroncheck

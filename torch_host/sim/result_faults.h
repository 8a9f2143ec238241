// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "torch_host/sim/call.h"
#include "torch_host/sim/state.h"

namespace neuroncheck::sim {

/// Changes what a call that has run gave or wrote, as the fault says. `index` is the fault's place
/// in the profile.
void spoilResults(const Call& call, const Fault& fault, std::size_t index, DeviceState& state);

/// The profile's special values of one native call. Made before it runs, as it may overwrite its
/// operand.
class SpecialValues {
 public:
  SpecialValues(const Call& call, const Profile& profile);
  /// Puts them into results of the operand's shape.
  void apply(const Call& call) const;

 private:
  std::vector<std::pair<at::Tensor, double>> places_;
};

/// Overwrites a tensor with bytes that no two calls have in common.
void fillWithGarbage(const at::Tensor& neuron, DeviceState& state);

}  // namespace neuroncheck::sim

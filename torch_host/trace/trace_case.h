// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case_spec.h"
#include "core/inventory.h"
#include "torch_host/trace/recorder_library.h"

namespace neuroncheck::trace {

struct TraceBounds {
  std::uint64_t exactBytes = std::uint64_t{1} << 20;  ///< up to here values are computed
  std::uint64_t cpuBytes = std::uint64_t{256} << 20;  ///< operands of one run for its shapes
  std::uint64_t caseBytes = std::uint64_t{64} << 30;  ///< operands of a case, never touched
};

/// What a case asks a device for. `raised` and `notTraced` are absent, and `arrivals` is the
/// answer, when the operator went through.
struct Traced {
  std::vector<OpUse> arrivals;  ///< in order; up to the one that raised when `raised` is there
  /// The recorder raises and the CPU, on the same inputs, does not: torch's message.
  std::optional<std::string> raised;
  std::string raisedAt;  ///< the innermost operator that raised, "aten::_thnn_fused_lstm_cell"
  std::optional<std::string> notTraced;  ///< why nothing can be said
};

/// Bounds, for the rest of this process, what one tensor on the CPU may take: 1 GiB.
void boundCpuResults();

/// Calls the operator of a case once on the recorder, without gradients, on tensors of zeros
/// (where the operator refuses zeros, on ones, or on identity matrices).
///
/// Runs kernels of torch on the caller's word: a crash of one ends the process, and only the
/// process's own limits bound its time. Never throws.
[[nodiscard]] Traced traceCase(const CaseSpec& spec, const RecorderLibrary& recorder,
                               const TraceBounds& bounds);

}  // namespace neuroncheck::trace

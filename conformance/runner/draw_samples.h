// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "conformance/runner/lane.h"
#include "conformance/runner/random_case.h"

namespace neuroncheck::conformance {

/// What a random operator is drawn with: the worker and the memory it shares.
struct DrawRoom {
  const DeviceChoice* device = nullptr;
  const Ask* ask = nullptr;
  const SharedMemory* memory = nullptr;
  std::uint64_t operandsBegin = 0, operandsEnd = 0;  ///< free for operands
  std::uint64_t resultsBegin = 0, resultsEnd = 0;    ///< free for results
  std::uint64_t cotangents = 0;                      ///< where numbers for gradients lie
  std::uint64_t seed = 0;                            ///< of the operands
};

/// Runs one case once for each seed, all in one request. Input error when a run did not come to its
/// end, with the device's words.
[[nodiscard]] Result<Drawn> drawSamples(const DrawRoom& room, const SampleCase& sample,
                                        const FunctionSchema* schema,
                                        std::span<const std::uint64_t> seeds);

}  // namespace neuroncheck::conformance

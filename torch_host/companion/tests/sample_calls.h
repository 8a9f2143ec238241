// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torch_host/companion/companion.h"

namespace neuroncheck::companion::testing {

/// What numbers the tensors marked `f` have.
enum class Family : std::uint8_t { Normal, Positive, Wide, MeanTen };

/// One line of sample_calls.txt as a call: arguments that are numbers of fp32.
struct SampleCall {
  std::string text;
  c10::OperatorHandle op;
  torch::jit::Stack arguments;    ///< fp64
  std::vector<at::Tensor> truth;  ///< run, or as the line says where the CPU has no kernel
  bool ran = false;
};

/// Every line, with numbers of this family and seed. A line that cannot be made is a failure of the
/// test.
[[nodiscard]] std::vector<SampleCall> sampleCalls(const std::string& file, Family family,
                                                  unsigned seed);

/// The same arguments with tensors of fp64 as fp32.
[[nodiscard]] torch::jit::Stack narrowed(const torch::jit::Stack& stack);
[[nodiscard]] std::vector<at::Tensor> run(const c10::OperatorHandle& op,
                                          const torch::jit::Stack& stack);

}  // namespace neuroncheck::companion::testing

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

/// One such line; out of the test where it cannot be made.
[[nodiscard]] SampleCall sampleCall(const std::string& text, Family family = Family::Normal,
                                    unsigned seed = 3);
/// The values of a tensor, row-major, broadcast to `sizes` where given.
[[nodiscard]] std::vector<double> values(const at::Tensor& tensor);
[[nodiscard]] std::vector<double> values(const at::Tensor& tensor, at::IntArrayRef sizes);
/// An argument by its name.
[[nodiscard]] at::Tensor argument(const SampleCall& call, std::string_view name);
/// S, a failure of the test where it is not computed.
[[nodiscard]] at::Tensor magnitudeOf(const std::string& word, const SampleCall& call,
                                     std::size_t output, double k);

/// The same arguments with tensors of fp64 as fp32.
[[nodiscard]] torch::jit::Stack narrowed(const torch::jit::Stack& stack);
[[nodiscard]] std::vector<at::Tensor> run(const c10::OperatorHandle& op,
                                          const torch::jit::Stack& stack);

}  // namespace neuroncheck::companion::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "conformance/runner/judge_case.h"
#include "numerics/tensor/tensor_view.h"
#include "numerics/verdict/judgement.h"
#include "numerics/verdict/tensor_reference.h"

namespace neuroncheck::conformance {

/// The tensor of a worker's answer, in the shared memory.
[[nodiscard]] Result<numerics::TensorView> viewOf(const Json& entry,
                                                  std::span<const std::byte> memory);

/// What the reference worker evaluated for one output or one gradient. Hypotheses are asked for
/// when the judgement wants them, because most results need none.
class WorkerReference final : public numerics::Reference {
 public:
  WorkerReference(const AttemptEvidence& evidence, std::size_t output);
  /// Of a gradient: `entry` has "same" and "truth".
  WorkerReference(const AttemptEvidence& evidence, const Json& entry);

  /// Why there is no truth to compare with.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

  [[nodiscard]] bool offers(const numerics::Request& request) const override;
  [[nodiscard]] Result<void> evaluate(const numerics::Request& request, std::int64_t first,
                                      std::span<double> out) override;
  [[nodiscard]] Result<void> evaluateIntegers(const numerics::Request& request, std::int64_t first,
                                              std::span<std::int64_t> out) override;
  [[nodiscard]] std::span<const std::byte> truthBytes(DType dtype, std::int64_t first,
                                                      std::int64_t count) override;
  [[nodiscard]] std::span<const std::byte> storage() const override;

 private:
  void build(const Json& entry, const Json& same);
  void setPart(numerics::Quantity what, const Json& entry, const char* key, const Json& same);
  /// Puts the values of a hypothesis into known_.
  [[nodiscard]] Result<void> ask(numerics::HypothesisId id) const;

  const AttemptEvidence& evidence_;
  std::optional<std::size_t> output_;
  mutable std::optional<numerics::TensorReference> known_;  ///< hypotheses join when asked for
  std::optional<std::string> problem_;
  bool integers_ = false;
};

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "numerics/reference.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::numerics {

/// A reference made of tensors somebody holds: the truth, and what else there is. The memory behind
/// the views must outlive it. Views have the element count of the output; complex ones are read as
/// components.
class TensorReference final : public Reference {
 public:
  explicit TensorReference(const TensorView& truth);

  void set(const Request& request, const TensorView& view);
  /// One value for every element.
  void set(const Request& request, double value);

  [[nodiscard]] bool offers(const Request& request) const override;
  [[nodiscard]] Result<void> evaluate(const Request& request, std::int64_t first,
                                      std::span<double> out) override;
  [[nodiscard]] Result<void> evaluateIntegers(const Request& request, std::int64_t first,
                                              std::span<std::int64_t> out) override;
  [[nodiscard]] std::span<const std::byte> truthBytes(DType dtype, std::int64_t first,
                                                      std::int64_t count) override;
  [[nodiscard]] std::unique_ptr<Reference> share() const override;
  [[nodiscard]] std::span<const std::byte> storage() const override;

 private:
  using Key = std::pair<Quantity, HypothesisId>;
  struct Part {
    TensorView view;
    ElementReader reader;
    explicit Part(const TensorView& of) : view(of.asReal()), reader(view) {}
  };
  std::map<Key, std::unique_ptr<Part>> parts_;
  std::map<Key, double> constants_;
};

}  // namespace neuroncheck::numerics

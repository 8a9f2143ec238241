// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "numerics/reference.h"
#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics::testing {

/// A reference whose quantities are vectors somebody computed.
class VectorReference final : public Reference {
 public:
  explicit VectorReference(std::vector<double> truth) {
    set({Quantity::Truth, {}}, std::move(truth));
  }
  explicit VectorReference(std::vector<std::int64_t> truth) : integers_(std::move(truth)) {}

  void set(const Request& request, std::vector<double> values) {
    values_[{request.what, request.hypothesis}] = std::move(values);
  }
  void setIntegers(const Request& request, std::vector<std::int64_t> values) {
    otherIntegers_[{request.what, request.hypothesis}] = std::move(values);
  }
  void setStorage(std::span<const std::byte> storage) { storage_ = storage; }

  [[nodiscard]] bool offers(const Request& request) const override {
    const std::pair key(request.what, request.hypothesis);
    return values_.contains(key) || otherIntegers_.contains(key) ||
           (request.what == Quantity::Truth && !integers_.empty());
  }
  [[nodiscard]] Result<void> evaluate(const Request& request, std::int64_t first,
                                      std::span<double> out) override {
    const auto found = values_.find({request.what, request.hypothesis});
    if (found == values_.end()) {
      return fail(ErrorCode::Internal, "not offered");
    }
    std::copy_n(found->second.begin() + first, out.size(), out.begin());
    return {};
  }
  [[nodiscard]] Result<void> evaluateIntegers(const Request& request, std::int64_t first,
                                              std::span<std::int64_t> out) override {
    const auto found = otherIntegers_.find({request.what, request.hypothesis});
    const auto& values = found == otherIntegers_.end() ? integers_ : found->second;
    std::copy_n(values.begin() + first, out.size(), out.begin());
    return {};
  }
  [[nodiscard]] std::span<const std::byte> storage() const override { return storage_; }

 private:
  std::map<std::pair<Quantity, HypothesisId>, std::vector<double>> values_;
  std::map<std::pair<Quantity, HypothesisId>, std::vector<std::int64_t>> otherIntegers_;
  std::vector<std::int64_t> integers_;
  std::span<const std::byte> storage_;
};

/// Values as the bytes of a dtype, rounded to nearest.
inline std::vector<std::byte> encoded(DType dtype, std::span<const double> values) {
  const auto item = static_cast<std::size_t>(itemSize(dtype));
  std::vector<std::byte> bytes(values.size() * item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    encodeElement(dtype, values[i], bytes.data() + i * item);
  }
  return bytes;
}

/// An output that owns its bytes, with the request to judge it.
struct Output {
  std::vector<std::byte> bytes;
  JudgeRequest request;

  Output(DType dtype, std::vector<std::int64_t> sizes, std::span<const double> values,
         OutputRule rule, double length = 1)
      : bytes(encoded(dtype, values)) {
    request.actual = *TensorView::contiguous(dtype, bytes, sizes);
    request.expected = {dtype, std::move(sizes), std::nullopt};
    request.rule = std::move(rule);
    request.length = length;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() = default;
};

inline OutputRule ruleOf(OpClass opClass, double coefficient = 0) {
  OutputRule rule;
  rule.opClass = opClass;
  rule.coefficient = coefficient;
  return rule;
}

}  // namespace neuroncheck::numerics::testing

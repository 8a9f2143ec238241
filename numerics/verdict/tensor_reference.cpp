// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/tensor_reference.h"

#include <algorithm>

namespace neuroncheck::numerics {
namespace {
constexpr std::pair kTruth(Quantity::Truth, HypothesisId::None);
}  // namespace

TensorReference::TensorReference(const TensorView& truth) {
  parts_.emplace(kTruth, std::make_unique<Part>(truth));
}

void TensorReference::set(const Request& request, const TensorView& view) {
  parts_[{request.what, request.hypothesis}] = std::make_unique<Part>(view);
}

void TensorReference::set(const Request& request, double value) {
  constants_[{request.what, request.hypothesis}] = value;
}

bool TensorReference::offers(const Request& request) const {
  const Key key(request.what, request.hypothesis);
  return parts_.contains(key) || constants_.contains(key);
}

Result<void> TensorReference::evaluate(const Request& request, std::int64_t first,
                                       std::span<double> out) {
  const Key key(request.what, request.hypothesis);
  if (const auto constant = constants_.find(key); constant != constants_.end()) {
    std::ranges::fill(out, constant->second);
    return {};
  }
  parts_.at(key)->reader.values(first, out);
  return {};
}

Result<void> TensorReference::evaluateIntegers(const Request& request, std::int64_t first,
                                               std::span<std::int64_t> out) {
  const auto found = parts_.find({request.what, request.hypothesis});
  if (found == parts_.end() || !isIntegral(found->second->view.dtype)) {
    return fail(ErrorCode::Internal, "the reference holds no integers");
  }
  found->second->reader.integers(first, out);
  return {};
}

std::span<const std::byte> TensorReference::truthBytes(DType dtype, std::int64_t first,
                                                       std::int64_t count) {
  Part& truth = *parts_.at(kTruth);
  return truth.view.dtype == dtype ? truth.reader.raw(first, count) : std::span<const std::byte>();
}

std::unique_ptr<Reference> TensorReference::share() const {
  auto other = std::make_unique<TensorReference>(parts_.at(kTruth)->view);
  for (const auto& [key, part] : parts_) {
    other->set({key.first, key.second}, part->view);
  }
  other->constants_ = constants_;
  return other;
}

std::span<const std::byte> TensorReference::storage() const {
  return parts_.at(kTruth)->view.bytes;
}

}  // namespace neuroncheck::numerics

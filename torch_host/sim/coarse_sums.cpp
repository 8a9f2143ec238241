// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "torch_host/sim/arithmetic.h"
#include "torch_host/sim/engine.h"

namespace neuroncheck::sim {
namespace {

using at::Tensor;

struct Coarse {
  int64_t tile;
  c10::ScalarType partial;
};

/// A[..., K] B[K, ...] with the partial sum rounded after each tile of K.
Tensor product(const Tensor& a, const Tensor& b, const Coarse& coarse) {
  const int64_t depth = a.size(-1);
  const int64_t dimension = b.dim() == 1 ? 0 : b.dim() - 2;
  Tensor sum;
  for (int64_t k = 0; k < depth; k += coarse.tile) {
    const int64_t count = std::min(coarse.tile, depth - k);
    const Tensor part = a.narrow(-1, k, count).matmul(b.narrow(dimension, k, count));
    sum = roundedThrough(sum.defined() ? sum.add(part) : part, coarse.partial);
  }
  return sum.defined() ? sum : a.matmul(b);
}

std::optional<Tensor> operand(const Call& call, const char* name) {
  const c10::IValue* value = call.argument(name);
  if (value == nullptr || !value->isTensor() || !isOnDevice(value->toTensor())) {
    return std::nullopt;
  }
  return onHost(value->toTensor()).to(at::kFloat).clone();
}

double factor(const Call& call, const char* name) {
  const c10::IValue* value = call.argument(name);
  return value == nullptr ? 1.0 : value->toScalar().toDouble();
}

/// The last dimension of the result is what is summed, in order.
Tensor flatten(const Tensor& self, const std::vector<int64_t>& dims) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) {
      order.push_back(i);
    }
  }
  const auto kept = static_cast<std::ptrdiff_t>(order.size());
  order.insert(order.end(), dims.begin(), dims.end());
  const Tensor moved = self.permute(order);
  std::vector<int64_t> sizes(moved.sizes().begin(), moved.sizes().begin() + kept);
  sizes.push_back(-1);
  return moved.reshape(sizes);
}

std::optional<Tensor> reduction(const Call& call, const Coarse& coarse) {
  const auto self = operand(call, "self");
  const c10::IValue* dim = call.argument("dim");
  if (!self || self->numel() == 0 || (dim != nullptr && !dim->isNone() && !dim->isIntList())) {
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  if (dim != nullptr && dim->isIntList()) {
    dims = dim->toIntVector();
  }
  for (int64_t& d : dims) {
    d = d < 0 ? d + self->dim() : d;
  }
  if (dims.empty()) {
    dims.resize(static_cast<size_t>(self->dim()));
    std::iota(dims.begin(), dims.end(), int64_t{0});
  }
  const Tensor rows = flatten(*self, dims);
  Tensor sum = product(rows, rows.new_ones({rows.size(-1)}), coarse);
  if (call.packet == "aten::mean") {
    sum = sum.div(rows.size(-1));
  }
  return sum;
}

struct Factors {
  const char* left;
  const char* right;
};

std::optional<Tensor> valueOf(const Call& call, const Coarse& coarse) {
  static const std::map<std::string, Factors> kProducts{
      {"aten::mm", {"self", "mat2"}},       {"aten::bmm", {"self", "mat2"}},
      {"aten::addmm", {"mat1", "mat2"}},    {"aten::baddbmm", {"batch1", "batch2"}},
      {"aten::mv", {"self", "vec"}},        {"aten::addmv", {"mat", "vec"}},
      {"aten::dot", {"self", "tensor"}},    {"aten::matmul", {"self", "other"}},
      {"aten::linear", {"input", "weight"}}};
  if (call.packet == "aten::sum" || call.packet == "aten::mean") {
    return reduction(call, coarse);
  }
  const auto found = kProducts.find(call.packet);
  if (found == kProducts.end()) {
    return std::nullopt;
  }
  const auto left = operand(call, found->second.left);
  auto right = operand(call, found->second.right);
  if (!left || !right) {
    return std::nullopt;
  }
  if (call.packet == "aten::linear") {
    right = right->t();
  }
  Tensor value = product(*left, *right, coarse);
  if (call.packet.starts_with("aten::add") || call.packet == "aten::baddbmm") {
    value = value.mul(factor(call, "alpha"));
    if (const auto self = operand(call, "self")) {
      value = value.add(self->mul(factor(call, "beta")));
    }
  } else if (const auto bias = operand(call, "bias")) {
    value = value.add(*bias);
  }
  return value;
}

}  // namespace

bool runWithCoarseSums(Call& call, int64_t tile, c10::ScalarType partial) {
  const auto value = valueOf(call, {tile, partial});
  if (!value) {
    return false;
  }
  execute(call.op, &call.stack);
  for (const Touched& given : touched(call.op, call.arguments, call.stack)) {
    onHost(given.tensor).copy_(value->reshape(given.tensor.sizes()));
  }
  return true;
}

}  // namespace neuroncheck::sim

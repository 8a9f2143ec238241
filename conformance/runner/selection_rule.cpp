// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/selection_rule.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "conformance/runner/worker_reference.h"

namespace neuroncheck::conformance {
namespace {

enum class Order : std::uint8_t { Largest, Smallest, ByDescending, ByLargest, KthSmallest, Median };

/// Operators that return indices; in-place and out= forms have the same base name.
struct SelectionOp {
  std::string_view base;
  std::string_view overload;  ///< "*": any
  std::size_t output;
  Order order;
  bool firstOfTies;
  bool wholeWithoutDim;  ///< without `dim` over the whole tensor; else the last dimension
};

constexpr std::array kOps{
    SelectionOp{"argmax", "*", 0, Order::Largest, true, true},
    SelectionOp{"argmin", "*", 0, Order::Smallest, true, true},
    SelectionOp{"max", "dim", 1, Order::Largest, true, false},
    SelectionOp{"min", "dim", 1, Order::Smallest, true, false},
    SelectionOp{"topk", "*", 1, Order::ByLargest, false, false},
    SelectionOp{"sort", "", 1, Order::ByDescending, false, false},
    SelectionOp{"sort", "stable", 1, Order::ByDescending, true, false},
    SelectionOp{"argsort", "", 0, Order::ByDescending, false, false},
    SelectionOp{"argsort", "stable", 0, Order::ByDescending, true, false},
    SelectionOp{"kthvalue", "*", 1, Order::KthSmallest, false, false},
    SelectionOp{"median", "dim", 1, Order::Median, false, false},
};

const SelectionOp* find(const OpName& op, std::size_t index) {
  const auto* found = std::ranges::find_if(kOps, [&](const SelectionOp& known) {
    return op.ns == "aten" && known.base == op.base && known.output == index &&
           (known.overload == "*" || known.overload == op.overload);
  });
  return found == kOps.end() ? nullptr : found;
}

numerics::SelectionPromise promiseOf(const SelectionOp& op, const CaseArguments& arguments,
                                     std::int64_t size) {
  numerics::SelectionPromise promise;
  promise.firstOfTies = op.firstOfTies;
  switch (op.order) {
    case Order::Largest:
      break;
    case Order::Smallest:
      promise.largest = false;
      promise.nanFirst = true;
      break;
    case Order::ByDescending:
      promise.largest = arguments.integer("descending").value_or(0) != 0;
      promise.firstOfTies = op.firstOfTies && arguments.integer("stable").value_or(1) != 0;
      break;
    case Order::ByLargest:
      promise.largest = arguments.integer("largest").value_or(1) != 0;
      promise.sorted = arguments.integer("sorted").value_or(1) != 0;
      break;
    case Order::KthSmallest:
      promise.largest = false;
      promise.firstRank = arguments.integer("k").value_or(1) - 1;
      break;
    case Order::Median:
      promise.largest = false;
      promise.firstRank = (size - 1) / 2;
      break;
  }
  return promise;
}

}  // namespace

std::optional<numerics::SelectionRequest> selectionOf(const AttemptPlan& plan,
                                                      const AttemptEvidence& evidence,
                                                      std::size_t index,
                                                      const numerics::TensorView& indices) {
  const CaseStep& step = plan.spec->steps.back();
  const SelectionOp* op = find(step.op, index);
  const OperandLayout layout = layoutOf(step);
  const CaseArguments arguments(step, plan.schema);
  if (op == nullptr || layout.operands.empty() || arguments.ofOperands().front() != "self") {
    return std::nullopt;
  }
  const CaseTensor& self = *layout.operands.front();
  auto operand = numerics::TensorView::make(
      self.dtype, evidence.memory.subspan(evidence.operands[0], layout.bytes[0]), self.sizes,
      stridesOf(self), self.offset);
  if (!operand || self.sizes.empty()) {
    return std::nullopt;
  }
  numerics::SelectionRequest request;
  request.indices = indices;
  const Json& expected = evidence.reference->at("outputs").at(index);
  request.expected.dtype =
      parseDType(expected.value("dtype", std::string())).value_or(DType::Unknown);
  request.expected.sizes = expected.value("sizes", std::vector<std::int64_t>());
  request.operand = *std::move(operand);
  const auto rank = static_cast<std::int64_t>(self.sizes.size());
  const auto dim = arguments.integer("dim");
  std::int64_t size = elementsOf(self);
  if (dim || !op->wholeWithoutDim) {
    const std::int64_t axis = dim.value_or(-1);
    request.dimension = axis < 0 ? axis + rank : axis;
    if (*request.dimension < 0 || *request.dimension >= rank) {
      return std::nullopt;
    }
    size = self.sizes[static_cast<std::size_t>(*request.dimension)];
  }
  request.promise = promiseOf(*op, arguments, size);
  if (index == 1) {
    if (auto values = viewOf(evidence.device->at("outputs").at(0), evidence.memory)) {
      request.values = *std::move(values);
    }
  }
  return request;
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include "numerics/rules/length.h"

namespace neuroncheck::numerics {

namespace {

using Kind = LengthNode::Kind;

/// Evaluates one expression; every failure names the piece as `piece` prints it.
class Evaluator {
 public:
  explicit Evaluator(const LengthOperands& operands) : operands_(operands) {}

  [[nodiscard]] Result<std::int64_t> value(const LengthNode& node) const {
    switch (node.kind) {
      case Kind::Integer:
        return node.value;
      case Kind::Name:
        return integerArgument(node.name);
      case Kind::Numel:
        return numel(node.name);
      case Kind::Size:
        return size(node);
      case Kind::Product:
        return product(node);
      case Kind::Contracted:
        return contracted(node);
      case Kind::If: {
        NEURONCHECK_TRY(const std::int64_t condition, value(node.children[0]));
        return value(node.children[condition != 0 ? 1 : 2]);
      }
      default:
        return binary(node);
    }
  }

 private:
  [[nodiscard]] Result<const LengthOperand*> argument(const std::string& name) const {
    const LengthOperand* found = operands_.find(name);
    if (found == nullptr) {
      return inputError("no argument or output '" + name + "'");
    }
    return found;
  }

  template <typename T>
  [[nodiscard]] Result<const T*> argumentOf(const std::string& name, std::string_view kind) const {
    NEURONCHECK_TRY(const LengthOperand* operand, argument(name));
    const T* found = std::get_if<T>(operand);
    if (found == nullptr) {
      const bool none = std::holds_alternative<std::monostate>(*operand);
      return inputError("'" + name + "' is " + (none ? "None" : "not") + (none ? ", not " : " ") +
                        std::string(kind));
    }
    return found;
  }

  [[nodiscard]] static Result<std::int64_t> multiply(std::span<const std::int64_t> factors,
                                                     const std::string& what) {
    // A zero decides before any overflow of the rest.
    if (std::ranges::any_of(factors, [](std::int64_t f) { return f < 0; })) {
      return inputError(what + ": a negative number");
    }
    if (std::ranges::find(factors, 0) != factors.end()) {
      return 0;
    }
    std::int64_t out = 1;
    for (const std::int64_t factor : factors) {
      if (__builtin_mul_overflow(out, factor, &out)) {
        return inputError(what + ": more than 2^63 - 1");
      }
    }
    return out;
  }

  [[nodiscard]] Result<std::int64_t> integerArgument(const std::string& name) const {
    NEURONCHECK_TRY(const std::int64_t* found, argumentOf<std::int64_t>(name, "an integer"));
    if (*found < 0) {
      return inputError("'" + name + "' is negative");
    }
    return *found;
  }

  [[nodiscard]] Result<std::int64_t> numel(const std::string& name) const {
    const std::string what = "numel(" + name + ")";
    NEURONCHECK_TRY(const LengthOperand* operand, argument(name));
    if (std::holds_alternative<std::monostate>(*operand)) {
      return 0;
    }
    if (const auto* tensor = std::get_if<TensorSizes>(operand)) {
      return multiply(tensor->sizes, what);
    }
    const auto* list = std::get_if<std::vector<TensorSizes>>(operand);
    if (list == nullptr) {
      return inputError("'" + name + "' is not a tensor");
    }
    std::int64_t total = 0;
    for (const TensorSizes& tensor : *list) {
      NEURONCHECK_TRY(const std::int64_t elements, multiply(tensor.sizes, what));
      if (__builtin_add_overflow(total, elements, &total)) {
        return inputError(what + ": more than 2^63 - 1");
      }
    }
    return total;
  }

  [[nodiscard]] Result<std::vector<std::int64_t>> dimensions(const LengthNode& node,
                                                             std::size_t rank) const {
    if (node.kind == Kind::Integer) {
      return std::vector{node.value};
    }
    NEURONCHECK_TRY(const LengthOperand* operand, argument(node.name));
    if (const auto* one = std::get_if<std::int64_t>(operand)) {
      return std::vector{*one};
    }
    const auto* list = std::get_if<std::vector<std::int64_t>>(operand);
    if (list != nullptr && !list->empty()) {
      return *list;
    }
    if (list == nullptr && !std::holds_alternative<std::monostate>(*operand)) {
      return inputError("'" + node.name + "' is not a dimension");
    }
    std::vector<std::int64_t> all(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      all[i] = static_cast<std::int64_t>(i);
    }
    return all;
  }

  [[nodiscard]] Result<std::int64_t> size(const LengthNode& node) const {
    NEURONCHECK_TRY(const TensorSizes* tensor, argumentOf<TensorSizes>(node.name, "a tensor"));
    // A scalar tensor counts as one dimension of size 1.
    const std::vector<std::int64_t> sizes =
        tensor->sizes.empty() ? std::vector<std::int64_t>{1} : tensor->sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    NEURONCHECK_TRY(const std::vector<std::int64_t> wanted,
                    dimensions(node.children[0], sizes.size()));
    std::vector<std::int64_t> factors;
    for (const std::int64_t dim : wanted) {
      if (dim < -rank || dim >= rank) {
        return inputError("size(" + node.name + ", " + std::to_string(dim) + ") of a tensor of " +
                          std::to_string(rank) + " dimensions");
      }
      factors.push_back(sizes[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)]);
    }
    return multiply(factors, "size(" + node.name + ", ...)");
  }

  [[nodiscard]] Result<std::int64_t> product(const LengthNode& node) const {
    NEURONCHECK_TRY(const LengthOperand* operand, argument(node.name));
    std::vector<std::int64_t> factors;
    if (const auto* one = std::get_if<std::int64_t>(operand)) {
      factors = {*one};
    } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(operand)) {
      factors = *list;
    } else {
      return inputError("'" + node.name + "' is not a list of integers");
    }
    if (factors.size() == 1 && node.value > 1) {
      factors.resize(static_cast<std::size_t>(node.value), factors[0]);
    }
    return multiply(factors, "prod(" + node.name + ")");
  }

  [[nodiscard]] Result<std::int64_t> contracted(const LengthNode& node) const {
    NEURONCHECK_TRY(const std::string* equation, argumentOf<std::string>(node.name, "a text"));
    NEURONCHECK_TRY(
        const std::vector<TensorSizes>* tensors,
        argumentOf<std::vector<TensorSizes>>(node.children[0].name, "a list of tensors"));
    return contractedSize(*equation, *tensors);
  }

  [[nodiscard]] Result<std::int64_t> binary(const LengthNode& node) const {
    NEURONCHECK_TRY(const std::int64_t left, value(node.children[0]));
    NEURONCHECK_TRY(const std::int64_t right, value(node.children[1]));
    std::int64_t out = 0;
    bool overflow = false;
    switch (node.kind) {
      case Kind::Max:
        return std::max(left, right);
      case Kind::Min:
        return std::min(left, right);
      case Kind::Divide:
        if (right == 0 && left != 0) {
          return inputError("division by zero");
        }
        return right == 0 ? 0 : left / right + (left % right != 0 ? 1 : 0);
      case Kind::Add:
        overflow = __builtin_add_overflow(left, right, &out);
        break;
      default:
        overflow = __builtin_mul_overflow(left, right, &out);
    }
    if (overflow) {
      return inputError("more than 2^63 - 1");
    }
    return out;
  }

  const LengthOperands& operands_;
};

}  // namespace

Result<std::int64_t> LengthExpression::evaluate(const LengthOperands& operands) const {
  Result<std::int64_t> out = Evaluator(operands).value(root_);
  if (!out) {
    return tl::unexpected(std::move(out).error().within(str()));
  }
  return out;
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"

namespace neuroncheck::numerics {

/// The sizes of one tensor; empty for a scalar tensor.
struct TensorSizes {
  std::vector<std::int64_t> sizes;
  bool operator==(const TensorSizes&) const = default;
};

/// What a length may ask of one argument: nothing for None, the sizes of a tensor or of each tensor
/// of a list (None entries left out), an integer (bool as 0 or 1), integers, or a text.
using LengthOperand = std::variant<std::monostate, TensorSizes, std::vector<TensorSizes>,
                                   std::int64_t, std::vector<std::int64_t>, std::string>;

/// The arguments of one call by their schema names, defaults filled in, and its tensor outputs as
/// "out0", "out1", ... ("out" is found as "out0").
struct LengthOperands {
  std::map<std::string, LengthOperand, std::less<>> named;

  [[nodiscard]] const LengthOperand* find(std::string_view name) const;
};

/// A node of a parsed expression; `name` and `value` as `kind` says.
struct LengthNode {
  enum class Kind : std::uint8_t {
    Integer,     ///< value
    Name,        ///< the integer argument `name`
    Numel,       ///< numel(name)
    Size,        ///< size(name, child): child is an Integer (may be negative) or a Name
    Product,     ///< prod(name), or prod(name, value)
    Contracted,  ///< contracted(name of the equation, child: Name of the tensor list)
    If,          ///< if(child, child, child)
    Max,
    Min,
    Add,
    Multiply,
    Divide,
  };
  Kind kind = Kind::Integer;
  std::int64_t value = 0;
  std::string name;
  std::vector<LengthNode> children;
};

/// k of a rule: how many terms the longest sum behind one element has, from the sizes and integer
/// arguments of a call. Grammar, lowest binding first:
///
///     sum     = product { "+" product }
///     product = atom { ("*" | "/") atom }
///     atom    = integer | name | "(" sum ")" | function
///     function = "numel(" name ")" | "size(" name "," (integer | name) ")"
///              | "prod(" name ["," integer] ")" | "contracted(" name "," name ")"
///              | ("max" | "min") "(" sum "," sum ")" | "if(" sum "," sum "," sum ")"
///
/// - `a / b` rounds up: a longer sum has the larger bound. 0 / 0 is 0, the sums of an empty output.
/// - `numel(x)`: elements; of a list, of all its tensors; 0 for None.
/// - `size(x, d)`: negative d from the end; a list of dimensions gives the product, an empty list
///   or None all of them, as reductions read it; a scalar tensor has size 1 at 0 and -1.
/// - `prod(x, n)`: of a list, one number standing for n of them, as kernel_size=3 does for int[2].
/// - `contracted(equation, tensors)`: the sizes of an einsum's labels that its result lacks.
/// - `if(c, a, b)`: a where c is not 0; the other branch is not evaluated.
class LengthExpression {
 public:
  /// Fails with "column N: ..." outside the grammar, or nested deeper than 32.
  [[nodiscard]] static Result<LengthExpression> parse(std::string_view text);

  /// Not negative. An Error names the piece, as "size(self, dim)": an argument that is absent or
  /// not of the kind asked for, a dimension out of range, a negative number, x / 0, or more than
  /// 2^63 - 1.
  [[nodiscard]] Result<std::int64_t> evaluate(const LengthOperands& operands) const;

  /// The text with the fewest parentheses; parses back to the same expression.
  [[nodiscard]] std::string str() const;
  /// The arguments it asks for, each once, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const LengthNode& root() const { return root_; }

 private:
  explicit LengthExpression(LengthNode root) : root_(std::move(root)) {}

  LengthNode root_;
};

/// The product of the sizes of the labels that an einsum sums over: 1 when there are none. Sizes of
/// 1 broadcast; dimensions of "..." stay in the result. Fails when the equation does not fit.
[[nodiscard]] Result<std::int64_t> contractedSize(std::string_view equation,
                                                  const std::vector<TensorSizes>& tensors);

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arg_value.h"
#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"

namespace neuroncheck::opdb {

/// What is known of one tensor operand; each part may be missing (an intermediate inside a
/// composite, a file without shapes).
struct TensorFacts {
  std::optional<DType> dtype;
  std::optional<std::int64_t> rank;
  std::optional<std::vector<SymInt>> sizes;
  std::optional<bool> contiguous;
};

/// What is known of one argument of an operator, given directly or mapped through a composite.
struct ArgumentFacts {
  std::optional<bool> isNone;  ///< absent: not known
  std::vector<TensorFacts>
      tensors;  ///< one for a tensor, each of a tensor list; empty for other kinds
  /// Scalars, lists, strings, dtypes; absent for tensors or when not known. An empty TensorList
  /// here says that a tensor list is known to be empty.
  std::optional<ArgValue> value;
  /// Elements of a tensor list, those that are None among them; absent: not known. Of other lists
  /// `value` tells.
  std::optional<std::int64_t> length = std::nullopt;
};

/// Everything a predicate is evaluated on. An argument without an entry is not known.
struct PredicateContext {
  std::map<std::string, ArgumentFacts, std::less<>> arguments;
  /// What is known of the results, which any_dtype and any_symbolic look at too; absent: not known
  /// (a leaf of a composite).
  std::optional<std::vector<TensorFacts>> results;
  std::string chip = "trn2";
};

/// Facts of a use, arguments filled from the schema's defaults included.
[[nodiscard]] PredicateContext factsOf(const OpUse& use, std::string_view chip);

enum class Truth : std::uint8_t { False, True, Undecided };
struct PredicateResult {
  Truth truth = Truth::Undecided;
  std::string undecidedBy;  ///< the argument (or "chip") that would decide; set only when Undecided
};

/// A condition on the arguments of an operator, in the grammar of design: `dtype(a) itemsize(a)
/// rank(a) size(a,i) contiguous(a) len(a) value(a) is_none(a) any_gt(a,n) any_dtype any_symbolic
/// chip`, literals (integers, floats, true, false, None, 'text', bare words such as float32,
/// channels_last or trn2), sets `{a,b}`, parentheses, `in && || ! == != < <= > >= %`. A bare
/// argument name means value(name). A tensor list means each of its tensors, a list of numbers each
/// of its elements; where there is none (an operand that is None, an empty list) a comparison
/// holds. `floats` and `ints` are sets of dtypes. `chip` is ordered trn1 < trn2 < trn3. Evaluation
/// is three-valued: an unknown part makes the whole Undecided only where it matters (false &&
/// unknown is false). docs/predicates.md has the grammar.
class Predicate {
 public:
  /// Parses and, when `schema` is given, checks that every argument named exists and has a fitting
  /// type. Fails with Usage, naming the column. Without a schema any_dtype and any_symbolic take
  /// the context to hold every argument.
  [[nodiscard]] static Result<Predicate> parse(std::string_view text,
                                               const FunctionSchema* schema = nullptr);
  [[nodiscard]] PredicateResult evaluate(const PredicateContext& context) const;
  /// Names of the arguments it reads, sorted; any_dtype and any_symbolic, which read all, name
  /// none.
  [[nodiscard]] std::vector<std::string> arguments() const;
  [[nodiscard]] const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace neuroncheck::opdb

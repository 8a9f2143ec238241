// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_host/companion/companion.h"

namespace neuroncheck::companion {

using at::Tensor;
using Dims = std::vector<std::int64_t>;

/// What a formula sees of a call: arguments by their schema names, the truth, k and u_acc.
/// Accessors throw c10::Error that names the argument; magnitude() makes it an Error.
class Evaluation {
 public:
  explicit Evaluation(const Call& of);

  Call call;           ///< its functional twin where there is one
  std::string name;    ///< "aten::softmax"
  Tensor h;            ///< |H|, fp64; the modulus of a complex output
  Tensor signedTruth;  ///< H itself, fp64
  double k = 1;
  double u = 0x1p-24;

  [[nodiscard]] bool declares(std::string_view argument) const;
  /// Declared, and neither None nor an undefined tensor.
  [[nodiscard]] bool has(std::string_view argument) const;
  [[nodiscard]] const c10::IValue& at(std::string_view argument) const;
  /// A number stands for a tensor without dimensions; floating point of any width as fp64.
  [[nodiscard]] Tensor tensor(std::string_view argument) const;
  /// The first of them that is there.
  [[nodiscard]] Tensor anyOf(std::initializer_list<std::string_view> arguments) const;
  [[nodiscard]] std::optional<Tensor> maybe(std::string_view argument) const;
  [[nodiscard]] double number(std::string_view argument, double otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view argument, std::int64_t otherwise) const;
  [[nodiscard]] bool flag(std::string_view argument, bool otherwise) const;
  [[nodiscard]] std::string text(std::string_view argument, std::string_view otherwise) const;
  /// One number is a list of one; None is empty.
  [[nodiscard]] Dims ints(std::string_view argument) const;
  /// The dimensions that `argument` names, not negative; all of x where it names none.
  [[nodiscard]] Dims dims(std::string_view argument, const Tensor& x) const;
  [[nodiscard]] double rootK() const;
};

/// Every tensor that an operator returns, lists flattened.
[[nodiscard]] std::vector<Tensor> invoke(const c10::OperatorHandle& op, torch::jit::Stack stack);
/// The first tensor that `name`.`overload` returns; trailing defaults may be left out.
[[nodiscard]] Tensor torchCall(const char* name, const char* overload, torch::jit::Stack stack);
/// `op` with the arguments that it declares taken from `e` by name.
[[nodiscard]] std::optional<c10::OperatorHandle> findOperator(std::string_view name,
                                                              std::string_view overload);

[[nodiscard]] c10::IValue optionalOf(const std::optional<Tensor>& tensor);
[[nodiscard]] Tensor scalarTensor(double value);
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
/// p * d, and 0 where p is 0 whatever d is.
[[nodiscard]] Tensor weighted(const Tensor& p, const Tensor& d);

/// One row of the table of formulas.
struct Formula {
  std::string_view word;
  Tensor (*compute)(const Evaluation&);
  /// Base names without namespace, separated by blanks; empty: any operator.
  std::string_view operators = {};
};

using Formulas = std::vector<Formula>;
[[nodiscard]] Formulas generalFormulas();
[[nodiscard]] Formulas elementwiseFormulas();
[[nodiscard]] Formulas decisionFormulas();
[[nodiscard]] Formulas reductionFormulas();
[[nodiscard]] Formulas softmaxFormulas();
[[nodiscard]] Formulas lossFormulas();
[[nodiscard]] Formulas normalisationFormulas();
[[nodiscard]] Formulas attentionFormulas();
[[nodiscard]] Formulas attentionBackwardFormulas();
[[nodiscard]] Formulas accumulationFormulas();
[[nodiscard]] Formulas transformFormulas();
[[nodiscard]] Formulas interpolationFormulas();
[[nodiscard]] Formulas gridFormulas();

}  // namespace neuroncheck::companion

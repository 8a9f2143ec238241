// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "numerics/rules/op_rule.h"
#include "numerics/tests/kernels/machine.h"
#include "numerics/verdict/judgement.h"
#include "numerics/verdict/selection.h"

namespace neuroncheck::numerics::testing {

/// A wrong result, as the machine had it before it was rounded to the output's dtype.
struct InjectedFault {
  std::string name;
  Values result;
  HypothesisId cause = HypothesisId::None;  ///< the hypothesis that describes it, where one does
  /// Rounding of the output: toward zero is a fault of its own.
  Rounding rounding = Rounding::NearestEven;
  /// The result's sizes, where they are not the right ones.
  std::vector<std::int64_t> sizes;
};

/// An operator on given inputs: what is right, what a machine may return, what it may not.
struct Subject {
  std::string op;
  std::string inputs;  ///< what they look like
  DType dtype = DType::Float32;
  std::vector<std::int64_t> sizes;
  OutputRule rule;
  double length = 1;
  bool specialInputs = false;
  Values truth, magnitude, unstable;  ///< the last two empty where there is none
  std::map<HypothesisId, Values> values, rooms;
  /// Of an index output: rows of `extent` values that the indices choose from, and what is promised
  /// of them. The rule is not asked.
  struct Chosen {
    Values operand;
    DType dtype = DType::Float32;
    std::int64_t extent = 1;
    SelectionPromise promise;
  };
  std::optional<Chosen> chosen;
  /// Right results by what is particular of them, before rounding to the output.
  std::vector<std::pair<std::string, Values>> legal;
  std::vector<InjectedFault> faults;

  [[nodiscard]] Format format() const { return formatOf(dtype).value_or(Format::Float64); }
  [[nodiscard]] std::int64_t rowLength() const { return sizes.empty() ? 1 : sizes.back(); }
  void fault(std::string name, Values result, HypothesisId cause = HypothesisId::None) {
    faults.push_back({std::move(name), std::move(result), cause, Rounding::NearestEven, {}});
  }
};

/// The rule of an operator as the library ships it; aborts where there is none.
[[nodiscard]] OutputRule shippedRule(std::string_view op, std::size_t output = 0);

/// Faults that any operator may suffer: of its memory, of its rounding, of one element. `rich`
/// adds the rarer ones. Works on the first legal result.
void addOutputFaults(Subject& subject, bool rich = false);

/// What our rules and those of others say of one result.
struct Outcome {
  std::string op, inputs, fault;
  DType dtype = DType::Float32;
  CaseState state = CaseState::NotRun;
  std::string cause;
  std::string reason;
  HypothesisId injected = HypothesisId::None, named = HypothesisId::None;
  bool noOp = false;  ///< the same bits as the right result: there is no fault to find
  /// What the comparisons of others let pass.
  bool assertClose = false, dynamoSame = false, cosine = false, errorRatio = false;
  /// The largest change that the fault made before the output was rounded, in percent of what
  /// rounding and the order of the sum may do at the same element; for `pass-weak` of what a
  /// truncating sum and a table-driven engine may do.
  double percentOfFloor = 0;
  bool floorIsRounding = false;  ///< the larger part there is the rounding of the output
  bool floorIsTable = false;     ///< which is two steps of a table-driven engine

  [[nodiscard]] bool missed() const { return isPass(state); }
  [[nodiscard]] bool wrongCause() const { return named != HypothesisId::None && named != injected; }
};

/// Judges every legal result and every fault of a subject.
class Bench {
 public:
  void run(const Subject& subject);
  [[nodiscard]] const std::vector<Outcome>& legal() const { return legal_; }
  [[nodiscard]] const std::vector<Outcome>& faults() const { return faults_; }

 private:
  std::vector<Outcome> legal_, faults_;
};

}  // namespace neuroncheck::numerics::testing

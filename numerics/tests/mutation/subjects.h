// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/tests/mutation/subject.h"

namespace neuroncheck::numerics::testing {

/// Operators with faults of their own, and those that any operator may suffer.
[[nodiscard]] std::vector<Subject> convolutionSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> matmulBackwardSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> reductionSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> normSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> softmaxSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> attentionSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> elementwiseSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> indexSubjects(DType dtype);
[[nodiscard]] std::vector<Subject> integerSubjects();
/// Index outputs; `dtype` is that of the values they choose from.
[[nodiscard]] std::vector<Subject> selectionSubjects(DType dtype);

/// A subject with what all of them have.
[[nodiscard]] Subject subjectOf(std::string op, DType dtype, std::string inputs,
                                std::vector<std::int64_t> sizes, OutputRule rule, double length);
/// onMachine(machine) for every legal order of fp32.
template <typename OnMachine>
void addOrders(Subject& subject, const OnMachine& onMachine) {
  for (const Order order : kLegalOrders) {
    subject.legal.emplace_back(name(order), onMachine(Machine(Format::Float32, order)));
  }
}
/// A seed of its own for every operator, dtype and kind of inputs.
[[nodiscard]] std::uint64_t seedOf(const Subject& subject, std::uint64_t operand);
/// Elements rotated by `by` within rows of `n`.
[[nodiscard]] Values rotated(const Values& values, std::int64_t n, std::int64_t by);

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/factor_rule.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "conformance/runner/worker_reference.h"
#include "core/outcome.h"
#include "numerics/factorisation/residual.h"

namespace neuroncheck::conformance {
namespace {

using numerics::FactorisationJudgement;
using numerics::Format;
using numerics::Matrix;
using numerics::TensorView;

enum class Kind : std::uint8_t {
  Qr,
  Svd,
  Eigh,
  Cholesky,
  Lu,
  LuFactor,
  Solve,
  Triangular,
  CholeskySolve,
  Inverse
};

struct FactorOp {
  std::string_view base;
  Kind kind;
  std::string_view a;  ///< the argument that is factorised, solved with or inverted
  std::string_view b;  ///< the right-hand side
  std::size_t outputs;
};

constexpr std::array kOps{
    FactorOp{"linalg_qr", Kind::Qr, "A", "", 2},
    FactorOp{"linalg_svd", Kind::Svd, "A", "", 3},
    FactorOp{"_linalg_svd", Kind::Svd, "A", "", 3},
    FactorOp{"linalg_eigh", Kind::Eigh, "self", "", 2},
    FactorOp{"_linalg_eigh", Kind::Eigh, "A", "", 2},
    FactorOp{"cholesky", Kind::Cholesky, "self", "", 1},
    FactorOp{"linalg_cholesky", Kind::Cholesky, "self", "", 1},
    FactorOp{"linalg_cholesky_ex", Kind::Cholesky, "self", "", 1},
    FactorOp{"linalg_lu", Kind::Lu, "A", "", 3},
    FactorOp{"linalg_lu_factor", Kind::LuFactor, "A", "", 2},
    FactorOp{"linalg_lu_factor_ex", Kind::LuFactor, "A", "", 2},
    FactorOp{"linalg_solve", Kind::Solve, "A", "B", 1},
    FactorOp{"linalg_solve_ex", Kind::Solve, "A", "B", 1},
    FactorOp{"_linalg_solve_ex", Kind::Solve, "A", "B", 1},
    FactorOp{"linalg_solve_triangular", Kind::Triangular, "self", "B", 1},
    FactorOp{"triangular_solve", Kind::Triangular, "A", "self", 1},
    FactorOp{"cholesky_solve", Kind::CholeskySolve, "input2", "self", 1},
    FactorOp{"linalg_inv", Kind::Inverse, "A", "", 1},
    FactorOp{"linalg_inv_ex", Kind::Inverse, "A", "", 1},
    FactorOp{"inverse", Kind::Inverse, "self", "", 1},
};

/// A tensor as a batch of matrices.
struct Batch {
  std::vector<std::int64_t> sizes;
  std::vector<double> values;
  bool vectors = false;  ///< each item is one column

  [[nodiscard]] std::int64_t columns() const { return vectors ? 1 : sizes.back(); }
  [[nodiscard]] std::int64_t rows() const { return sizes[sizes.size() - (vectors ? 1 : 2)]; }
  [[nodiscard]] std::int64_t count() const {
    const auto each = rows() * columns();
    return each == 0 ? 0 : static_cast<std::int64_t>(values.size()) / each;
  }
  [[nodiscard]] Matrix item(std::int64_t index) const {
    const auto each = rows() * columns();
    const auto begin = values.begin() + index * each;
    return {rows(), columns(), std::vector<double>(begin, begin + each)};
  }
};

Result<Batch> batchOf(const TensorView& view, bool vectors = false) {
  if (isComplex(view.dtype)) {
    return inputError("complex factors are not judged");
  }
  if (view.sizes.size() < (vectors ? 1U : 2U)) {
    return inputError("it is no matrix");
  }
  Batch out{view.sizes, std::vector<double>(static_cast<std::size_t>(view.count())), vectors};
  numerics::ElementReader(view).values(0, out.values);
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out{a.columns, a.rows, std::vector<double>(a.values.size())};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      out(j, i) = a(i, j);
    }
  }
  return out;
}

/// One triangle with its diagonal; the diagonal is 1 for `unit`.
Matrix triangle(Matrix a, bool upper, bool unit) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      a(i, j) = i == j && unit ? 1 : (upper ? j >= i : j <= i) ? a(i, j) : 0;
    }
  }
  return a;
}

/// What a kernel sees that reads one triangle of a symmetric matrix.
Matrix mirrored(Matrix a, bool upper) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      (upper ? a(i, j) : a(j, i)) = upper ? a(j, i) : a(i, j);
    }
  }
  return a;
}

Matrix firstOf(const Matrix& a, std::int64_t rows, std::int64_t columns) {
  Matrix out{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out(i, j) = a(i, j);
    }
  }
  return out;
}

class FactorJudge {
 public:
  FactorJudge(const FactorOp& op, const AttemptPlan& plan, const AttemptEvidence& evidence)
      : op_(op),
        evidence_(evidence),
        step_(plan.spec->steps.back()),
        arguments_(step_, plan.schema),
        layout_(layoutOf(step_)) {
    out_.outputs.resize(op.outputs);
    std::iota(out_.outputs.begin(), out_.outputs.end(), 0U);
  }

  FactorOutcome run() {
    if (auto judged = judge(); !judged) {
      out_.state = CaseState::NotComparable;
      out_.cause = "factorisation";
      out_.reason = judged.error().text();
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool flag(std::string_view name, bool absent = false) const {
    return arguments_.integer(name).value_or(absent ? 1 : 0) != 0;
  }

  [[nodiscard]] bool says(std::string_view name, std::string_view word) const {
    const CaseValue* value = arguments_.find(name);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    return text != nullptr && *text == word;
  }

  [[nodiscard]] Result<TensorView> operand(std::string_view name) const {
    const auto& names = arguments_.ofOperands();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return inputError(fmt::format("its operand {} is the result of an earlier step", name));
    }
    const auto index = static_cast<std::size_t>(found - names.begin());
    const CaseTensor& tensor = *layout_.operands[index];
    const std::size_t root = layout_.roots[index];
    return TensorView::make(tensor.dtype,
                            evidence_.memory.subspan(evidence_.operands[root], layout_.bytes[root]),
                            tensor.sizes, stridesOf(tensor), tensor.offset);
  }

  [[nodiscard]] Result<TensorView> output(std::size_t index) const {
    return viewOf(evidence_.device->at("outputs").at(index), evidence_.memory);
  }

  Result<void> judge() {
    NEURONCHECK_TRY(const TensorView a, operand(op_.a));
    NEURONCHECK_TRY(const TensorView first, output(0));
    const auto format = numerics::formatOf(first.dtype);
    if (!format) {
      return inputError("factors of this dtype are not judged");
    }
    format_ = *format;
    out_.elements = first.count();
    NEURONCHECK_TRY(const Batch matrices, batchOf(a));
    NEURONCHECK_TRY_VOID(op_.b.empty() ? factors(matrices) : solutions(matrices, a));
    if (judged_ == 0) {
      out_.state = CaseState::Mistrusted;
      out_.cause = "empty";
      out_.reason = "there is no matrix with elements";
    }
    std::string words;
    for (const auto& [what, ratio] : worst_) {
      words += fmt::format("{}{} {:.2g}", words.empty() ? "" : ", ", what, ratio);
      out_.ratio = std::max(out_.ratio, ratio / numerics::kResidualLimit);
    }
    out_.rule = "I factorisation: " + words;
    return {};
  }

  void add(const FactorisationJudgement& judgement) {
    for (const numerics::Residual& residual : judgement.residuals) {
      double& ratio = worst_[std::string(residual.what)];
      ratio = std::max(ratio, residual.ratio);
    }
    const bool first = judged_++ == 0;
    if (first ||
        (worse(out_.state, judgement.state) == judgement.state && out_.state != judgement.state)) {
      out_.state = judgement.state;
      out_.cause = judgement.cause;
      out_.reason = judgement.reason;
    }
  }

  Result<void> factors(const Batch& matrices) {
    std::vector<Batch> results;
    for (std::size_t i = 0; i < op_.outputs; ++i) {
      NEURONCHECK_TRY(const TensorView view, output(i));
      const bool vectors = (op_.kind == Kind::Svd && i == 1) ||
                           (op_.kind == Kind::Eigh && i == 0) ||
                           (op_.kind == Kind::LuFactor && i == 1);
      NEURONCHECK_TRY(Batch batch, batchOf(view, vectors));
      results.push_back(std::move(batch));
    }
    for (std::int64_t i = 0; i < matrices.count(); ++i) {
      std::vector<Matrix> items;
      for (const Batch& batch : results) {
        if (batch.count() != matrices.count()) {
          return inputError("parts of the factorisation were not computed");
        }
        items.push_back(batch.item(i));
      }
      NEURONCHECK_TRY_VOID(judgeItem(matrices.item(i), items));
    }
    return {};
  }

  Result<void> judgeItem(const Matrix& a, std::vector<Matrix>& items) {
    const bool upper = flag("upper") || says("UPLO", "U");
    switch (op_.kind) {
      case Kind::Qr:
        add(numerics::judgeQr(a, items[0], items[1], format_));
        return {};
      case Kind::Svd:
        add(numerics::judgeSvd(a, items[0], items[1].values, items[2], format_));
        return {};
      case Kind::Eigh:
        add(numerics::judgeEigh(mirrored(a, upper), items[0].values, items[1], format_));
        return {};
      case Kind::Cholesky:
        add(numerics::judgeCholesky(mirrored(a, upper), items[0], upper, format_));
        return {};
      case Kind::Lu:
        if (!flag("pivot", true)) {
          return inputError("a factorisation without pivots is not judged");
        }
        add(numerics::judgeLu(a, items[0], items[1], items[2], format_));
        return {};
      case Kind::LuFactor:
        return packed(a, items[0], items[1]);
      default:
        add(numerics::judgeInverse(a, items[0], format_));
        return {};
    }
  }

  /// L and U in one matrix, the exchanges of rows in order, counted from 1.
  Result<void> packed(const Matrix& a, const Matrix& both, const Matrix& pivots) {
    const std::int64_t k = std::min(a.rows, a.columns);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(a.rows));
    std::iota(rows.begin(), rows.end(), 0);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto other = static_cast<std::int64_t>(pivots.values[static_cast<std::size_t>(i)]) - 1;
      if (other < i || other >= a.rows) {
        FactorisationJudgement wrong;
        wrong.state = CaseState::Mismatch;
        wrong.cause = "pivots";
        wrong.reason = fmt::format("pivot {} names row {} of {}", i, other + 1, a.rows);
        add(wrong);
        return {};
      }
      std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(other)]);
    }
    Matrix p{a.rows, a.rows, std::vector<double>(static_cast<std::size_t>(a.rows * a.rows))};
    for (std::int64_t i = 0; i < a.rows; ++i) {
      p(rows[static_cast<std::size_t>(i)], i) = 1;
    }
    add(numerics::judgeLu(a, p, triangle(firstOf(both, a.rows, k), false, true),
                          triangle(firstOf(both, k, a.columns), true, false), format_));
    return {};
  }

  Result<void> solutions(const Batch& matrices, const TensorView& a) {
    NEURONCHECK_TRY(const TensorView right, operand(op_.b));
    NEURONCHECK_TRY(const TensorView solution, output(0));
    // torch.linalg.solve: as many dimensions as a batch of vectors has, and its sizes.
    const bool vectors = op_.kind == Kind::Solve &&
                         (right.sizes.size() == 1 ||
                          (right.sizes.size() + 1 == a.sizes.size() &&
                           std::equal(right.sizes.begin(), right.sizes.end(), a.sizes.begin())));
    NEURONCHECK_TRY(const Batch b, batchOf(right, vectors));
    NEURONCHECK_TRY(const Batch x, batchOf(solution, vectors));
    if (b.count() != matrices.count() || x.count() != matrices.count()) {
      return inputError("batches that are broadcast are not judged");
    }
    const bool left = flag("left", true);
    for (std::int64_t i = 0; i < matrices.count(); ++i) {
      Matrix system = systemOf(matrices.item(i));
      Matrix unknown = x.item(i);
      Matrix known = b.item(i);
      if (!left) {
        system = transposed(system);
        unknown = transposed(unknown);
        known = transposed(known);
      }
      add(numerics::judgeSolve(system, unknown, known, format_));
    }
    return {};
  }

  /// The matrix that is solved with, from the one that is given.
  [[nodiscard]] Matrix systemOf(Matrix given) const {
    if (op_.kind == Kind::Triangular) {
      const bool upper = flag("upper", true);
      Matrix out = triangle(std::move(given), upper, flag("unitriangular"));
      return flag("transpose") ? transposed(out) : out;
    }
    if (op_.kind == Kind::CholeskySolve) {
      const bool upper = flag("upper");
      const Matrix factor = triangle(std::move(given), upper, false);
      const Matrix lower = upper ? transposed(factor) : factor;
      Matrix out{lower.rows, lower.rows, std::vector<double>(lower.values.size())};
      for (std::int64_t i = 0; i < out.rows; ++i) {
        for (std::int64_t j = 0; j < out.rows; ++j) {
          for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
            out(i, j) += lower(i, k) * lower(j, k);
          }
        }
      }
      return out;
    }
    return given;
  }

  const FactorOp& op_;
  const AttemptEvidence& evidence_;
  const CaseStep& step_;
  CaseArguments arguments_;
  OperandLayout layout_;
  Format format_ = Format::Float32;
  std::int64_t judged_ = 0;
  std::map<std::string, double> worst_;
  FactorOutcome out_;
};

}  // namespace

std::optional<FactorOutcome> judgeFactors(const AttemptPlan& plan,
                                          const AttemptEvidence& evidence) {
  const OpName& op = plan.spec->steps.back().op;
  const auto* found = std::ranges::find(kOps, op.base, &FactorOp::base);
  if (op.ns != "aten" || found == kOps.end()) {
    return std::nullopt;
  }
  return FactorJudge(*found, plan, evidence).run();
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include "numerics/factorisation/residual.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::numerics {
namespace {

Matrix zeros(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

Matrix identity(std::int64_t n) {
  Matrix out = zeros(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    out(i, i) = 1;
  }
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out = zeros(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      out(j, i) = a(i, j);
    }
  }
  return out;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out = zeros(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const double left = a(i, k);
      for (std::int64_t j = 0; j < b.columns; ++j) {
        out(i, j) += left * b(k, j);
      }
    }
  }
  return out;
}

Matrix difference(Matrix a, const Matrix& b) {
  std::ranges::transform(a.values, b.values, a.values.begin(), std::minus<>());
  return a;
}

Matrix scaledColumns(Matrix a, const std::vector<double>& scale) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      a(i, j) *= scale[static_cast<std::size_t>(j)];
    }
  }
  return a;
}

double columnNorm(const Matrix& a, std::int64_t j) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    sum += std::abs(a(i, j));
  }
  return sum;
}

double norm1(const Matrix& a) {
  double most = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    most = std::max(most, columnNorm(a, j));
  }
  return most;
}

bool finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

/// Whether everything off one side of the diagonal is exactly zero.
bool triangular(const Matrix& a, bool upper) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if ((upper ? j < i : j > i) && a(i, j) != 0) {
        return false;
      }
    }
  }
  return true;
}

/// Collects what holds and what does not, and says so.
class Checker {
 public:
  Checker(const Matrix& a, Format format) : u_(traits(format).unitRoundoff()) {
    if (a.rows == 0 || a.columns == 0) {
      stop(CaseState::Mistrusted, "empty", "the matrix has no elements: nothing was compared");
    } else if (!finite(a.values)) {
      stop(CaseState::Mistrusted, "special values", "the matrix itself is not finite");
    } else if (norm1(a) == 0) {
      stop(CaseState::Mistrusted, "zero", "a matrix of zeros: factors nobody computed would do");
    }
  }

  void shape(const char* what, const Matrix& matrix, std::int64_t rows, std::int64_t columns) {
    if (matrix.rows != rows || matrix.columns != columns) {
      stop(CaseState::ShapeDtypeMismatch, "structure",
           fmt::format("{} is {} x {}, expected {} x {}", what, matrix.rows, matrix.columns, rows,
                       columns));
    } else {
      numbers(what, matrix.values);
    }
  }
  void length(const char* what, const std::vector<double>& values, std::int64_t due) {
    if (std::ssize(values) != due) {
      stop(CaseState::ShapeDtypeMismatch, "structure",
           fmt::format("{} has {} values, expected {}", what, values.size(), due));
    } else {
      numbers(what, values);
    }
  }
  void promise(bool holds, std::string cause) {
    if (!holds) {
      const std::string reason = fmt::format("{} does not hold", cause);
      stop(CaseState::Mismatch, std::move(cause), reason);
    }
  }
  void mistrust(bool applies, std::string cause, std::string reason) {
    if (applies) {
      stop(CaseState::Mistrusted, std::move(cause), std::move(reason));
    }
  }
  /// `size` is what the residual is measured against, but for u.
  void residual(std::string_view what, double norm, double size) {
    if (!open()) {
      return;
    }
    const double ratio = norm == 0  ? 0
                         : size > 0 ? norm / (size * u_)
                                    : std::numeric_limits<double>::infinity();
    done_.residuals.push_back({what, ratio});
    if (!(ratio <= kResidualLimit)) {
      worst_ = done_.residuals.back();
    }
  }
  [[nodiscard]] bool open() const { return done_.state == CaseState::NotRun; }

  FactorisationJudgement conclude() {
    if (!open()) {
      return std::move(done_);
    }
    done_.state = worst_.what.empty() ? CaseState::Pass : CaseState::Mismatch;
    done_.cause = worst_.what;
    done_.reason = worst_.what.empty()
                       ? fmt::format("every residual is within {} n u", kResidualLimit)
                       : fmt::format("{} is {:.3g} n u, at most {} is rounding", worst_.what,
                                     worst_.ratio, kResidualLimit);
    return std::move(done_);
  }

 private:
  void numbers(const char* what, const std::vector<double>& values) {
    if (!finite(values)) {
      stop(CaseState::NanInf, what, fmt::format("{} is not finite, the matrix is", what));
    }
  }
  void stop(CaseState state, std::string cause, std::string reason) {
    if (open()) {
      done_.state = state;
      done_.cause = std::move(cause);
      done_.reason = std::move(reason);
    }
  }

  double u_;
  FactorisationJudgement done_;
  Residual worst_;
};

double size(std::int64_t n, double norm) { return static_cast<double>(n) * norm; }

void orthogonal(Checker& checker, std::string_view what, const Matrix& q, std::int64_t n) {
  const Matrix gram = product(transposed(q), q);
  checker.residual(what, norm1(difference(gram, identity(q.columns))), static_cast<double>(n));
}

}  // namespace

FactorisationJudgement judgeQr(const Matrix& a, const Matrix& q, const Matrix& r, Format format) {
  Checker checker(a, format);
  const std::int64_t k = q.columns == a.rows ? a.rows : std::min(a.rows, a.columns);
  checker.shape("Q", q, a.rows, k);
  checker.shape("R", r, k, a.columns);
  if (checker.open()) {
    checker.promise(triangular(r, true), "R upper triangular");
    checker.residual("A - Q R", norm1(difference(product(q, r), a)), size(a.rows, norm1(a)));
    orthogonal(checker, "Q^T Q - I", q, a.rows);
  }
  return checker.conclude();
}

FactorisationJudgement judgeCholesky(const Matrix& a, const Matrix& factor, bool upper,
                                     Format format) {
  Checker checker(a, format);
  checker.shape("A", a, a.rows, a.rows);
  checker.shape("the factor", factor, a.rows, a.rows);
  if (checker.open()) {
    checker.promise(triangular(factor, upper), "a triangular factor");
    bool positive = true;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      positive = positive && factor(i, i) > 0;
    }
    checker.promise(positive, "a diagonal above zero");
    const Matrix made =
        upper ? product(transposed(factor), factor) : product(factor, transposed(factor));
    checker.residual("A - L L^T", norm1(difference(made, a)), size(a.rows, norm1(a)));
  }
  return checker.conclude();
}

FactorisationJudgement judgeLu(const Matrix& a, const Matrix& p, const Matrix& l, const Matrix& u,
                               Format format) {
  Checker checker(a, format);
  const std::int64_t k = std::min(a.rows, a.columns);
  checker.shape("P", p, a.rows, a.rows);
  checker.shape("L", l, a.rows, k);
  checker.shape("U", u, k, a.columns);
  if (checker.open()) {
    const auto zeroOrOne = [](double x) { return x == 0 || x == 1; };
    const Matrix square = product(transposed(p), p);
    checker.promise(
        std::ranges::all_of(p.values, zeroOrOne) && square.values == identity(a.rows).values,
        "P a permutation");
    bool unit = triangular(l, false);
    for (std::int64_t i = 0; i < k; ++i) {
      unit = unit && l(i, i) == 1;
    }
    checker.promise(unit, "L unit lower triangular");
    checker.promise(triangular(u, true), "U upper triangular");
    checker.promise(std::ranges::all_of(l.values, [](double x) { return std::abs(x) <= 1; }),
                    "partial pivoting");
    const Matrix permuted = product(transposed(p), a);
    checker.residual("P^T A - L U", norm1(difference(product(l, u), permuted)),
                     size(a.columns, norm1(a)));
  }
  return checker.conclude();
}

FactorisationJudgement judgeSvd(const Matrix& a, const Matrix& u, const std::vector<double>& s,
                                const Matrix& vt, Format format) {
  Checker checker(a, format);
  const std::int64_t k = std::min(a.rows, a.columns);
  checker.shape("U", u, a.rows, u.columns == a.rows ? a.rows : k);
  checker.length("S", s, k);
  checker.shape("V^T", vt, vt.rows == a.columns ? a.columns : k, a.columns);
  if (checker.open()) {
    checker.promise(std::ranges::is_sorted(s, std::greater<>()) && s.back() >= 0,
                    "S falling and not negative");
    // The columns beyond k of complete factors belong to no singular value.
    std::vector<double> scale = s;
    scale.resize(static_cast<std::size_t>(u.columns));
    Matrix made = zeros(a.rows, a.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t t = 0; t < k; ++t) {
        const double left = u(i, t) * scale[static_cast<std::size_t>(t)];
        for (std::int64_t j = 0; j < a.columns; ++j) {
          made(i, j) += left * vt(t, j);
        }
      }
    }
    checker.residual("A - U S V^T", norm1(difference(made, a)),
                     size(std::max(a.rows, a.columns), norm1(a)));
    orthogonal(checker, "U^T U - I", u, a.rows);
    orthogonal(checker, "V^T V - I", transposed(vt), a.columns);
  }
  return checker.conclude();
}

FactorisationJudgement judgeEigh(const Matrix& a, const std::vector<double>& w, const Matrix& v,
                                 Format format) {
  Checker checker(a, format);
  checker.shape("A", a, a.rows, a.rows);
  checker.length("W", w, a.rows);
  checker.shape("V", v, a.rows, a.rows);
  if (checker.open()) {
    checker.promise(std::ranges::is_sorted(w), "W rising");
    const Matrix made = product(scaledColumns(v, w), transposed(v));
    checker.residual("A - V W V^T", norm1(difference(made, a)), size(a.rows, norm1(a)));
    orthogonal(checker, "V^T V - I", v, a.rows);
  }
  return checker.conclude();
}

FactorisationJudgement judgeSolve(const Matrix& a, const Matrix& x, const Matrix& b,
                                  Format format) {
  Checker checker(a, format);
  checker.shape("A", a, a.rows, a.rows);
  checker.shape("X", x, a.rows, b.columns);
  if (checker.open()) {
    checker.mistrust(norm1(b) == 0, "zero", "a right side of zeros: a solution of zeros would do");
    const Matrix left = difference(product(a, x), b);
    double most = 0;
    double scale = 0;
    for (std::int64_t j = 0; j < b.columns; ++j) {
      const double error = columnNorm(left, j);
      const double own = size(a.rows, norm1(a) * columnNorm(x, j));
      // The largest quotient, without dividing by a column of zeros.
      if (error * scale > most * own || (scale == 0 && most == 0)) {
        most = error;
        scale = own;
      }
    }
    checker.residual("B - A X", most, scale);
  }
  return checker.conclude();
}

FactorisationJudgement judgeInverse(const Matrix& a, const Matrix& inverse, Format format) {
  Checker checker(a, format);
  checker.shape("A", a, a.rows, a.rows);
  checker.shape("the inverse", inverse, a.rows, a.rows);
  if (checker.open()) {
    checker.residual("A A^-1 - I", norm1(difference(product(a, inverse), identity(a.rows))),
                     size(a.rows, norm1(a) * norm1(inverse)));
  }
  return checker.conclude();
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/states.h"
#include "numerics/format/float_format.h"

namespace neuroncheck::numerics {

/// A dense real matrix, row-major.
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;

  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  [[nodiscard]] double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

/// One property that factors must have, in units of what rounding may do to it.
struct Residual {
  std::string_view what;  ///< "A - Q R", "Q^T Q - I"
  double ratio = 0;       ///< its 1-norm over n u times the norms of what it was made of
};

/// Residuals of LAPACK's testers are below this (TESTING/*.in).
inline constexpr double kResidualLimit = 30;

struct FactorisationJudgement {
  CaseState state =
      CaseState::NotRun;  ///< pass, mismatch, nan-inf, shape-dtype-mismatch, mistrusted
  std::string cause;      ///< the property that fails, "empty", "zero", ...
  std::string reason;
  std::vector<Residual> residuals;
};

/// Factors are not unique (signs, order within equal values, the basis of a null space), so they
/// are judged by what they multiply to and by the form they promise, never by element. Everything
/// is worked out in fp64; `format` is that of the factors, whose unit roundoff is u. For fp64
/// factors the residual itself errs by a few u. Matrices are one item of a batch.
///
/// Rule 26 of docs/verdicts.md. The formulas are those of LAPACK's TESTING: dqrt01, dpot01, dget01,
/// dget02, dget03, ddrvbd, ddrvst.

/// A = Q R: |A - Q R| / (m |A| u), |Q^T Q - I| / (m u), R upper triangular; reduced or complete.
[[nodiscard]] FactorisationJudgement judgeQr(const Matrix& a, const Matrix& q, const Matrix& r,
                                             Format format);
/// A = L L^T, or U^T U when `upper`: |A - L L^T| / (n |A| u), triangular, diagonal above zero.
[[nodiscard]] FactorisationJudgement judgeCholesky(const Matrix& a, const Matrix& factor,
                                                   bool upper, Format format);
/// A = P L U: |P^T A - L U| / (n |A| u), L unit lower, U upper triangular, P a permutation, and
/// with partial pivoting no element of L above 1.
[[nodiscard]] FactorisationJudgement judgeLu(const Matrix& a, const Matrix& p, const Matrix& l,
                                             const Matrix& u, Format format);
/// A = U S V^T: |A - U S V^T| / (max(m, n) |A| u), both orthogonal, S falling and not negative.
[[nodiscard]] FactorisationJudgement judgeSvd(const Matrix& a, const Matrix& u,
                                              const std::vector<double>& s, const Matrix& vt,
                                              Format format);
/// A = V W V^T of a symmetric A: |A - V W V^T| / (n |A| u), V orthogonal, W rising.
[[nodiscard]] FactorisationJudgement judgeEigh(const Matrix& a, const std::vector<double>& w,
                                               const Matrix& v, Format format);
/// A X = B: the largest |b - A x| / (n |A| |x| u) of the columns.
[[nodiscard]] FactorisationJudgement judgeSolve(const Matrix& a, const Matrix& x, const Matrix& b,
                                                Format format);
/// |A A^-1 - I| / (n |A| |A^-1| u)
[[nodiscard]] FactorisationJudgement judgeInverse(const Matrix& a, const Matrix& inverse,
                                                  Format format);

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
// Factors are judged by what they multiply to: any right ones pass, and none that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "numerics/tests/kernels/factorisation.h"

namespace neuroncheck::numerics {
namespace {

using namespace ::neuroncheck::numerics::testing;
using ::testing::HasSubstr;

constexpr std::int64_t kSize = 24;

Matrix filled(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
              Family family = Family::Normal) {
  return {rows, columns, fill(family, Format::Float32, rows * columns, seed, columns)};
}

/// Symmetric; positive definite where a diagonal is added.
Matrix symmetric(std::int64_t n, std::uint64_t seed, double diagonal) {
  Matrix a = filled(n, n, seed);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      a(i, j) = a(j, i);
    }
    a(i, i) = roundTo(Format::Float32, a(i, i) + diagonal);
  }
  return a;
}

Matrix withColumnsNegated(Matrix a, std::int64_t step) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; j += step) {
      a(i, j) = -a(i, j);
    }
  }
  return a;
}

Matrix withRowsNegated(const Matrix& a, std::int64_t step) {
  return transposedMatrix(withColumnsNegated(transposedMatrix(a), step));
}

Matrix withLastRowZero(Matrix a) {
  std::fill(a.values.end() - a.columns, a.values.end(), 0.0);
  return a;
}

Matrix throughBf16(Matrix a) {
  a.values = roundedTo(Format::BFloat16, std::move(a.values));
  return a;
}

Matrix withOneOff(Matrix a, std::int64_t i, std::int64_t j, double by) {
  a(i, j) += by;
  return a;
}

std::string said(const FactorisationJudgement& j) {
  return std::string(name(j.state)) + " " + j.cause;
}

/// Every kernel on machines of any order passes at fp32's roundoff; on a bf16 machine it does not.
void expectOnMachines(const std::function<FactorisationJudgement(const Machine&)>& judged) {
  for (const Order order : kLegalOrders) {
    const FactorisationJudgement j = judged(Machine(Format::Float32, order));
    EXPECT_EQ(j.state, CaseState::Pass) << name(order) << ": " << j.reason;
    EXPECT_FALSE(j.residuals.empty());
    for (const Residual& residual : j.residuals) {
      EXPECT_LT(residual.ratio, kResidualLimit / 5) << residual.what;
    }
  }
  // What is nearly singular is singular in bf16: NaN.
  for (const Format coarse : {Format::BFloat16, Format::Float16}) {
    const CaseState state = judged(Machine(coarse)).state;
    EXPECT_TRUE(state == CaseState::Mismatch || state == CaseState::NanInf) << name(state);
  }
}

TEST(Factorisation, QrIsAnyRightPairOfFactors) {
  for (const auto& [rows, columns] : {std::pair(kSize, kSize), {kSize, 9L}, {9L, kSize}}) {
    for (const Family family : {Family::Normal, Family::Offset, Family::Scales}) {
      const Matrix a = filled(rows, columns, 3, family);
      expectOnMachines([&](const Machine& m) {
        const QrFactors f = qr(m, a);
        return judgeQr(a, f.q, f.r, Format::Float32);
      });
    }
  }
  const Matrix a = filled(kSize, kSize, 3);
  const QrFactors f = qr(Machine(Format::Float32), a);
  const auto judged = [&](const Matrix& q, const Matrix& r) {
    return said(judgeQr(a, q, r, Format::Float32));
  };
  EXPECT_EQ(judged(withColumnsNegated(f.q, 2), withRowsNegated(f.r, 2)), "pass ");
  EXPECT_EQ(judged(withColumnsNegated(f.q, 2), f.r), "mismatch A - Q R");
  EXPECT_EQ(judged(transposedMatrix(f.q), f.r), "mismatch A - Q R");
  EXPECT_EQ(judged(withLastRowZero(f.q), f.r), "mismatch Q^T Q - I");
  EXPECT_EQ(judged(f.q, withOneOff(f.r, kSize - 1, 0, 1e-9)), "mismatch R upper triangular");
  EXPECT_EQ(judged(identityMatrix(kSize), a), "mismatch R upper triangular");
  EXPECT_EQ(judged(throughBf16(f.q), f.r), "mismatch Q^T Q - I");
  EXPECT_EQ(judged(f.q, throughBf16(f.r)), "mismatch A - Q R");
}

TEST(Factorisation, ReducedQrHasTheShapeItPromises) {
  const Matrix a = filled(kSize, 9, 5);
  const QrFactors f = qr(Machine(Format::Float32), a);
  Matrix q = zeroMatrix(kSize, 9);
  Matrix r = zeroMatrix(9, 9);
  for (std::int64_t j = 0; j < 9; ++j) {
    for (std::int64_t i = 0; i < kSize; ++i) {
      q(i, j) = f.q(i, j);
    }
    for (std::int64_t i = 0; i < 9; ++i) {
      r(i, j) = f.r(i, j);
    }
  }
  EXPECT_EQ(judgeQr(a, q, r, Format::Float32).state, CaseState::Pass);
  EXPECT_EQ(judgeQr(a, q, f.r, Format::Float32).state, CaseState::ShapeDtypeMismatch);
}

TEST(Factorisation, CholeskyHasOneFactorAndItsTranspose) {
  const Matrix a = symmetric(kSize, 7, 40);
  expectOnMachines(
      [&](const Machine& m) { return judgeCholesky(a, cholesky(m, a), false, Format::Float32); });
  const Matrix l = cholesky(Machine(Format::Float32), a);
  const auto judged = [&](const Matrix& factor, bool upper) {
    return said(judgeCholesky(a, factor, upper, Format::Float32));
  };
  EXPECT_EQ(judged(transposedMatrix(l), true), "pass ");
  EXPECT_EQ(judged(l, true), "mismatch a triangular factor");
  EXPECT_EQ(judged(withColumnsNegated(l, 3), false), "mismatch a diagonal above zero");
  EXPECT_EQ(judged(withOneOff(l, 20, 3, 1e-2), false), "mismatch A - L L^T");
  EXPECT_EQ(judged(throughBf16(l), false), "mismatch A - L L^T");
}

TEST(Factorisation, LuHasAPermutationAndPivots) {
  const Matrix a = filled(kSize, kSize, 9);
  expectOnMachines([&](const Machine& m) {
    const LuFactors f = lu(m, a);
    return judgeLu(a, f.p, f.l, f.u, Format::Float32);
  });
  const LuFactors f = lu(Machine(Format::Float32), a);
  const auto judged = [&](const Matrix& p, const Matrix& l, const Matrix& u) {
    return said(judgeLu(a, p, l, u, Format::Float32));
  };
  EXPECT_EQ(judged(transposedMatrix(f.p), f.l, f.u), "mismatch P^T A - L U");
  EXPECT_EQ(judged(withLastRowZero(f.p), f.l, f.u), "mismatch P a permutation");
  EXPECT_EQ(judged(f.p, withOneOff(f.l, 4, 4, 1e-7), f.u), "mismatch L unit lower triangular");
  EXPECT_EQ(judged(f.p, f.l, withOneOff(f.u, 9, 2, 1e-7)), "mismatch U upper triangular");
  EXPECT_EQ(judged(f.p, withOneOff(f.l, 9, 2, 3), f.u), "mismatch partial pivoting");
  EXPECT_EQ(judged(f.p, f.l, withLastRowZero(f.u)), "mismatch P^T A - L U");
  EXPECT_EQ(judged(f.p, throughBf16(f.l), f.u), "mismatch P^T A - L U");
}

TEST(Factorisation, SvdHasFreeSignsAndOrderedValues) {
  for (const std::int64_t columns : {kSize, std::int64_t{9}}) {
    const Matrix a = filled(kSize, columns, 11);
    expectOnMachines([&](const Machine& m) {
      const SvdFactors f = svd(m, a);
      return judgeSvd(a, f.u, f.s, f.vt, Format::Float32);
    });
  }
  const Matrix a = filled(kSize, 9, 11);
  const SvdFactors f = svd(Machine(Format::Float32), a);
  const auto judged = [&](const Matrix& u, const std::vector<double>& s, const Matrix& vt) {
    return said(judgeSvd(a, u, s, vt, Format::Float32));
  };
  EXPECT_EQ(judged(withColumnsNegated(f.u, 2), f.s, withRowsNegated(f.vt, 2)), "pass ");
  EXPECT_EQ(judged(withColumnsNegated(f.u, 2), f.s, f.vt), "mismatch A - U S V^T");
  EXPECT_EQ(judged(f.u, f.s, transposedMatrix(f.vt)), "mismatch A - U S V^T");
  auto s = f.s;
  std::swap(s[2], s[3]);
  EXPECT_EQ(judged(f.u, s, f.vt), "mismatch S falling and not negative");
  s = f.s;
  s[8] = -s[8];
  EXPECT_EQ(judged(f.u, s, f.vt), "mismatch S falling and not negative");
  s = f.s;
  s[0] *= 1.001;
  EXPECT_EQ(judged(f.u, s, f.vt), "mismatch A - U S V^T");
  s.pop_back();
  EXPECT_EQ(judged(f.u, s, f.vt), "shape-dtype-mismatch structure");
  EXPECT_EQ(judged(throughBf16(f.u), f.s, f.vt), "mismatch U^T U - I");
}

TEST(Factorisation, EighHasFreeSignsAndOrderedValues) {
  const Matrix a = symmetric(kSize, 13, 0);
  expectOnMachines([&](const Machine& m) {
    const EighFactors f = eigh(m, a);
    return judgeEigh(a, f.w, f.v, Format::Float32);
  });
  const EighFactors f = eigh(Machine(Format::Float32), a);
  const auto judged = [&](const std::vector<double>& w, const Matrix& v) {
    return said(judgeEigh(a, w, v, Format::Float32));
  };
  EXPECT_EQ(judged(f.w, withColumnsNegated(f.v, 3)), "pass ");
  EXPECT_EQ(judged(f.w, transposedMatrix(f.v)), "mismatch A - V W V^T");
  auto w = f.w;
  std::ranges::reverse(w);
  EXPECT_EQ(judged(w, f.v), "mismatch W rising");
  w = f.w;
  w.back() *= 1.001;
  EXPECT_EQ(judged(w, f.v), "mismatch A - V W V^T");
  EXPECT_EQ(judged(f.w, withLastRowZero(f.v)), "mismatch V^T V - I");
}

TEST(Factorisation, EqualEigenvaluesHaveAnyBasis) {
  // Of the identity every orthogonal matrix is right.
  const Matrix q = qr(Machine(Format::Float32), filled(kSize, kSize, 15)).q;
  const std::vector<double> ones(kSize, 1.0);
  EXPECT_EQ(judgeEigh(identityMatrix(kSize), ones, q, Format::Float32).state, CaseState::Pass);
  EXPECT_EQ(judgeSvd(identityMatrix(kSize), q, ones, transposedMatrix(q), Format::Float32).state,
            CaseState::Pass);
}

TEST(Factorisation, SolutionsAreJudgedByWhatTheySolve) {
  // Nearly singular: the solution is far from the exact one, and still as right as can be.
  Matrix a = filled(kSize, kSize, 17);
  for (std::int64_t j = 0; j < kSize; ++j) {
    a(5, j) = roundTo(Format::Float32, a(4, j) + 0x1p-16 * a(6, j));
  }
  const Matrix b = filled(kSize, 3, 18);
  expectOnMachines(
      [&](const Machine& m) { return judgeSolve(a, solve(m, a, b), b, Format::Float32); });
  const Matrix x = solve(Machine(Format::Float32), a, b);
  const auto judged = [&](const Matrix& right) {
    return said(judgeSolve(a, right, b, Format::Float32));
  };
  EXPECT_EQ(judged(withLastRowZero(x)), "mismatch B - A X");
  EXPECT_EQ(judged(zeroMatrix(kSize, 3)), "mismatch B - A X");
  EXPECT_EQ(judged(throughBf16(x)), "mismatch B - A X");
  EXPECT_EQ(judged(transposedMatrix(x)), "shape-dtype-mismatch structure");
  EXPECT_EQ(said(judgeSolve(a, x, zeroMatrix(kSize, 3), Format::Float32)), "mistrusted zero");
}

TEST(Factorisation, AnInverseMultipliesToTheIdentity) {
  const Matrix a = filled(kSize, kSize, 19);
  expectOnMachines([&](const Machine& m) {
    return judgeInverse(a, solve(m, a, identityMatrix(kSize)), Format::Float32);
  });
  const Matrix inverse = solve(Machine(Format::Float32), a, identityMatrix(kSize));
  EXPECT_EQ(said(judgeInverse(a, transposedMatrix(inverse), Format::Float32)),
            "mismatch A A^-1 - I");
}

TEST(Factorisation, NothingIsNoComparison) {
  const Matrix none = zeroMatrix(0, 0);
  EXPECT_EQ(judgeQr(none, none, none, Format::Float32).state, CaseState::Mistrusted);
  const Matrix zero = zeroMatrix(kSize, kSize);
  EXPECT_EQ(said(judgeQr(zero, identityMatrix(kSize), zero, Format::Float32)), "mistrusted zero");
  const Matrix a = filled(kSize, kSize, 21);
  QrFactors f = qr(Machine(Format::Float32), a);
  f.r(3, 7) = std::numeric_limits<double>::quiet_NaN();
  const FactorisationJudgement j = judgeQr(a, f.q, f.r, Format::Float32);
  EXPECT_EQ(said(j), "nan-inf R");
  EXPECT_THAT(j.reason, HasSubstr("not finite"));
}

}  // namespace
}  // namespace neuroncheck::numerics

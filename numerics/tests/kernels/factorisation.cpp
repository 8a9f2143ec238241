// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/factorisation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace neuroncheck::numerics::testing {
namespace {

/// Rows p and q of a become c p + s q and c q - s p.
void rotateRows(const Machine& m, Matrix& a, std::int64_t p, std::int64_t q, double c, double s) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const double x = a(p, j);
    const double y = a(q, j);
    a(p, j) = m(m(c * x) + m(s * y));
    a(q, j) = m(m(c * y) - m(s * x));
  }
}

/// Cosine and sine of the rotation that makes the off-diagonal of [[x, z], [z, y]] vanish.
std::pair<double, double> jacobi(const Machine& m, double x, double y, double z) {
  if (z == 0) {
    return {1, 0};
  }
  const double zeta = m(m(y - x) / m(2 * z));
  const double root = m.sqrt(m(1 + m(zeta * zeta)));
  const double t = m((zeta >= 0 ? 1 : -1) / m(std::abs(zeta) + root));
  const double c = m(1 / m.sqrt(m(1 + m(t * t))));
  return {c, m(c * t)};
}

double rowsDot(const Machine& m, const Matrix& a, std::int64_t p, std::int64_t q) {
  return m.dot(
      a.columns, [&](std::int64_t j) { return a(p, j); }, [&](std::int64_t j) { return a(q, j); });
}

constexpr int kSweeps = 12;

}  // namespace

Matrix zeroMatrix(std::int64_t rows, std::int64_t columns) {
  return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

Matrix identityMatrix(std::int64_t n) {
  Matrix out = zeroMatrix(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    out(i, i) = 1;
  }
  return out;
}

Matrix transposedMatrix(const Matrix& a) {
  Matrix out = zeroMatrix(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      out(j, i) = a(i, j);
    }
  }
  return out;
}

QrFactors qr(const Machine& m, const Matrix& a) {
  Matrix r = a;
  Matrix qt = identityMatrix(a.rows);
  for (std::int64_t j = 0; j < std::min(a.rows - 1, a.columns); ++j) {
    for (std::int64_t i = a.rows - 1; i > j; --i) {
      const double x = r(i - 1, j);
      const double y = r(i, j);
      const double h = m.sqrt(m(m(x * x) + m(y * y)));
      if (h == 0) {
        continue;
      }
      const double c = m(x / h);
      const double s = m(y / h);
      rotateRows(m, r, i - 1, i, c, s);
      rotateRows(m, qt, i - 1, i, c, s);
      r(i, j) = 0;
    }
  }
  return {transposedMatrix(qt), r};
}

Matrix cholesky(const Machine& m, const Matrix& a) {
  Matrix l = zeroMatrix(a.rows, a.rows);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) {
      const double sum = m.dot(
          j, [&](std::int64_t k) { return l(i, k); }, [&](std::int64_t k) { return l(j, k); });
      const double left = m(a(i, j) - sum);
      l(i, j) = i == j ? m.sqrt(left) : m(left / l(j, j));
    }
  }
  return l;
}

LuFactors lu(const Machine& m, const Matrix& a) {
  Matrix u = a;
  const std::int64_t n = a.rows;
  Matrix l = identityMatrix(n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < n; ++i) {
      pivot = std::abs(u(i, j)) > std::abs(u(pivot, j)) ? i : pivot;
    }
    std::swap(at(order, j), at(order, pivot));
    for (std::int64_t k = 0; k < n; ++k) {
      std::swap(u(j, k), u(pivot, k));
      if (k < j) {
        std::swap(l(j, k), l(pivot, k));
      }
    }
    for (std::int64_t i = j + 1; i < n; ++i) {
      l(i, j) = m(u(i, j) / u(j, j));
      u(i, j) = 0;
      for (std::int64_t k = j + 1; k < n; ++k) {
        u(i, k) = m(u(i, k) - m(l(i, j) * u(j, k)));
      }
    }
  }
  Matrix p = zeroMatrix(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    p(at(order, i), i) = 1;
  }
  return {p, l, u};
}

EighFactors eigh(const Machine& m, const Matrix& a) {
  Matrix d = a;
  Matrix vt = identityMatrix(a.rows);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::int64_t p = 0; p < a.rows; ++p) {
      for (std::int64_t q = p + 1; q < a.rows; ++q) {
        const auto [c, s] = jacobi(m, d(p, p), d(q, q), d(p, q));
        rotateRows(m, d, p, q, c, -s);
        d = transposedMatrix(d);
        rotateRows(m, d, p, q, c, -s);
        rotateRows(m, vt, p, q, c, -s);
      }
    }
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t i, std::int64_t j) { return d(i, i) < d(j, j); });
  EighFactors out{{}, zeroMatrix(a.rows, a.rows)};
  for (std::int64_t j = 0; j < a.rows; ++j) {
    out.w.push_back(d(at(order, j), at(order, j)));
    for (std::int64_t i = 0; i < a.rows; ++i) {
      out.v(i, j) = vt(at(order, j), i);
    }
  }
  return out;
}

SvdFactors svd(const Machine& m, const Matrix& a) {
  Matrix left = transposedMatrix(a);  // rows are the columns that become U S
  Matrix vt = identityMatrix(a.columns);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::int64_t p = 0; p < left.rows; ++p) {
      for (std::int64_t q = p + 1; q < left.rows; ++q) {
        const auto [c, s] =
            jacobi(m, rowsDot(m, left, p, p), rowsDot(m, left, q, q), rowsDot(m, left, p, q));
        rotateRows(m, left, p, q, c, -s);
        rotateRows(m, vt, p, q, c, -s);
      }
    }
  }
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::int64_t p = 0; p < left.rows; ++p) {
    order.emplace_back(m.sqrt(rowsDot(m, left, p, p)), p);
  }
  std::ranges::sort(order, std::greater<>());
  SvdFactors out{zeroMatrix(a.rows, a.columns), {}, zeroMatrix(a.columns, a.columns)};
  for (std::int64_t t = 0; t < a.columns; ++t) {
    const auto& [value, p] = at(order, t);
    out.s.push_back(value);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      out.u(i, t) = m(left(p, i) / value);
    }
    for (std::int64_t j = 0; j < a.columns; ++j) {
      out.vt(t, j) = vt(p, j);
    }
  }
  return out;
}

Matrix solve(const Machine& m, const Matrix& a, const Matrix& b) {
  const LuFactors f = lu(m, a);
  const std::int64_t n = a.rows;
  Matrix x = zeroMatrix(n, b.columns);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t from = 0;
      while (f.p(from, i) == 0) {
        ++from;
      }
      const double sum = m.dot(
          i, [&](std::int64_t k) { return f.l(i, k); }, [&](std::int64_t k) { return x(k, j); });
      x(i, j) = m(b(from, j) - sum);
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const double sum = m.dot(
          n - 1 - i, [&](std::int64_t k) { return f.u(i, i + 1 + k); },
          [&](std::int64_t k) { return x(i + 1 + k, j); });
      x(i, j) = m(m(x(i, j) - sum) / f.u(i, i));
    }
  }
  return x;
}

}  // namespace neuroncheck::numerics::testing

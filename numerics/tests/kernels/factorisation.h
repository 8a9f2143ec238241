// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "numerics/factorisation/residual.h"
#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

/// Textbook factorisations on a machine: plane rotations and eliminations, every operation rounded.
struct QrFactors {
  Matrix q, r;
};
[[nodiscard]] QrFactors qr(const Machine& m, const Matrix& a);  ///< Givens; complete
[[nodiscard]] Matrix cholesky(const Machine& m, const Matrix& a);
struct LuFactors {
  Matrix p, l, u;
};
[[nodiscard]] LuFactors lu(const Machine& m, const Matrix& a);  ///< of a square matrix
struct EighFactors {
  std::vector<double> w;
  Matrix v;
};
[[nodiscard]] EighFactors eigh(const Machine& m, const Matrix& a);  ///< cyclic Jacobi
struct SvdFactors {
  Matrix u;
  std::vector<double> s;
  Matrix vt;
};
[[nodiscard]] SvdFactors svd(const Machine& m,
                             const Matrix& a);  ///< one-sided Jacobi, rows >= columns
[[nodiscard]] Matrix solve(const Machine& m, const Matrix& a, const Matrix& b);

[[nodiscard]] Matrix zeroMatrix(std::int64_t rows, std::int64_t columns);
[[nodiscard]] Matrix identityMatrix(std::int64_t n);
[[nodiscard]] Matrix transposedMatrix(const Matrix& a);

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

using Indices = std::vector<std::int64_t>;

/// out[r][j] = x[r][index[r][j]] of x[rows, n]; `perRow` indices each row.
[[nodiscard]] Values gatherLast(const Values& x, std::int64_t rows, std::int64_t n,
                                const Indices& index, std::int64_t perRow);
/// Rows of x[., n] by their numbers: index_select along dimension 0, embedding.
[[nodiscard]] Values takeRows(const Values& x, std::int64_t n, const Indices& rows);
/// target[index[i]] += row i of source[., n], one after the other.
[[nodiscard]] Values scatterAdd(const Machine& machine, Values target, std::int64_t n,
                                const Indices& index, const Values& source);
[[nodiscard]] Values where(const Indices& condition, const Values& yes, const Values& no);
/// Along the last dimension of left[rows, a] and right[rows, b].
[[nodiscard]] Values catLast(const Values& left, std::int64_t a, const Values& right,
                             std::int64_t b);
/// The k largest of each row, the largest first (or smallest).
[[nodiscard]] Values topkValues(const Values& x, std::int64_t n, std::int64_t k,
                                bool largest = true);
[[nodiscard]] Indices argmax(const Values& x, std::int64_t n);
/// Elements [0, rows) x [0, columns) by strides.
[[nodiscard]] Values strided(const Values& x, std::int64_t rows, std::int64_t columns,
                             std::int64_t rowStride, std::int64_t columnStride,
                             std::int64_t offset = 0);

}  // namespace neuroncheck::numerics::testing

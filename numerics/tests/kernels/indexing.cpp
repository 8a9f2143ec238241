// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/indexing.h"

#include <algorithm>
#include <functional>

namespace neuroncheck::numerics::testing {

Values gatherLast(const Values& x, std::int64_t rows, std::int64_t n, const Indices& index,
                  std::int64_t perRow) {
  Values out;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < perRow; ++j) {
      out.push_back(at(x, r * n + at(index, r * perRow + j)));
    }
  }
  return out;
}

Values takeRows(const Values& x, std::int64_t n, const Indices& rows) {
  Values out;
  for (const std::int64_t r : rows) {
    out.insert(out.end(), x.begin() + r * n, x.begin() + (r + 1) * n);
  }
  return out;
}

Values scatterAdd(const Machine& machine, Values target, std::int64_t n, const Indices& index,
                  const Values& source) {
  const auto count = std::ssize(index);
  for (std::int64_t step = 0; step < count; ++step) {
    const std::int64_t i = machine.order() == Order::Reversed ? count - 1 - step : step;
    for (std::int64_t j = 0; j < n; ++j) {
      double& sum = at(target, at(index, i) * n + j);
      sum = machine(sum + at(source, i * n + j));
    }
  }
  return target;
}

Values where(const Indices& condition, const Values& yes, const Values& no) {
  Values out;
  for (std::int64_t i = 0; i < std::ssize(condition); ++i) {
    out.push_back(at(condition, i) != 0 ? at(yes, i) : at(no, i));
  }
  return out;
}

Values catLast(const Values& left, std::int64_t a, const Values& right, std::int64_t b) {
  Values out;
  for (std::int64_t r = 0; r < std::ssize(left) / a; ++r) {
    out.insert(out.end(), left.begin() + r * a, left.begin() + (r + 1) * a);
    out.insert(out.end(), right.begin() + r * b, right.begin() + (r + 1) * b);
  }
  return out;
}

Values topkValues(const Values& x, std::int64_t n, std::int64_t k, bool largest) {
  Values out;
  for (std::int64_t first = 0; first < std::ssize(x); first += n) {
    Values row(x.begin() + first, x.begin() + first + n);
    if (largest) {
      std::ranges::sort(row, std::greater<>());
    } else {
      std::ranges::sort(row);
    }
    out.insert(out.end(), row.begin(), row.begin() + k);
  }
  return out;
}

Indices argmax(const Values& x, std::int64_t n) {
  Indices out;
  for (std::int64_t first = 0; first < std::ssize(x); first += n) {
    const auto begin = x.begin() + first;
    out.push_back(std::max_element(begin, begin + n) - begin);
  }
  return out;
}

Values strided(const Values& x, std::int64_t rows, std::int64_t columns, std::int64_t rowStride,
               std::int64_t columnStride, std::int64_t offset) {
  Values out;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      out.push_back(at(x, offset + i * rowStride + j * columnStride));
    }
  }
  return out;
}

}  // namespace neuroncheck::numerics::testing

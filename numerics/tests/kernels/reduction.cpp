// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/reduction.h"

#include <algorithm>
#include <limits>

namespace neuroncheck::numerics::testing {
namespace {

/// One row.
struct Row {
  const double* x;
  std::int64_t n;
  double operator()(std::int64_t i) const { return x[i]; }
};

double mean(const Machine& m, const Row& row) {
  return m(m.sum(row.n, row) / static_cast<double>(row.n));
}

double variance(const Machine& m, const Row& row, const ReductionOptions& options) {
  const double center = mean(m, row);
  const auto n = static_cast<double>(row.n);
  if (options.naiveVar) {
    const double squares = m(m.dot(row.n, row, row) / n);
    return m(m(m(squares - m(center * center)) * n) / (n - options.correction));
  }
  const auto apart = [&](std::int64_t i) { return m(row(i) - center); };
  return m(m.dot(row.n, apart, apart) / (n - options.correction));
}

double logSumExp(const Machine& m, const Row& row, bool subtractMax) {
  const double top = subtractMax ? *std::max_element(row.x, row.x + row.n) : 0;
  const double sum = m.sum(row.n, [&](std::int64_t i) { return m.exp(m(row(i) - top)); });
  return m(top + m.log(sum));
}

double one(const Machine& m, Reduction reduction, const Row& row, const ReductionOptions& options) {
  switch (reduction) {
    case Reduction::Sum:
    case Reduction::CumSum:
      return m.sum(row.n, row);
    case Reduction::Mean:
      return mean(m, row);
    case Reduction::Var:
      return variance(m, row, options);
    case Reduction::Norm: {
      const double squares = m.dot(row.n, row, row);
      return options.takeRoot ? m.sqrt(squares) : squares;
    }
    case Reduction::Prod: {
      double product = 1;
      for (std::int64_t i = 0; i < row.n; ++i) {
        product = m(product * row(m.order() == Order::Reversed ? row.n - 1 - i : i));
      }
      return product;
    }
    case Reduction::LogSumExp:
      return logSumExp(m, row, options.subtractMax);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// use(element, row) for each output element.
template <typename Use>
Values overRows(Reduction reduction, std::int64_t rows, std::int64_t n, const Values& x,
                const Use& use) {
  Values out;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * n;
    if (reduction == Reduction::CumSum) {
      for (std::int64_t i = 1; i <= n; ++i) {
        out.push_back(use(Row{row, i}));
      }
    } else {
      out.push_back(use(Row{row, n}));
    }
  }
  return out;
}

/// exp and log of a machine add relative errors of the distances to the largest element.
double logSumExpMagnitude(const Row& row) {
  const double top = *std::max_element(row.x, row.x + row.n);
  double sum = 0;
  double distances = 0;
  for (std::int64_t i = 0; i < row.n; ++i) {
    const double e = std::exp(row(i) - top);
    sum += e;
    distances += e * (top - row(i));
  }
  return std::abs(top) + std::abs(std::log(sum)) + 1 + distances / sum;
}

}  // namespace

std::string_view name(Reduction reduction) {
  constexpr std::array<std::string_view, 7> names = {"sum",  "mean",      "var",   "norm",
                                                     "prod", "logsumexp", "cumsum"};
  return names.at(static_cast<std::size_t>(reduction));
}

Values reduce(const Machine& machine, Reduction reduction, std::int64_t rows, std::int64_t n,
              const Values& x, const ReductionOptions& options) {
  return overRows(reduction, rows, n, x,
                  [&](const Row& row) { return one(machine, reduction, row, options); });
}

Values reduceMagnitude(Reduction reduction, std::int64_t rows, std::int64_t n, const Values& x) {
  const bool plain =
      reduction == Reduction::Sum || reduction == Reduction::Mean || reduction == Reduction::CumSum;
  const Values sizes = absolute(x);
  return overRows(reduction, rows, n, plain ? sizes : x, [&](const Row& row) {
    return reduction == Reduction::LogSumExp ? logSumExpMagnitude(row)
                                             : std::abs(one(Machine::exact(), reduction, row, {}));
  });
}

Values reduceUnstable(Reduction reduction, std::int64_t rows, std::int64_t n, const Values& x) {
  if (reduction != Reduction::Var) {
    return {};
  }
  return overRows(reduction, rows, n, x, [&](const Row& row) {
    const Machine exact = Machine::exact();
    const double center = mean(exact, row);
    return exact.dot(row.n, row, row) / static_cast<double>(row.n) + center * center;
  });
}

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/normalisation.h"

#include <algorithm>

namespace neuroncheck::numerics::testing {
namespace {

struct Moments {
  double mean = 0;
  double reciprocal = 0;  ///< 1 / deviation
};

Moments momentsOf(const Machine& m, const double* x, std::int64_t n, const NormOptions& options) {
  const auto count = static_cast<double>(n);
  Moments moments;
  if (options.takesMean) {
    moments.mean = m(m.sum(n, [&](std::int64_t i) { return x[i]; }) / count);
  }
  const auto apart = [&](std::int64_t i) { return m(x[i] - moments.mean); };
  const double variance = m(m.dot(n, apart, apart) / (count - options.correction));
  const double shifted = m(variance + m(options.epsilon));
  moments.reciprocal = m(1 / (options.takesRoot ? m.sqrt(shifted) : shifted));
  return moments;
}

double meanSize(const double* x, std::int64_t n, bool takesMean) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += std::abs(x[i]);
  }
  return takesMean ? sum / static_cast<double>(n) : 0;
}

}  // namespace

Values normalise(const Machine& m, const NormShape& shape, const Values& x, const Values& weight,
                 const Values& bias, const NormOptions& options) {
  Values out(x.size());
  const Machine sums = options.momentsIn ? Machine(*options.momentsIn) : m;
  const Machine stored = options.momentsStoredIn ? Machine(*options.momentsStoredIn) : sums;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const double* row = x.data() + r * shape.n;
    const Moments unrounded = momentsOf(sums, row, shape.n, options);
    const Moments moments{stored(unrounded.mean), stored(unrounded.reciprocal)};
    for (std::int64_t i = 0; i < shape.n; ++i) {
      const std::int64_t p = shape.parameter(r, i);
      double& y = at(out, r * shape.n + i);
      if (options.foldedIn) {
        const Machine folded(*options.foldedIn);
        const double scale = folded(moments.reciprocal * at(weight, p));
        y = m(m(row[i] * scale) + folded(at(bias, p) - m(moments.mean * scale)));
      } else {
        const double unit = m(m(row[i] - moments.mean) * moments.reciprocal);
        y = m(m(unit * at(weight, p)) + at(bias, p));
      }
    }
  }
  return out;
}

Values normaliseMagnitude(const NormShape& shape, const Values& x, const Values& weight,
                          const Values& bias, const NormOptions& options) {
  Values out(x.size());
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const double* row = x.data() + r * shape.n;
    const Moments moments = momentsOf(Machine::exact(), row, shape.n, options);
    const double mean = meanSize(row, shape.n, options.takesMean);
    for (std::int64_t i = 0; i < shape.n; ++i) {
      const std::int64_t p = shape.parameter(r, i);
      at(out, r * shape.n + i) =
          (std::abs(row[i]) + mean) * moments.reciprocal * std::abs(at(weight, p)) +
          std::abs(at(bias, p));
    }
  }
  return out;
}

NormGradients normaliseBackward(const Machine& m, const NormShape& shape, const Values& gradient,
                                const Values& x, const Values& weight, const NormOptions& options) {
  const auto n = static_cast<double>(shape.n);
  NormGradients out{Values(x.size()), {}, {}};
  Values unit(x.size());
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const double* row = x.data() + r * shape.n;
    const double* dy = gradient.data() + r * shape.n;
    const Moments moments = momentsOf(m, row, shape.n, options);
    const auto scaled = [&](std::int64_t i) { return m(dy[i] * at(weight, i)); };
    const auto unitAt = [&](std::int64_t i) {
      return m(m(row[i] - moments.mean) * moments.reciprocal);
    };
    const double first = m(m.sum(shape.n, scaled) / n);
    const double second = m(m.dot(shape.n, scaled, unitAt) / n);
    for (std::int64_t i = 0; i < shape.n; ++i) {
      at(unit, r * shape.n + i) = unitAt(i);
      at(out.x, r * shape.n + i) =
          m(moments.reciprocal * m(m(scaled(i) - first) - m(unitAt(i) * second)));
    }
  }
  for (std::int64_t i = 0; i < shape.n; ++i) {
    const auto dy = [&](std::int64_t r) { return at(gradient, r * shape.n + i); };
    out.weight.push_back(
        m.dot(shape.rows, dy, [&](std::int64_t r) { return at(unit, r * shape.n + i); }));
    out.bias.push_back(m.sum(shape.rows, dy));
  }
  return out;
}

NormGradients normaliseBackwardMagnitude(const NormShape& shape, const Values& gradient,
                                         const Values& x, const Values& weight,
                                         const NormOptions& options) {
  const auto n = static_cast<double>(shape.n);
  NormGradients out{Values(x.size()), Values(weight.size()), Values(weight.size())};
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const double* row = x.data() + r * shape.n;
    const double* dy = gradient.data() + r * shape.n;
    const Moments moments = momentsOf(Machine::exact(), row, shape.n, options);
    const double mean = meanSize(row, shape.n, options.takesMean);
    // How far off x^ may be, in roundoffs, and x^ itself.
    const auto unsure = [&](std::int64_t i) {
      return (std::abs(row[i]) + mean) * moments.reciprocal;
    };
    const auto unit = [&](std::int64_t i) {
      return std::abs(row[i] - moments.mean) * moments.reciprocal;
    };
    double first = 0;
    double second = 0;
    double secondUnsure = 0;
    for (std::int64_t i = 0; i < shape.n; ++i) {
      const double g = std::abs(dy[i] * at(weight, i));
      first += g / n;
      second += g * unit(i) / n;
      secondUnsure += g * unsure(i) / n;
    }
    for (std::int64_t i = 0; i < shape.n; ++i) {
      at(out.x, r * shape.n + i) =
          moments.reciprocal *
          (std::abs(dy[i] * at(weight, i)) + first + unsure(i) * second + unit(i) * secondUnsure);
      at(out.weight, i) += std::abs(dy[i]) * unsure(i);
      at(out.bias, i) += std::abs(dy[i]);
    }
  }
  return out;
}

Values softmax(const Machine& m, std::int64_t rows, std::int64_t n, const Values& x,
               const SoftmaxOptions& options) {
  Values out(x.size());
  const std::int64_t summed = options.summed < 0 ? n : options.summed;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * n;
    const double top = options.subtractMax ? *std::max_element(row, row + n) : 0;
    const auto exponential = [&](std::int64_t i) { return m.exp(m(row[i] - top)); };
    const double sum = m.sum(summed, exponential);
    for (std::int64_t i = 0; i < n; ++i) {
      at(out, r * n + i) =
          options.logarithm ? m(m(row[i] - top) - m.log(sum)) : m(exponential(i) / sum);
    }
  }
  return out;
}

Values softmaxMagnitude(std::int64_t rows, std::int64_t n, const Values& x, bool logarithm) {
  Values out(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * n;
    const double top = *std::max_element(row, row + n);
    double sum = 0;
    double distances = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double e = std::exp(row[i] - top);
      sum += e;
      distances += e == 0 ? 0 : e * (top - row[i]);
    }
    distances /= sum;
    for (std::int64_t i = 0; i < n; ++i) {
      const double far = top - row[i];
      const double value = std::exp(row[i] - top) / sum;
      const double shared = 1 + distances + (std::isfinite(far) ? far : 0);
      at(out, r * n + i) = logarithm ? shared + std::log(sum) : value * shared;
    }
  }
  return out;
}

namespace {

struct Scores {
  Values value, magnitude;
};

/// Scores of one query; keys that it may not see are left out.
Scores scoresOf(const Machine& m, const AttentionShape& s, const double* q, const double* k,
                std::int64_t query) {
  Scores scores;
  const std::int64_t seen =
      s.causal ? std::clamp<std::int64_t>(query + s.diagonal + 1, 0, s.keys) : s.keys;
  for (std::int64_t j = 0; j < seen; ++j) {
    const auto left = [&](std::int64_t d) { return q[d]; };
    const auto right = [&](std::int64_t d) { return k[j * s.depth + d]; };
    scores.value.push_back(m(m.dot(s.depth, left, right) * s.scale));
    double magnitude = 0;
    for (std::int64_t d = 0; d < s.depth; ++d) {
      magnitude += std::abs(left(d) * right(d) * s.scale);
    }
    scores.magnitude.push_back(magnitude);
  }
  return scores;
}

/// use(output row, scores, values of the head) for every query.
template <typename Use>
void forEachQuery(const Machine& m, const AttentionShape& s, const Values& q, const Values& k,
                  const Values& v, const Use& use) {
  for (std::int64_t h = 0; h < s.heads; ++h) {
    for (std::int64_t i = 0; i < s.queries; ++i) {
      const std::int64_t row = h * s.queries + i;
      const std::int64_t head = h * s.keys * s.depth;
      use(row * s.depth, scoresOf(m, s, q.data() + row * s.depth, k.data() + head, i),
          v.data() + head);
    }
  }
}

}  // namespace

Values attention(const Machine& m, const AttentionShape& s, const Values& q, const Values& k,
                 const Values& v) {
  Values out(q.size());
  forEachQuery(m, s, q, k, v, [&](std::int64_t first, const Scores& scores, const double* head) {
    const auto seen = static_cast<std::int64_t>(scores.value.size());
    // A query that sees no key at all is 0/0, as upstream has it.
    const Values weights = seen == 0 ? Values{} : softmax(m, 1, seen, scores.value);
    for (std::int64_t d = 0; d < s.depth; ++d) {
      at(out, first + d) = seen == 0 ? std::nan("")
                                     : m.dot(
                                           seen, [&](std::int64_t j) { return at(weights, j); },
                                           [&](std::int64_t j) { return head[j * s.depth + d]; });
    }
  });
  return out;
}

Values attentionMagnitude(const AttentionShape& s, const Values& q, const Values& k,
                          const Values& v) {
  Values out(q.size());
  const Machine exact = Machine::exact();
  forEachQuery(exact, s, q, k, v,
               [&](std::int64_t first, const Scores& scores, const double* head) {
                 const auto seen = static_cast<std::int64_t>(scores.value.size());
                 const Values weights = softmax(exact, 1, seen, scores.value);
                 double shared = 0;  // what errors of the scores do to the denominator
                 for (std::int64_t j = 0; j < seen; ++j) {
                   shared += at(weights, j) * at(scores.magnitude, j);
                 }
                 for (std::int64_t d = 0; d < s.depth; ++d) {
                   double sum = 0;
                   for (std::int64_t j = 0; j < seen; ++j) {
                     sum += at(weights, j) * (1 + at(scores.magnitude, j) + shared) *
                            std::abs(head[j * s.depth + d]);
                   }
                   at(out, first + d) = sum;
                 }
               });
  return out;
}

}  // namespace neuroncheck::numerics::testing

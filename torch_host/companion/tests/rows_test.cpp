// SPDX-License-Identifier: Apache-2.0
// Formulas of a row, over the last dimension, written again as loops; other dimensions by moving
// them there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "torch_host/companion/tests/sample_calls.h"

namespace neuroncheck::companion::testing {
namespace {

using Row = std::vector<double>;
constexpr double kU = 0x1p-24;

Row rowOf(const Row& all, std::size_t index, std::size_t length) {
  return {all.begin() + static_cast<std::ptrdiff_t>(index * length),
          all.begin() + static_cast<std::ptrdiff_t>((index + 1) * length)};
}

double mean(const Row& x, const std::function<double(double)>& f) {
  double sum = 0;
  for (const double each : x) {
    sum += f(each);
  }
  return sum / static_cast<double>(x.size());
}
double absolute(double x) { return std::abs(x); }
double same(double x) { return x; }
double square(double x) { return x * x; }
double largest(const Row& x) { return *std::ranges::max_element(x); }

double variance(const Row& x) {
  const double m = mean(x, same);
  return mean(x, [m](double each) { return square(each - m); });
}
double stable(const Row& x, double k) {
  const double q = mean(x, square);
  const double v = variance(x);
  return v + std::sqrt(v * q) / k + 4 * std::sqrt(k) * kU * q;
}
double naive(const Row& x) { return mean(x, square) + square(mean(x, same)); }
double root(double v, double h, double k) {
  return std::min(v / (2 * h), std::sqrt(v / (4 * std::sqrt(k) * kU))) + h / std::sqrt(k);
}

/// exp(x - max) summed, and the expectation of |x - max|.
struct Soft {
  explicit Soft(const Row& x) : top(largest(x)) {
    for (const double each : x) {
      sum += std::exp(each - top);
    }
    for (const double each : x) {
      spread += std::exp(each - top) / sum * (top - each);
    }
  }
  double top;
  double sum = 0;
  double spread = 0;
};

void expectEach(const at::Tensor& s, const std::function<double(std::size_t)>& expected,
                const std::string& what) {
  const Row got = values(s);
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected(i), 1e-9 * std::max(1.0, expected(i))) << what << " at " << i;
  }
}

TEST(CompanionRows, VariancesAndMeans) {
  const double k = 31;
  for (const Family family : {Family::Normal, Family::MeanTen}) {
    const SampleCall var =
        sampleCall("aten::var_mean.correction f[5,31] [-1] correction=2", family);
    const Row x = values(argument(var, "self"));
    const double factor = 31.0 / 29;
    expectEach(
        magnitudeOf("variance", var, 0, k),
        [&](std::size_t i) { return factor * stable(rowOf(x, i, 31), k); }, "variance");
    expectEach(
        magnitudeOf("variance_naive", var, 0, k),
        [&](std::size_t i) { return factor * naive(rowOf(x, i, 31)); }, "naive");
    expectEach(
        magnitudeOf("operands_mean", var, 1, k),
        [&](std::size_t i) { return mean(rowOf(x, i, 31), absolute); }, "mean");
    const SampleCall std =
        sampleCall("aten::std.correction f[5,31] [1] correction=2 keepdim=true", family);
    const Row h = values(std.truth[0]);
    expectEach(
        magnitudeOf("deviation", std, 0, k),
        [&](std::size_t i) { return root(factor * stable(rowOf(x, i, 31), k), h[i], k); },
        "deviation");
    expectEach(
        magnitudeOf("deviation_naive", std, 0, k),
        [&](std::size_t i) { return root(factor * naive(rowOf(x, i, 31)), h[i], k); },
        "deviation_naive");
  }
}

TEST(CompanionRows, SeveralDimensionsAreOneRow) {
  const SampleCall var =
      sampleCall("aten::var.correction f[3,5,7] [0,-1] correction=0 keepdim=true");
  const Row moved = values(argument(var, "self").permute({1, 0, 2}));
  expectEach(
      magnitudeOf("variance", var, 0, 21),
      [&](std::size_t i) { return stable(rowOf(moved, i, 21), 21); }, "two dimensions");
  const SampleCall sum = sampleCall("aten::sum.dim_IntList f[3,5,7] [0,-1] true");
  const Row x = values(argument(sum, "self").permute({1, 0, 2}));
  expectEach(
      magnitudeOf("operands", sum, 0, 21),
      [&](std::size_t i) { return 21 * mean(rowOf(x, i, 21), absolute); }, "sum");
}

TEST(CompanionRows, Softmaxes) {
  const double k = 17;
  const SampleCall soft = sampleCall("aten::_softmax f[17,5] 0 false", Family::Wide);
  const Row x = values(argument(soft, "self").t());
  const Row p = values(soft.truth[0].t());
  expectEach(
      magnitudeOf("softmax", soft, 0, k).t(),
      [&](std::size_t i) {
        const Soft of(rowOf(x, i / 17, 17));
        return p[i] * (1 + of.spread + (of.top - x[i]) / std::sqrt(k));
      },
      "softmax");
  const SampleCall log = sampleCall("aten::log_softmax.int f[17,5] -2", Family::Wide);
  expectEach(
      magnitudeOf("log_softmax", log, 0, k).t(),
      [&](std::size_t i) {
        const Soft of(rowOf(x, i / 17, 17));
        return 1 + of.spread + (of.top - x[i] + std::log(of.sum)) / std::sqrt(k);
      },
      "log_softmax");
  expectEach(
      magnitudeOf("log_softmax_naive", log, 0, k).t(),
      [&](std::size_t i) {
        const Soft of(rowOf(x, i / 17, 17));
        return 1 + of.spread +
               (std::abs(x[i]) + std::abs(of.top + std::log(of.sum))) / std::sqrt(k);
      },
      "log_softmax_naive");
  const SampleCall lse = sampleCall("aten::logsumexp f[17,5] [0] true", Family::Wide);
  expectEach(
      magnitudeOf("logsumexp", lse, 0, k),
      [&](std::size_t i) {
        const Soft of(rowOf(x, i, 17));
        return 1 + of.spread + (std::abs(of.top) + std::log(of.sum)) / std::sqrt(k);
      },
      "logsumexp");
}

TEST(CompanionRows, LogcumsumexpAndShutPlaces) {
  const SampleCall call = sampleCall("aten::logcumsumexp f[3,9] 1", Family::Wide);
  const Row x = values(argument(call, "self"));
  const Row h = values(call.truth[0]);
  expectEach(
      magnitudeOf("logcumsumexp", call, 0, 9),
      [&](std::size_t i) {
        const std::size_t from = i / 9 * 9;
        const Row head(x.begin() + static_cast<std::ptrdiff_t>(from),
                       x.begin() + static_cast<std::ptrdiff_t>(i + 1));
        double top = 0;
        for (std::size_t j = from; j <= i; ++j) {
          top = std::max(top, std::abs(h[j]));
        }
        return 1 + top + Soft(head).spread;
      },
      "logcumsumexp");
  SampleCall shut = sampleCall("aten::_softmax f[2,5] 1 false");
  argument(shut, "self").select(1, 2).fill_(-HUGE_VAL);
  shut.truth = run(shut.op, shut.arguments);
  const Row s = values(magnitudeOf("softmax", shut, 0, 5));
  EXPECT_EQ(s[2], 0);
  EXPECT_GT(s[1], 0);
  EXPECT_LT(s[1], 10);
}

TEST(CompanionRows, SoftmaxBackwards) {
  const SampleCall call = sampleCall("aten::_softmax_backward_data n[5,7] u[5,7] 1 float64");
  const Row g = values(argument(call, "grad_output"));
  const Row y = values(argument(call, "output"));
  const auto dot = [&](std::size_t i, bool weighted) {
    double sum = 0;
    for (std::size_t j = i / 7 * 7; j < i / 7 * 7 + 7; ++j) {
      sum += std::abs(g[j]) * (weighted ? y[j] : 1);
    }
    return sum;
  };
  expectEach(
      magnitudeOf("softmax_backward", call, 0, 7),
      [&](std::size_t i) { return y[i] * (std::abs(g[i]) / std::sqrt(7.0) + dot(i, true)); },
      "softmax_backward");
  const SampleCall log = sampleCall("aten::_log_softmax_backward_data n[5,7] u[5,7] -1 float64");
  expectEach(
      magnitudeOf("log_softmax_backward", log, 0, 7),
      [&](std::size_t i) {
        return std::abs(g[i]) / std::sqrt(7.0) + std::exp(y[i]) * dot(i, false);
      },
      "log_softmax_backward");
}

TEST(CompanionRows, LayerNorm) {
  const SampleCall call = sampleCall("aten::native_layer_norm f[5,17] [17] n[17] n[17] 1e-5");
  const Row x = values(argument(call, "input"));
  const Row w = values(argument(call, "weight"));
  const Row b = values(argument(call, "bias"));
  const double k = 17;
  for (const bool unstable : {false, true}) {
    const auto share = [&](const Row& row) {
      return (unstable ? naive(row) : stable(row, k)) / (2 * (variance(row) + 1e-5));
    };
    expectEach(
        magnitudeOf(unstable ? "normalise_naive" : "normalise", call, 0, k),
        [&](std::size_t i) {
          const Row row = rowOf(x, i / 17, 17);
          const double r = 1 / std::sqrt(variance(row) + 1e-5);
          const double centred = std::abs(x[i] - mean(row, same)) * (1 + share(row));
          return (mean(row, absolute) + centred) * r * std::abs(w[i % 17]) +
                 std::abs(b[i % 17]) / std::sqrt(k);
        },
        "normalise");
    expectEach(
        magnitudeOf(unstable ? "rstd_naive" : "rstd", call, 2, k),
        [&](std::size_t i) {
          const Row row = rowOf(x, i, 17);
          return (share(row) + 1 / std::sqrt(k)) / std::sqrt(variance(row) + 1e-5);
        },
        "rstd");
  }
  expectEach(
      magnitudeOf("group_mean", call, 1, k),
      [&](std::size_t i) { return mean(rowOf(x, i, 17), absolute); }, "group_mean");
}

TEST(CompanionRows, GroupsAndChannelsAreRowsToo) {
  const SampleCall group = sampleCall("aten::native_group_norm f[2,6,5] n[6] none 2 6 5 3 1e-5");
  const SampleCall layer = sampleCall("aten::native_layer_norm f[6,10] [10] none none 1e-5");
  const Row w = values(argument(group, "weight"));
  const Row plain = values(magnitudeOf("normalise", layer, 0, 10));  // The same numbers.
  expectEach(
      magnitudeOf("normalise", group, 0, 10),
      [&](std::size_t i) { return plain[i] * std::abs(w[i / 5 % 6]); }, "group_norm");
  const SampleCall batch =
      sampleCall("aten::native_batch_norm f[2,3,5] none none none none true 0.1 1e-5");
  const Row x = values(argument(batch, "input").permute({1, 0, 2}));
  expectEach(
      magnitudeOf("group_mean", batch, 1, 10),
      [&](std::size_t i) { return mean(rowOf(x, i, 10), absolute); }, "batch_norm");
  const SampleCall given =
      sampleCall("aten::native_batch_norm f[2,3,5] n[3] n[3] n[3] p[3] false 0.1 1e-5");
  const Row input = values(argument(given, "input"));
  const Row m = values(argument(given, "running_mean"));
  const Row v = values(argument(given, "running_var"));
  const Row weight = values(argument(given, "weight"));
  const Row bias = values(argument(given, "bias"));
  expectEach(
      magnitudeOf("normalise", given, 0, 1),
      [&](std::size_t i) {
        const std::size_t c = i / 5 % 3;
        return (std::abs(input[i]) + std::abs(m[c])) / std::sqrt(v[c] + 1e-5) *
                   std::abs(weight[c]) +
               std::abs(bias[c]);
      },
      "statistics given");
}

TEST(CompanionRows, RunningStatistics) {
  const SampleCall call = sampleCall(
      "aten::_native_batch_norm_legit_functional f[2,3,5] none none n[3] p[3] true 0.3 1e-5");
  const Row x = values(argument(call, "input").permute({1, 0, 2}));
  const Row m = values(argument(call, "running_mean"));
  const Row v = values(argument(call, "running_var"));
  expectEach(
      magnitudeOf("running_mean", call, 3, 10),
      [&](std::size_t i) { return 0.7 * std::abs(m[i]) + 0.3 * mean(rowOf(x, i, 10), absolute); },
      "running_mean");
  for (const bool unstable : {false, true}) {
    expectEach(
        magnitudeOf(unstable ? "running_var_naive" : "running_var", call, 4, 10),
        [&](std::size_t i) {
          const Row row = rowOf(x, i, 10);
          return 0.7 * v[i] + 0.3 * 10 / 9 * (unstable ? naive(row) : stable(row, 10));
        },
        "running_var");
  }
}

TEST(CompanionRows, NormBackwards) {
  const SampleCall call = sampleCall(
      "aten::native_layer_norm_backward n[5,7] f[5,7] [7] n[5,1] p[5,1] n[7] n[7] "
      "[true,true,true]");
  const Row g = values(argument(call, "grad_out"));
  const Row x = values(argument(call, "input"));
  const Row m = values(argument(call, "mean"));
  const Row r = values(argument(call, "rstd"));
  const Row w = values(argument(call, "weight"));
  for (const bool unstable : {false, true}) {
    const auto y = [&](std::size_t i) {
      const double d = unstable ? std::abs(x[i]) + std::abs(m[i / 7]) : std::abs(x[i] - m[i / 7]);
      return d * r[i / 7];
    };
    const std::string end = unstable ? "_naive" : "";
    expectEach(
        magnitudeOf("norm_backward" + end, call, 0, 7),
        [&](std::size_t i) {
          double meanG = 0;
          double meanGy = 0;
          for (std::size_t j = i / 7 * 7; j < i / 7 * 7 + 7; ++j) {
            meanG += std::abs(g[j] * w[j % 7]) / 7;
            meanGy += std::abs(g[j] * w[j % 7]) * y(j) / 7;
          }
          return r[i / 7] * (std::abs(g[i] * w[i % 7]) / std::sqrt(7.0) + meanG + y(i) * meanGy);
        },
        "norm_backward");
    expectEach(
        magnitudeOf("norm_backward_weight" + end, call, 1, 5),
        [&](std::size_t c) {
          double sum = 0;
          for (std::size_t row = 0; row < 5; ++row) {
            sum += std::abs(g[row * 7 + c]) * y(row * 7 + c);
          }
          return sum;
        },
        "norm_backward_weight");
  }
}

TEST(CompanionRows, RmsAndReducedBackwards) {
  const SampleCall rms = sampleCall(
      "aten::_fused_rms_norm_backward n[5,7] f[5,7] [7] p[5,1] none [true,true] => n[5,7] n[7]");
  const Row g = values(argument(rms, "grad_out"));
  const Row x = values(argument(rms, "input"));
  const Row r = values(argument(rms, "rstd"));
  expectEach(
      magnitudeOf("rms_norm_backward", rms, 0, 7),
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t j = i / 7 * 7; j < i / 7 * 7 + 7; ++j) {
          sum += std::abs(g[j] * x[j]) * r[i / 7] / 7;
        }
        return r[i / 7] * (std::abs(g[i]) / std::sqrt(7.0) + std::abs(x[i]) * r[i / 7] * sum);
      },
      "rms_norm_backward");
  expectEach(
      magnitudeOf("rms_norm_backward_weight", rms, 1, 5),
      [&](std::size_t c) {
        double sum = 0;
        for (std::size_t row = 0; row < 5; ++row) {
          sum += std::abs(g[row * 7 + c] * x[row * 7 + c]) * r[row];
        }
        return sum;
      },
      "rms_norm_backward_weight");
  const SampleCall reduce = sampleCall(
      "aten::batch_norm_backward_reduce n[5,7] f[5,7] n[7] p[7] none true true true => n[7] n[7] "
      "n[7] n[7]");
  const Row m = values(argument(reduce, "mean"));
  for (const bool unstable : {false, true}) {
    expectEach(
        magnitudeOf(unstable ? "centred_sum_naive" : "centred_sum", reduce, 1, 5),
        [&](std::size_t c) {
          double sum = 0;
          for (std::size_t i = c; i < 35; i += 7) {
            sum += std::abs(g[i]) *
                   (unstable ? std::abs(x[i]) + std::abs(m[c]) : std::abs(x[i] - m[c]));
          }
          return sum;
        },
        "centred_sum");
  }
}

TEST(CompanionRows, CumprodBackward) {
  const SampleCall call = sampleCall("aten::cumprod_backward n[3,7] p[3,7] 1 p[3,7]");
  const Row g = values(argument(call, "grad"));
  const Row x = values(argument(call, "input"));
  const Row y = values(argument(call, "output"));
  expectEach(
      magnitudeOf("cumprod_backward", call, 0, 7),
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t j = i; j < i / 7 * 7 + 7; ++j) {
          sum += std::abs(g[j] * y[j]);
        }
        return sum / x[i];
      },
      "cumprod_backward");
}

}  // namespace
}  // namespace neuroncheck::companion::testing

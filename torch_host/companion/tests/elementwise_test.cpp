// SPDX-License-Identifier: Apache-2.0
// Formulas of one element, written again with <cmath>.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "torch_host/companion/tests/sample_calls.h"

namespace neuroncheck::companion::testing {
namespace {

/// Tensor arguments of one element, in schema order, and H.
using Element = std::function<double(const std::vector<double>& a, double h)>;

struct Case {
  std::string call;
  std::string word;
  Element formula;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double digammaOf(double x) {
  double sum = 0;
  for (; x < 30; x += 1) {
    sum -= 1 / x;
  }
  const double r = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r / 252));
}

/// |x| d(f)/dx by central difference.
double slope(const std::function<double(double)>& f, double x) {
  const double h = 1e-5 * std::max(1.0, std::abs(x));
  return (f(x + h) - f(x - h)) / (2 * h);
}

double lgammaS(double x) {
  const double reflected =
      std::abs(std::log(std::abs(std::sin(M_PI * x)))) + std::abs(std::lgamma(1 - x));
  return 1 + std::abs(std::lgamma(x)) + (x < 0.5 ? reflected : 0);
}

std::vector<Case> cases() {
  using V = const std::vector<double>&;
  const auto abs = [](double x) { return std::abs(x); };
  const auto logaddexp = [](double x, double y) { return std::log(std::exp(x) + std::exp(y)); };
  return {
      {"aten::sigmoid f[5,7]", "value", [=](V, double h) { return abs(h); }},
      {"aten::sigmoid f[5,7]", "one", [](V, double) { return 1.0; }},
      {"aten::sigmoid f[5,7]", "none", [](V, double) { return 0.0; }},
      {"aten::logit u[5,7]", "one_plus_value", [=](V, double h) { return 1 + abs(h); }},
      {"aten::addcmul f[3,5] f[5] f[3,1] value=-0.3", "operands",
       [=](V a, double) { return abs(a[0]) + 0.3 * abs(a[1] * a[2]); }},
      {"aten::silu f[5,7]", "operands",
       [=](V a, double) { return abs(a[0]) * sigmoid(abs(a[0])); }},
      {"aten::add.Tensor f[3,5] f[5] alpha=0.7", "alpha_product",
       [=](V a, double) { return 0.7 * abs(a[1]); }},
      {"aten::add.Tensor f[3,5] f[5] alpha=-1", "alpha_product", [](V, double) { return 0.0; }},
      {"aten::add_.Tensor f[3,5] f[5] alpha=2", "alpha_product",
       [=](V a, double) { return 2 * abs(a[1]); }},
      {"aten::rsub.Tensor f[3,5] f[5] 0.7", "alpha_product",
       [=](V a, double) { return 0.7 * abs(a[0]); }},
      {"aten::logaddexp f[3,5] f[3,1]", "conditioned",
       [=](V a, double h) {
         return abs(h) + abs(a[0] * slope([&](double x) { return logaddexp(x, a[1]); }, a[0])) +
                abs(a[1] * slope([&](double y) { return logaddexp(a[0], y); }, a[1]));
       }},
      {"aten::softplus f[5,7] 0.7", "conditioned",
       [=](V a, double h) { return abs(h) + abs(a[0]) * sigmoid(0.7 * a[0]); }},
      {"aten::lgamma f[5,7]", "lgamma", [](V a, double) { return lgammaS(a[0]); }},
      {"x := p[5,7]\naten::mvlgamma x 1", "mvlgamma",
       [](V a, double) { return 1 + lgammaS(a[0]); }},
      {"aten::digamma f[5,7]", "digamma",
       [=](V a, double h) {
         const double reflected = a[0] < 0 ? M_PI / abs(std::tan(M_PI * a[0])) : 0;
         return 1 + abs(h) + reflected + (a[0] < 0 ? abs(digammaOf(1 - a[0])) : 0);
       }},
      {"aten::round.decimals f[5,7] decimals=2", "scaled_decimals",
       [=](V a, double) { return 100 * abs(a[0]); }},
      {"aten::floor_divide f[5,7] p[5,1]", "quotient",
       [=](V a, double) { return abs(a[0]) / a[1]; }},
      {"aten::div.out_mode f[5,7] p[7] rounding_mode=\"floor\" out=f[5,7]", "quotient",
       [=](V a, double) { return abs(a[0]) / a[1]; }},
      {"aten::fake_quantize_per_tensor_affine f[5,7] 0.1 3 0 255", "quant_steps",
       [=](V a, double) { return abs(a[0]) / 0.1 + 3; }},
  };
}

std::vector<Case> activations() {
  using V = const std::vector<double>&;
  const auto abs = [](double x) { return std::abs(x); };
  return {
      {"aten::gelu f[5,7]", "gelu",
       [=](V a, double) { return abs(a[0]) / 2 * (1 + abs(std::erf(a[0] / std::sqrt(2.0)))); }},
      {"aten::gelu f[5,7] approximate=\"tanh\"", "gelu",
       [=](V a, double) {
         const double inner = std::sqrt(2 / M_PI) * (a[0] + 0.044715 * a[0] * a[0] * a[0]);
         return abs(a[0]) / 2 * (1 + abs(std::tanh(inner)));
       }},
      {"aten::gelu_backward n[5,7] f[5,7]", "gelu_backward",
       [=](V a, double) {
         const double x = a[1];
         const double phi = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
         return abs(a[0]) *
                ((1 + abs(std::erf(x / std::sqrt(2.0)))) / 2 + abs(x) * phi * (1 + x * x / 2));
       }},
      {"aten::elu f[5,7] 1.5 1.1 0.5", "elu_naive",
       [=](V a, double h) { return a[0] <= 0 ? 1.65 * (std::exp(0.5 * a[0]) + 1) : abs(h); }},
      {"aten::celu f[5,7] 1.3", "elu_naive",
       [=](V a, double h) { return a[0] <= 0 ? 1.3 * (std::exp(a[0] / 1.3) + 1) : abs(h); }},
      {"aten::elu_backward n[5,7] 1.5 1.1 0.5 false f[5,7]", "elu_backward",
       [=](V a, double h) { return a[1] <= 0 ? abs(h) * (1 + abs(0.5 * a[1])) : abs(h); }},
      {"aten::elu_backward n[5,7] 1.5 1.1 0.5 true f[5,7]", "elu_backward",
       [=](V a, double h) { return a[1] <= 0 ? abs(0.5 * a[0]) * (abs(a[1]) + 1.65) : abs(h); }},
      {"aten::lerp.Tensor f[7,9] f[9] u[7,1]", "lerp",
       [=](V a, double) { return abs(a[0]) + a[2] * (abs(a[1]) + abs(a[0])); }},
      {"aten::tanh_backward n[5,7] u[5,7]", "tanh_backward",
       [=](V a, double) { return abs(a[0]) * (1 + a[1] * a[1]); }},
      {"aten::hardswish_backward n[5,7] f[5,7]", "hardswish_backward",
       [=](V a, double h) { return abs(a[1]) < 3 ? abs(a[0]) * (abs(a[1]) / 3 + 0.5) : abs(h); }},
      {"aten::silu_backward n[5,7] f[5,7]", "silu_backward",
       [=](V a, double) { return abs(a[0]) * sigmoid(a[1]) * (1 + abs(a[1])); }},
      {"aten::mish_backward n[5,7] f[5,7]", "mish_backward",
       [=](V a, double) {
         const double t = std::tanh(std::log1p(std::exp(a[1])));
         return abs(a[0]) * (t + abs(a[1]) * sigmoid(a[1]) * (1 + t * t));
       }},
  };
}

TEST(CompanionElements, AsWrittenAgain) {
  std::vector<Case> all = cases();
  std::ranges::copy(activations(), std::back_inserter(all));
  for (const Case& each : all) {
    const SampleCall call = sampleCall(each.call, Family::Wide);
    const auto sizes = call.truth[0].sizes();
    const auto h = values(call.truth[0]);
    const auto s = values(magnitudeOf(each.word, call, 0, 1));
    std::vector<std::vector<double>> operands;
    for (const c10::IValue& value : call.arguments) {
      if (value.isTensor()) {
        operands.push_back(values(value.toTensor(), sizes));
      }
    }
    ASSERT_EQ(s.size(), h.size()) << each.call;
    for (std::size_t i = 0; i < s.size(); ++i) {
      std::vector<double> a;
      for (const auto& operand : operands) {
        a.push_back(operand[i]);
      }
      const double expected = each.formula(a, h[i]);
      ASSERT_NEAR(s[i], expected, 1e-7 * std::max(1.0, expected)) << each.call << " at " << i;
    }
  }
}

TEST(CompanionElements, AffineLogspaceBinsAndWhole) {
  const SampleCall range = sampleCall("aten::arange.start_step 1.5 9 0.37");
  const auto s = values(magnitudeOf("affine", range, 0, 1));
  for (std::size_t i = 0; i < s.size(); ++i) {
    EXPECT_NEAR(s[i], 1.5 + 0.37 * static_cast<double>(i), 1e-12);
  }
  EXPECT_NEAR(values(magnitudeOf("affine", sampleCall("aten::linspace -3.5 7 23"), 0, 1))[4], 10.5,
              1e-12);
  const SampleCall powers = sampleCall("aten::logspace -1.5 2.5 11 2.0");
  EXPECT_NEAR(values(magnitudeOf("logspace", powers, 0, 1))[10],
              std::pow(2, 2.5) * (1 + std::log(2) * 4), 1e-9);
  EXPECT_EQ(values(magnitudeOf("bins", sampleCall("aten::histc f[50] 7"), 0, 1))[3], 7);
  const SampleCall any = sampleCall("aten::sin f[3,5]");
  double sum = 0;
  for (const double h : values(any.truth[0])) {
    sum += h * h;
  }
  EXPECT_NEAR(values(magnitudeOf("whole", any, 0, 1))[7], std::sqrt(sum / 15), 1e-12);
}

TEST(CompanionElements, DifferencesCrossAndGlu) {
  const SampleCall diff = sampleCall("aten::diff f[9] 3");
  const auto x = values(argument(diff, "self"));
  const auto s = values(magnitudeOf("differences", diff, 0, 1));
  ASSERT_EQ(s.size(), 6U);
  EXPECT_NEAR(s[2], std::abs(x[2]) + 3 * std::abs(x[3]) + 3 * std::abs(x[4]) + std::abs(x[5]),
              1e-12);
  const SampleCall cross = sampleCall("aten::linalg_cross f[4,3] f[4,3]");
  const auto a = values(argument(cross, "self"));
  const auto b = values(argument(cross, "other"));
  const auto c = values(magnitudeOf("cross", cross, 0, 1));
  EXPECT_NEAR(c[4], std::abs(a[5] * b[3]) + std::abs(a[3] * b[5]), 1e-12);
  const SampleCall glu = sampleCall("aten::glu_backward n[3,5] f[3,10] -1");
  const auto g = values(argument(glu, "grad_output"));
  const auto y = values(argument(glu, "self"));
  const auto t = values(magnitudeOf("glu_backward", glu, 0, 1));
  EXPECT_NEAR(t[12], std::abs(g[7]) * sigmoid(y[17]), 1e-12);
  EXPECT_NEAR(t[17], std::abs(g[7] * y[12]) * sigmoid(y[17]), 1e-12);
}

TEST(CompanionErrors, NameWhatIsNotComputed) {
  const SampleCall call = sampleCall("aten::sin f[3]");
  const auto ask = [&](std::string_view word) {
    return magnitude(word, {call.op, call.arguments, call.truth}).error().text();
  };
  EXPECT_EQ(ask("sideways"), "no magnitude is called 'sideways'");
  EXPECT_EQ(ask("softmax"), "no formula of 'softmax' for aten::sin");
  const SampleCall drop =
      sampleCall("aten::scaled_dot_product_attention f[2,3,4] f[2,5,4] f[2,5,4] none 0.5");
  const auto s = magnitude("attention", {drop.op, drop.arguments, drop.truth});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().text().find("dropout is on"), std::string::npos);
}

}  // namespace
}  // namespace neuroncheck::companion::testing

// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/elementwise.h"

#include <numbers>

namespace neuroncheck::numerics::testing {
namespace {

using std::numbers::sqrt2;

double gelu(double x, double /*y*/) { return 0.5 * x * (1 + std::erf(x / sqrt2)); }
double silu(double x, double /*y*/) { return x / (1 + std::exp(-x)); }
double sigmoid(double x, double /*y*/) { return 1 / (1 + std::exp(-x)); }

double geluOn(const Machine& m, double x, double /*y*/) {
  return m(m(0.5 * x) * m(1 + m(std::erf(m(x * m(1 / sqrt2))))));
}
double geluMagnitude(double x, double /*y*/) {
  return 0.5 * std::abs(x) * (1 + std::abs(std::erf(x / sqrt2)));
}
double sigmoidOn(const Machine& m, double x, double /*y*/) { return m(1 / m(1 + m.exp(-x))); }
double siluOn(const Machine& m, double x, double y) { return m(x * sigmoidOn(m, x, y)); }

template <double (*F)(double)>
double unary(double x, double /*y*/) {
  return F(x);
}
template <double (*F)(double)>
double unaryOn(const Machine& m, double x, double /*y*/) {
  return m(F(x));
}

double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double tangent(double x) { return std::tanh(x); }
double errorFunction(double x) { return std::erf(x); }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
double root(double x) { return std::sqrt(x); }
double negated(double x) { return -x; }
double rectified(double x) { return x > 0 ? x : 0; }

constexpr std::array kOps = {
    Elementwise{"add", true, false, -4, 4, [](double x, double y) { return x + y; },
                [](const Machine& m, double x, double y) { return m(x + y); }, nullptr},
    Elementwise{"mul", true, false, -4, 4, [](double x, double y) { return x * y; },
                [](const Machine& m, double x, double y) { return m(x * y); }, nullptr},
    Elementwise{"div", true, false, 0.25, 4, [](double x, double y) { return x / y; },
                [](const Machine& m, double x, double y) { return m(x / y); }, nullptr},
    Elementwise{"pow", true, true, 0.25, 4, [](double x, double y) { return std::pow(x, y); },
                [](const Machine& m, double x, double y) { return m(std::pow(x, y)); }, nullptr},
    Elementwise{"sqrt", false, false, 0.01, 9, unary<root>, unaryOn<root>, nullptr},
    Elementwise{"neg", false, false, -4, 4, unary<negated>, unaryOn<negated>, nullptr},
    Elementwise{"relu", false, false, -4, 4, unary<rectified>, unaryOn<rectified>, nullptr},
    Elementwise{"exp", false, true, -9, 9, unary<exponential>, unaryOn<exponential>, nullptr},
    Elementwise{"log", false, true, 0.01, 9, unary<logarithm>, unaryOn<logarithm>, nullptr},
    Elementwise{"tanh", false, true, -5, 5, unary<tangent>, unaryOn<tangent>, nullptr},
    Elementwise{"erf", false, true, -4, 4, unary<errorFunction>, unaryOn<errorFunction>, nullptr},
    Elementwise{"rsqrt", false, true, 0.01, 9, unary<reciprocalRoot>, unaryOn<reciprocalRoot>,
                nullptr},
    Elementwise{"gelu", false, false, -5, 5, gelu, geluOn, geluMagnitude},
    Elementwise{"silu", false, false, -6, 6, silu, siluOn, nullptr},
    Elementwise{"sigmoid", false, false, -9, 9, sigmoid, sigmoidOn, nullptr},
};

}  // namespace

std::span<const Elementwise> elementwiseOps() { return kOps; }

Values apply(const std::function<double(double, double)>& f, const Values& x, const Values& y) {
  Values out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = f(x[i], y.empty() ? 0 : y[i]);
  }
  return out;
}

}  // namespace neuroncheck::numerics::testing

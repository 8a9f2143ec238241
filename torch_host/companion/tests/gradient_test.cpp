// SPDX-License-Identifier: Apache-2.0
// Magnitudes of gradients: by loops where there is a formula, and by what must hold for any call.
#include <gtest/gtest.h>

#include <cmath>

#include "torch_host/companion/gradient_call.h"
#include "torch_host/companion/tests/sample_calls.h"

namespace neuroncheck::companion::testing {
namespace {

using Row = std::vector<double>;

std::vector<at::Tensor> cotangentsOf(const SampleCall& call) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& each : call.truth) {
    const bool first = out.empty() && each.defined() && each.is_floating_point();
    out.push_back(first ? each.mul(0).add(1).cumsum(0).mul(0.7).cos() : at::Tensor());
  }
  return out;
}

at::Tensor gradientOf(const SampleCall& call, std::size_t operand, double k,
                      std::size_t element = 0) {
  auto s = gradientMagnitude({call.op, call.arguments, call.truth, 0, k, 0x1p-24},
                             cotangentsOf(call), operand, element);
  if (!s) {
    ADD_FAILURE() << call.text << ": " << s.error().text();
    return call.truth[0];
  }
  return *std::move(s);
}

void expectSame(const at::Tensor& s, const Row& expected, const std::string& what) {
  const Row got = values(s);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 1e-9 * std::max(1.0, expected[i])) << what << " at " << i;
  }
}

Row scalarCase(const SampleCall& call, double (*formula)(double g, double x)) {
  const Row g = values(cotangentsOf(call)[0]);
  const Row x = values(call.arguments[0].toTensor());
  Row out;
  for (std::size_t i = 0; i < g.size(); ++i) {
    out.push_back(formula(g[i], x[i]));
  }
  return out;
}

TEST(CompanionGradients, ContractionsByLoops) {
  const SampleCall call = sampleCall("aten::addmm f[3] f[2,5] f[5,3] alpha=-2");
  const Row g = values(cotangentsOf(call)[0]);
  const Row b = values(argument(call, "mat2"));
  Row first(10, 0);
  for (std::size_t at = 0; at < 10; ++at) {
    for (std::size_t j = 0; j < 3; ++j) {
      first[at] += 2 * std::abs(g[at / 5 * 3 + j] * b[at % 5 * 3 + j]);
    }
  }
  expectSame(gradientOf(call, 1, 3), first, "mat1");
  Row bias(3, 0);
  for (std::size_t at = 0; at < 6; ++at) {
    bias[at % 3] += std::abs(g[at]);
  }
  expectSame(gradientOf(call, 0, 2), bias, "bias");
  const SampleCall product = sampleCall("aten::einsum \"ij,jk->ik\" [f[2,5],f[5,3]]");
  const Row e = values(cotangentsOf(product)[0]);
  const Row a = values(product.arguments[1].toTensorVector()[0]);
  Row second(15, 0);
  for (std::size_t at = 0; at < 15; ++at) {
    for (std::size_t i = 0; i < 2; ++i) {
      second[at] += std::abs(a[i * 5 + at / 3] * e[i * 3 + at % 3]);
    }
  }
  expectSame(gradientOf(product, 1, 2, 1), second, "element of a list");
}

TEST(CompanionGradients, ElementwiseBySecondDerivatives) {
  const SampleCall tanh = sampleCall("aten::tanh f[5,7]");
  expectSame(
      gradientOf(tanh, 0, 1),
      scalarCase(
          tanh, [](double g, double x) { return std::abs(g) * (1 + std::tanh(x) * std::tanh(x)); }),
      "tanh");
  const SampleCall sine = sampleCall("aten::sin f[5,7]");
  expectSame(gradientOf(sine, 0, 1),
             scalarCase(sine,
                        [](double g, double x) {
                          return std::abs(g * std::cos(x)) + std::abs(x * g * std::sin(x));
                        }),
             "sin");
  const SampleCall relu = sampleCall("aten::relu f[5,7]");
  expectSame(gradientOf(relu, 0, 1),
             scalarCase(relu, [](double g, double x) { return x > 0 ? std::abs(g) : 0; }), "relu");
  const SampleCall div = sampleCall("aten::div.Tensor f[2,3] p[3]");
  const Row g = values(cotangentsOf(div)[0]);
  const Row a = values(argument(div, "self"));
  const Row b = values(argument(div, "other"));
  Row expected(3, 0);
  for (std::size_t at = 0; at < 6; ++at) {
    const double first = std::abs(g[at] * a[at]) / (b[at % 3] * b[at % 3]);
    expected[at % 3] += 4 * first;  // Itself, once more by a, twice by b.
  }
  expectSame(gradientOf(div, 1, 2), expected, "div");
}

TEST(CompanionGradients, WordsOfBackwardOperators) {
  const SampleCall silu = sampleCall("aten::silu f[5,7]");
  expectSame(gradientOf(silu, 0, 1),
             scalarCase(silu,
                        [](double g, double x) {
                          return std::abs(g) / (1 + std::exp(-x)) * (1 + std::abs(x));
                        }),
             "silu");
  const SampleCall soft = sampleCall("aten::softmax.int f[1,7] -1");
  const Row g = values(cotangentsOf(soft)[0]);
  const Row y = values(soft.truth[0]);
  double dot = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    dot += std::abs(g[i]) * y[i];
  }
  Row expected;
  for (std::size_t i = 0; i < 7; ++i) {
    expected.push_back(y[i] * (std::abs(g[i]) / std::sqrt(7.0) + dot));
  }
  expectSame(gradientOf(soft, 0, 7), expected, "softmax");
}

TEST(CompanionGradients, ErrorsNameTheOperator) {
  const SampleCall call = sampleCall("aten::linalg_vector_norm f[3,5]");
  const auto s = gradientMagnitude({call.op, call.arguments, call.truth}, cotangentsOf(call), 0);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().text(), "no magnitude for the gradient of aten::linalg_vector_norm");
  const SampleCall index = sampleCall("aten::embedding f[5,3] i[4]<5");
  EXPECT_FALSE(gradientMagnitude({index.op, index.arguments, index.truth}, cotangentsOf(index), 1));
  EXPECT_FALSE(gradientMagnitude({index.op, index.arguments, index.truth}, cotangentsOf(index), 9));
}

const std::vector<std::string> kForward{
    "aten::layer_norm f[5,17] [17] n[17] n[17]",
    "aten::native_layer_norm f[5,17] [17] none n[17] 1e-5",
    "aten::group_norm f[2,6,5] 3 n[6] n[6]",
    "aten::native_batch_norm f[9,3,5] n[3] n[3] none none true 0.1 1e-5",
    "aten::native_batch_norm f[9,3,5] n[3] n[3] n[3] p[3] false 0.1 1e-5",
    "aten::rms_norm f[5,17] [17] n[17] 1e-6",
    "aten::_log_softmax f[5,17] 1 false",
    "aten::gelu f[5,7] approximate=\"tanh\"",
    "aten::embedding f[5,3] i{1,1,2,4}",
    "aten::cross_entropy_loss f[4,7,3] i[4,3]<7 p[7]",
    "aten::nll_loss f[9,5] i[9]<5 p[5]",
    "aten::scaled_dot_product_attention f[1,2,5,8] f[1,2,7,8] f[1,2,7,8] n[5,7]",
    "aten::scaled_dot_product_attention f[1,4,5,8] f[1,2,5,8] f[1,2,5,8] none 0 true "
    "enable_gqa=true",
    "aten::upsample_bilinear2d f[1,2,5,7] [9,4] false",
    "aten::upsample_bicubic2d.vec f[1,2,5,7] none false [1.7,2.3]",
    "aten::upsample_nearest2d f[1,1,2,3] [5,4]",
    "aten::grid_sampler_2d f[2,3,5,7] u[2,4,3,2] 0 0 false",
    "aten::conv2d f[2,3,7,7] f[4,3,3,3] f[4]",
    "aten::mean.dim f[3,5,7] [1] true",
    "aten::where.self b[3,5] f[5] f[3,1]",
    "aten::index.Tensor f[5,3] [i{1,1,4}]",
    "aten::permute f[3,5] [1,0]",
    "aten::max_pool2d_with_indices f[1,2,5,5] [2]",
    "aten::sigmoid f[5,7]",
    "aten::pow.Tensor_Tensor p[3,5] f[5]",
    "aten::add_.Tensor f[3,5] f[5] alpha=2",
};

/// fp32 kernels of the gradient, by autograd, against 2 u |G| + (16 + 4 sqrt k) u S.
TEST(CompanionGradients, OfFp32StayWithinABound) {
  for (const Family family : {Family::Normal, Family::Positive, Family::Wide, Family::MeanTen}) {
    for (const std::string& text : kForward) {
      const SampleCall call = sampleCall(text, family);
      const double k = 64;
      for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        if (!call.arguments[i].isTensor() || !call.arguments[i].toTensor().defined() ||
            !call.arguments[i].toTensor().is_floating_point() ||
            call.op.schema().arguments()[i].name().starts_with("running")) {
          continue;
        }
        const std::string name = call.op.schema().arguments()[i].name();
        if (name == "weight" && text.find("loss") != std::string::npos) {
          continue;  // Torch has no gradient of it.
        }
        const at::Tensor s = gradientOf(call, i, k);
        EXPECT_EQ(s.sizes(), call.arguments[i].toTensor().sizes()) << text << " " << name;
        EXPECT_FALSE(s.isnan().any().item().toBool()) << text << " " << name;
        const auto cotangents = cotangentsOf(call);
        const Call wide{call.op, call.arguments, call.truth};
        if (call.op.schema().name().ends_with("_")) {
          continue;  // Autograd refuses leaves that are written to.
        }
        const at::Tensor g = gradientSeen({Evaluation(wide), cotangents, name, 0}, Seen::AsTheyAre);
        const auto stack = narrowed(call.arguments);
        std::vector<at::Tensor> narrow;
        for (const at::Tensor& each : cotangents) {
          narrow.push_back(each.defined() ? each.to(at::kFloat) : each);
        }
        const Call single{call.op, stack, call.truth};
        const at::Tensor got = gradientSeen({Evaluation(single), narrow, name, 0}, Seen::AsTheyAre);
        const at::Tensor bound = g.abs().mul(3).add(s.mul(16 + 4 * std::sqrt(k))).mul(0x1p-24);
        const at::Tensor beyond = got.to(at::kDouble).sub(g).abs().gt(bound.add(0x1p-149));
        EXPECT_FALSE(beyond.any().item().toBool()) << text << " " << name;
      }
    }
  }
}

}  // namespace
}  // namespace neuroncheck::companion::testing

// SPDX-License-Identifier: Apache-2.0
// Attention, losses, distances, contractions, scatters and resampling, written again as loops.
#include <gtest/gtest.h>

#include <cmath>

#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/tests/sample_calls.h"

namespace neuroncheck::companion::testing {
namespace {

using Row = std::vector<double>;
constexpr double kTiny = 0x1p-102;

void expectSame(const at::Tensor& s, const Row& expected, const std::string& what,
                double tolerance = 1e-9) {
  const Row got = values(s);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, expected[i])) << what << " at " << i;
  }
}

/// One head of attention with loops: L queries, M keys, E values of each.
struct Head {
  std::size_t queries, keys, width;
  Row q, k, v, mask;
  std::vector<bool> open;
  double scale, root;
  Row s, p, d;

  void compute() {
    s = p = d = Row(queries * keys, 0);
    for (std::size_t i = 0; i < queries; ++i) {
      double top = -HUGE_VAL;
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        const std::size_t at = i * keys + j;
        for (std::size_t e = 0; e < width; ++e) {
          s[at] += scale * q[i * width + e] * k[j * width + e];
          d[at] += scale * std::abs(q[i * width + e] * k[j * width + e]);
        }
        s[at] += mask[at];
        d[at] += std::abs(mask[at]);
        top = open[at] ? std::max(top, s[at]) : top;
      }
      for (std::size_t j = 0; j < keys; ++j) {
        const std::size_t at = i * keys + j;
        p[at] = open[at] ? std::exp(s[at] - top) : 0;
        sum += p[at];
        d[at] = open[at] ? d[at] + (top - s[at]) / root : 0;
        s[at] = open[at] ? std::abs(s[at]) : 0;
      }
      for (std::size_t j = 0; j < keys; ++j) {
        p[i * keys + j] /= sum;
      }
    }
  }
  [[nodiscard]] double expected(std::size_t i, const Row& x) const {
    double sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      sum += p[i * keys + j] * x[i * keys + j];
    }
    return sum;
  }
  [[nodiscard]] double amplified(std::size_t i, std::size_t j, const Row& x, double tiny) const {
    const std::size_t at = i * keys + j;
    return open[at] ? (p[at] + tiny) * (1 + x[at] + expected(i, x)) : 0;
  }
  [[nodiscard]] Row product(const Row& x, double tiny) const {
    Row out;
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t e = 0; e < width; ++e) {
        double sum = 0;
        for (std::size_t j = 0; j < keys; ++j) {
          sum += amplified(i, j, x, tiny) * std::abs(v[j * width + e]);
        }
        out.push_back(sum);
      }
    }
    return out;
  }
};

Head headOf(const SampleCall& call, double scale, double k, bool causal, const Row& mask) {
  const at::Tensor q = argument(call, "query");
  const at::Tensor key = argument(call, "key");
  Head out{static_cast<std::size_t>(q.size(-2)),
           static_cast<std::size_t>(key.size(-2)),
           static_cast<std::size_t>(q.size(-1)),
           values(q),
           values(key),
           values(argument(call, "value")),
           {},
           {},
           scale,
           std::sqrt(k),
           {},
           {},
           {}};
  for (std::size_t at = 0; at < out.queries * out.keys; ++at) {
    out.open.push_back(!causal || at % out.keys <= at / out.keys);
    out.mask.push_back(mask.empty() ? 0 : mask[at]);
  }
  out.compute();
  return out;
}

TEST(CompanionAttention, OfOneHead) {
  const SampleCall plain = sampleCall(
      "aten::scaled_dot_product_attention f[1,1,5,4] f[1,1,7,4] f[1,1,7,4]", Family::Wide);
  const Head a = headOf(plain, 0.5, 7, false, {});
  expectSame(magnitudeOf("attention", plain, 0, 7), a.product(a.d, kTiny), "attention");
  expectSame(magnitudeOf("attention_stored", plain, 0, 7), a.product(a.s, 0), "stored");
  const SampleCall causal =
      sampleCall("aten::scaled_dot_product_attention f[1,1,5,4] f[1,1,5,4] f[1,1,5,4] none 0 true");
  const Head c = headOf(causal, 0.5, 5, true, {});
  expectSame(magnitudeOf("attention", causal, 0, 5), c.product(c.d, kTiny), "causal");
  const SampleCall masked = sampleCall(
      "aten::_scaled_dot_product_attention_math f[1,1,5,4] f[1,1,7,4] f[1,1,7,4] n[5,7] "
      "scale=0.25");
  const Head m = headOf(masked, 0.25, 7, false, values(argument(masked, "attn_mask")));
  expectSame(magnitudeOf("attention", masked, 0, 7), m.product(m.d, kTiny), "mask");
  Row weights;
  Row stored;
  for (std::size_t at = 0; at < 35; ++at) {
    weights.push_back(m.amplified(at / 7, at % 7, m.d, 0));
    stored.push_back(m.p[at] * (m.s[at] + m.expected(at / 7, m.s)));
  }
  expectSame(magnitudeOf("attention_weights", masked, 1, 7), weights, "weights");
  expectSame(magnitudeOf("attention_weights_stored", masked, 1, 7), stored, "weights stored");
  const SampleCall flash = sampleCall(
      "aten::_scaled_dot_product_flash_attention_for_cpu f[1,1,5,4] f[1,1,7,4] f[1,1,7,4]");
  const Head f = headOf(flash, 0.5, 7, false, {});
  const Row h = values(flash.truth[1]);
  Row lse;
  for (std::size_t i = 0; i < 5; ++i) {
    lse.push_back(1 + f.expected(i, f.d) + std::abs(h[i]) / std::sqrt(7.0));
  }
  expectSame(magnitudeOf("attention_lse", flash, 1, 7), lse, "lse");
}

TEST(CompanionAttention, Backward) {
  const SampleCall call = sampleCall(
      "aten::_scaled_dot_product_fused_attention_overrideable_backward n[1,1,5,4] f[1,1,5,4] "
      "f[1,1,7,4] f[1,1,7,4] none [true,true,true,true] none none none none 5 7 0.0 false none "
      "none "
      "=> n[1,1,5,4] n[1,1,7,4] n[1,1,7,4] n[1,1,5,7]");
  const Head a = headOf(call, 0.5, 7, false, {});
  const Row g = values(argument(call, "grad_out"));
  for (const bool stored : {false, true}) {
    Row query(20, 0), key(28, 0), value(28, 0), bias(35, 0);
    for (std::size_t i = 0; i < 5; ++i) {
      Row d(7, 0);
      Row size(7, 0);
      for (std::size_t j = 0; j < 7; ++j) {
        for (std::size_t e = 0; e < 4; ++e) {
          d[j] += g[i * 4 + e] * a.v[j * 4 + e];
          size[j] += std::abs(g[i * 4 + e] * a.v[j * 4 + e]);
        }
      }
      double meanD = 0;
      double meanSize = 0;
      for (std::size_t j = 0; j < 7; ++j) {
        meanD += a.p[i * 7 + j] * d[j];
        meanSize += a.p[i * 7 + j] * size[j];
      }
      for (std::size_t j = 0; j < 7; ++j) {
        const double p = stored ? a.amplified(i, j, a.s, 0) : a.amplified(i, j, a.d, kTiny);
        const double G = p * (stored ? std::abs(d[j]) + std::abs(meanD) : size[j] + meanSize);
        bias[i * 7 + j] = G;
        for (std::size_t e = 0; e < 4; ++e) {
          query[i * 4 + e] += 0.5 * G * std::abs(a.k[j * 4 + e]);
          key[j * 4 + e] += 0.5 * G * std::abs(a.q[i * 4 + e]);
          value[j * 4 + e] += p * std::abs(g[i * 4 + e]);
        }
      }
    }
    const std::string word = stored ? "attention_backward_stored" : "attention_backward";
    const std::vector<Row> expected{query, key, value, bias};
    for (std::size_t i = 0; i < 4; ++i) {
      expectSame(magnitudeOf(word, call, i, 7), expected[i], word);
    }
  }
}

TEST(CompanionLosses, TermByTerm) {
  const SampleCall entropy = sampleCall("aten::cross_entropy_loss f[4,7] i{1,0,6,3} p[7] 1 0");
  const Row x = values(argument(entropy, "self"));
  const Row w = values(argument(entropy, "weight"));
  const std::vector<std::size_t> target{1, 0, 6, 3};
  double sum = 0;
  double weight = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    double top = -HUGE_VAL, exps = 0, spread = 0;
    for (std::size_t c = 0; c < 7; ++c) {
      top = std::max(top, x[row * 7 + c]);
    }
    for (std::size_t c = 0; c < 7; ++c) {
      exps += std::exp(x[row * 7 + c] - top);
      spread += std::exp(x[row * 7 + c] - top) * (top - x[row * 7 + c]);
    }
    if (target[row] != 0) {  // Class 0 is ignored.
      sum += w[target[row]] * (1 + spread / exps + top - x[row * 7 + target[row]] + std::log(exps));
      weight += w[target[row]];
    }
  }
  expectSame(magnitudeOf("cross_entropy", entropy, 0, 7), {sum / weight}, "cross_entropy");
  const SampleCall bce =
      sampleCall("aten::binary_cross_entropy_with_logits f[3,5] u[3,5] p[5] p[5] 1");
  const Row logits = values(argument(bce, "self"));
  const Row t = values(argument(bce, "target"));
  const Row bw = values(argument(bce, "weight"));
  const Row pos = values(argument(bce, "pos_weight"));
  double mean = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    const double size = std::abs(logits[i]);
    mean +=
        bw[i % 5] / 15 *
        (size * (1 + t[i]) + std::log1p(std::exp(-size)) * (1 + std::abs(pos[i % 5] - 1) * t[i]));
  }
  expectSame(magnitudeOf("bce_logits", bce, 0, 15), {mean}, "bce_logits");
  const SampleCall soft = sampleCall("aten::soft_margin_loss f[3,5] n[3,5] 2");
  const Row y = values(argument(soft, "target"));
  const Row z = values(argument(soft, "self"));
  double total = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    total += 1 + std::log1p(std::exp(-y[i] * z[i]));
  }
  expectSame(magnitudeOf("one_plus_loss", soft, 0, 15), {total}, "one_plus_loss");
}

TEST(CompanionDistances, ForwardAndBackward) {
  const SampleCall call = sampleCall("aten::_cdist_forward f[3,5] f[4,5] 2 none");
  const Row a = values(argument(call, "x1"));
  const Row b = values(argument(call, "x2"));
  const Row h = values(call.truth[0]);
  Row naive;
  for (std::size_t at = 0; at < 12; ++at) {
    double q = 0;
    for (std::size_t e = 0; e < 5; ++e) {
      q += std::pow(std::abs(a[at / 4 * 5 + e]) + std::abs(b[at % 4 * 5 + e]), 2);
    }
    naive.push_back(std::min(q / (2 * h[at]), std::sqrt(q / (4 * std::sqrt(5.0) * 0x1p-24))));
  }
  expectSame(magnitudeOf("cdist_naive", call, 0, 5), naive, "cdist_naive");
  const SampleCall back =
      sampleCall("x := f[3,5]\nd := aten::_pdist_forward x 3\naten::_pdist_backward n[3] x 3 d");
  const Row x = values(argument(back, "self"));
  const Row g = values(argument(back, "grad"));
  Row expected(15, 0);
  for (std::size_t i = 0, pair = 0; i < 3; ++i) {
    for (std::size_t j = i + 1; j < 3; ++j, ++pair) {
      double cube = 0;
      for (std::size_t e = 0; e < 5; ++e) {
        cube += std::pow(std::abs(x[i * 5 + e] - x[j * 5 + e]), 3);
      }
      for (std::size_t e = 0; e < 5; ++e) {
        const double term = std::abs(g[pair]) * std::pow(std::abs(x[i * 5 + e] - x[j * 5 + e]), 2) /
                            std::pow(cube, 2.0 / 3);
        expected[i * 5 + e] += term;
        expected[j * 5 + e] += term;
      }
    }
  }
  expectSame(magnitudeOf("distance_backward", back, 0, 3), expected, "pdist", 1e-6);
}

TEST(CompanionContractions, OperandsAndWhatIsStored) {
  const SampleCall call = sampleCall("aten::addmm f[3] f[2,5] f[5,3] beta=-0.5 alpha=-2");
  const Row bias = values(argument(call, "self"));
  const Row a = values(argument(call, "mat1"));
  const Row b = values(argument(call, "mat2"));
  Row expected;
  for (std::size_t at = 0; at < 6; ++at) {
    double sum = 0.5 * std::abs(bias[at % 3]);
    for (std::size_t e = 0; e < 5; ++e) {
      sum += 2 * std::abs(a[at / 3 * 5 + e] * b[e * 3 + at % 3]);
    }
    expected.push_back(sum);
  }
  expectSame(magnitudeOf("operands", call, 0, 5), expected, "addmm");
  const SampleCall linear = sampleCall("aten::linear f[2,5] f[3,5] f[3]");
  const Row h = values(linear.truth[0]);
  const Row c = values(argument(linear, "bias"));
  Row stored;
  for (std::size_t at = 0; at < 6; ++at) {
    stored.push_back(std::abs(h[at] - c[at % 3]));
  }
  expectSame(magnitudeOf("stored_product", linear, 0, 5), stored, "linear");
  const SampleCall chain = sampleCall("aten::einsum \"ab,bc,cd\" [f[2,3],f[3,4],f[4,2]]");
  const auto tensors = chain.arguments[1].toTensorVector();
  const Row x = values(tensors[0]), y = values(tensors[1]), z = values(tensors[2]);
  Row last(4, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      double inner = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        inner += x[i * 3 + j] * y[j * 4 + k];
      }
      for (std::size_t l = 0; l < 2; ++l) {
        last[i * 2 + l] += std::abs(inner * z[k * 2 + l]);
      }
    }
  }
  expectSame(magnitudeOf("stored_product", chain, 0, 4), last, "einsum");
}

TEST(CompanionTransforms, NormOfTheFullSpectrum) {
  for (const std::int64_t n : {8, 9}) {
    const SampleCall call = sampleCall("aten::_fft_c2r c[1,5] [1] 2 " + std::to_string(n));
    const Row part = values(argument(call, "self").abs());
    const Row h = values(call.truth[0]);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      sum += std::pow(part[static_cast<std::size_t>(std::min(i, n - i))], 2);
    }
    Row expected;
    for (const double each : h) {
      expected.push_back(std::sqrt(sum) / static_cast<double>(n) + std::abs(each));
    }
    expectSame(magnitudeOf("fft", call, 0, static_cast<double>(n)), expected, "c2r");
  }
}

TEST(CompanionScatters, CountWhatLands) {
  const SampleCall call = sampleCall("aten::index_add f[4,2] 0 i{1,1,3} f[3,2] alpha=-2");
  const Row x = values(argument(call, "self"));
  const Row y = values(argument(call, "source"));
  Row expected(8, 0);
  for (std::size_t e = 0; e < 2; ++e) {
    expected[2 + e] =
        std::sqrt(3.0 / 4) * (std::abs(x[2 + e]) + 2 * std::abs(y[e]) + 2 * std::abs(y[2 + e]));
    expected[6 + e] = std::sqrt(2.0 / 4) * (std::abs(x[6 + e]) + 2 * std::abs(y[4 + e]));
  }
  expectSame(magnitudeOf("accumulated", call, 0, 4), expected, "index_add");
  const SampleCall bag = sampleCall("aten::embedding_dense_backward n[4,1] i{2,2,2,0} 3 -1 true");
  const Row g = values(argument(bag, "grad_output"));
  expectSame(magnitudeOf("accumulated", bag, 0, 4),
             {std::abs(g[3]), 0,
              std::sqrt(3.0 / 4) * (std::abs(g[0]) + std::abs(g[1]) + std::abs(g[2])) / 3},
             "embedding");
}

/// Weights are positive in these modes: the operator on absolute values is the first sum, and
/// differences of its results the slopes.
TEST(CompanionResampling, SlopesAreDifferencesOfTheOperator) {
  const SampleCall call = sampleCall("aten::grid_sampler_2d f[2,3,5,7] u[2,4,3,2] 0 0 false");
  const at::Tensor x = argument(call, "input");
  const at::Tensor grid = argument(call, "grid");
  const auto at = [&](const at::Tensor& input, std::int64_t dim, double step) {
    const at::Tensor moved = grid.clone();
    moved.select(-1, dim).add_(step);
    return values(torchCall("aten::grid_sampler_2d", "", {input, moved, 0, 0, false}));
  };
  Row expected = at(x.abs(), 0, 0);
  for (std::int64_t dim = 0; dim < 2; ++dim) {
    const double h = 1e-7;
    const Row up = at(x, dim, h), down = at(x, dim, -h);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += 2 * std::abs(up[i] - down[i]) / (2 * h);  // I_d times 2 / I_d of the grid.
    }
  }
  expectSame(magnitudeOf("interpolate", call, 0, 4), expected, "grid", 1e-5);
}

TEST(CompanionResampling, LinearByLoops) {
  const SampleCall call = sampleCall("aten::upsample_linear1d f[1,1,5] [8] false");
  const SampleCall back = sampleCall("aten::upsample_linear1d_backward n[1,1,8] [8] [1,1,5] false");
  const Row x = values(argument(call, "self"));
  const Row g = values(argument(back, "grad_output"));
  Row forward, sums(5, 0), uses(5, 0);
  for (int o = 0; o < 8; ++o) {
    const double c = std::max(0.0, (o + 0.5) * 5 / 8 - 0.5);
    const auto low = static_cast<std::size_t>(c);
    const std::size_t high = std::min<std::size_t>(low + 1, 4);
    const double t = c - static_cast<double>(low);
    const auto out = static_cast<std::size_t>(o);
    forward.push_back((1 - t) * std::abs(x[low]) + t * std::abs(x[high]) +
                      5 * std::abs(x[high] - x[low]));
    if (low == high) {
      sums[low] += std::abs(g[out]);
      uses[low] += 1;
    } else {
      sums[low] += std::abs(g[out]) * (1 - t + 5);
      sums[high] += std::abs(g[out]) * (t + 5);
      uses[low] += 1;
      uses[high] += 1;
    }
  }
  expectSame(magnitudeOf("interpolate", call, 0, 2), forward, "forward");
  for (std::size_t i = 0; i < 5; ++i) {
    sums[i] *= std::sqrt(uses[i] / 6);
  }
  expectSame(magnitudeOf("interpolate_backward", back, 0, 6), sums, "backward");
}

TEST(CompanionResampling, GridBackwardByLoops) {
  const SampleCall call = sampleCall(
      "aten::grid_sampler_2d_backward n[1,2,1,1] f[1,2,3,4] u[1,1,1,2] 0 0 false [true,true]");
  const Row g = values(argument(call, "grad_output"));
  const Row x = values(argument(call, "input"));
  const Row grid = values(argument(call, "grid"));
  const double cx = ((grid[0] + 1) * 4 - 1) / 2, cy = ((grid[1] + 1) * 3 - 1) / 2;
  Row input(24, 0);
  double ofX = 0, ofY = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int ix = static_cast<int>(std::floor(cx)) + dx,
                iy = static_cast<int>(std::floor(cy)) + dy;
      if (ix > 3 || iy > 2) {
        continue;
      }
      const double wx = 1 - std::abs(cx - ix), wy = 1 - std::abs(cy - iy);
      for (int c = 0; c < 2; ++c) {
        const auto at = static_cast<std::size_t>(c * 12 + iy * 4 + ix);
        const double size = std::abs(g[static_cast<std::size_t>(c)]);
        input[at] = size * (wx * wy + 4 * wy + 3 * wx) / std::sqrt(8.0);
        ofX += 4.0 / 2 * size * std::abs(x[at]) * (wy + 3);
        ofY += 3.0 / 2 * size * std::abs(x[at]) * (wx + 4);
      }
    }
  }
  expectSame(magnitudeOf("interpolate_backward", call, 0, 8), input, "input");
  expectSame(magnitudeOf("grid_backward", call, 1, 12), {ofX, ofY}, "grid");
}

}  // namespace
}  // namespace neuroncheck::companion::testing

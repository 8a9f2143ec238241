// SPDX-License-Identifier: Apache-2.0
#include "torch_host/backend/special_kernels.h"

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/hooks.h"

#include <ATen/SDPBackend.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_scaled_dot_product_attention_math_ops.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace neuroncheck::backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

std::atomic<bool> attentionOverrideable = false;

/// The common frame of every kernel here: another device's code on aliases, nothing of it recorded.
struct Frame {
  PauseRecording pause;
  at::AutoDispatchBelowADInplaceOrView below;
  AliasScope scope;

  explicit Frame(c10::DeviceType host = c10::kCPU) : scope(host) {}
  Tensor in(const Tensor& tensor) { return scope.toHost(tensor); }
  OptionalTensor in(const OptionalTensor& tensor) {
    return tensor ? OptionalTensor(scope.toHost(*tensor)) : std::nullopt;
  }
  Tensor out(const Tensor& tensor) { return scope.toNeuron(tensor); }
  [[nodiscard]] at::TensorOptions options(c10::ScalarType type) const {
    return at::TensorOptions(type).device(scope.host());
  }
};

/// Runs a kernel on the CPU, or on tensors without memory when the bounds ask for it.
template <typename Kernel>
auto framed(const char* name, std::initializer_list<Tensor> operands, const Kernel& kernel) {
  uint64_t bytes = 0;
  for (const Tensor& operand : operands) {
    bytes += operandBytes(operand);
  }
  if (bytes > computeBounds().exactBytes) {
    try {
      Frame f(c10::kMeta);
      return kernel(f);
    } catch (const std::exception& error) {
      if (bytes > computeBounds().cpuBytes) {
        giveUp(std::string(name) + " has too many operands to run it, and its shapes without " +
               "running it are not known: " + error.what());
      }
    }
  }
  Frame f;
  return kernel(f);
}

Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                   c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                   bool transposed, c10::IntArrayRef outputPadding, int64_t groups) {
  return framed("convolution", {input, weight}, [&](Frame& f) {
    return f.out(at::convolution(f.in(input), f.in(weight), f.in(bias), stride, padding, dilation,
                                 transposed, outputPadding, groups));
  });
}

std::tuple<Tensor, Tensor, Tensor> convolutionBackward(
    const Tensor& grad, const Tensor& input, const Tensor& weight, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
    c10::IntArrayRef outputPadding, int64_t groups, std::array<bool, 3> mask) {
  Frame f;
  const std::array<int64_t, 1> biasSizes{grad.size(1)};
  const auto [gradInput, gradWeight, gradBias] =
      at::convolution_backward(f.in(grad), f.in(input), f.in(weight), biasSizes, stride, padding,
                               dilation, transposed, outputPadding, groups, mask);
  return {f.out(gradInput), f.out(gradWeight), f.out(gradBias)};
}

bool groupedHeads(const Tensor& query, const Tensor& key) { return query.size(1) != key.size(1); }

using AttentionResult =
    std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

AttentionResult attention(const Tensor& query, const Tensor& key, const Tensor& value,
                          const OptionalTensor& bias, double dropout, bool causal,
                          bool /*returnDebugMask*/, std::optional<double> scale) {
  return framed("attention", {query, key, value}, [&](Frame& f) -> AttentionResult {
    const auto result = at::_ops::_scaled_dot_product_attention_math::call(
        f.in(query), f.in(key), f.in(value), f.in(bias), dropout, causal, std::nullopt, scale,
        groupedHeads(query, key));
    const Tensor logsumexp =
        at::zeros({query.size(0), query.size(1), query.size(2)}, f.options(at::kFloat));
    const auto nothing = [&] { return f.out(at::empty({0}, f.options(at::kLong))); };
    return {f.out(std::get<0>(result)),
            f.out(logsumexp),
            nothing(),
            nothing(),
            query.sym_size(2),
            key.sym_size(2),
            nothing(),
            nothing(),
            nothing()};
  });
}

/// Sums the heads that shared one key or value.
Tensor ungroup(const Tensor& grad, int64_t heads) {
  return grad.size(1) == heads ? grad : grad.unflatten(1, {heads, -1}).sum(2);
}

/// Derivative of softmax(Q K^T s + B) V without dropout.
std::tuple<Tensor, Tensor, Tensor, Tensor> attentionBackward(
    const Tensor& gradOut, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, std::array<bool, 4> wanted, const Tensor& /*out*/, const Tensor& /*lse*/,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): the dispatcher gives these by value
    const Tensor& /*cumQ*/, const Tensor& /*cumK*/, c10::SymInt /*maxQ*/, c10::SymInt /*maxK*/,
    double /*dropout*/, bool causal, const Tensor& /*seed*/, const Tensor& /*offset*/,
    std::optional<double> scale) {
  Frame f;
  const Tensor q = f.in(query);
  const int64_t group = query.size(1) / key.size(1);
  const Tensor k = f.in(key).repeat_interleave(group, 1);
  const Tensor v = f.in(value).repeat_interleave(query.size(1) / value.size(1), 1);
  const Tensor dOut = f.in(gradOut);
  const double s = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(3))));
  Tensor logits = at::matmul(q, k.transpose(2, 3)).mul(s);
  if (bias.defined()) {
    logits = logits.add(f.in(bias));
  }
  if (causal) {
    const Tensor visible = at::ones({q.size(2), k.size(2)}, at::kBool).tril();
    logits = logits.masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity());
  }
  const Tensor p = at::softmax(logits, -1);
  const Tensor dP = at::matmul(dOut, v.transpose(2, 3));
  const Tensor dS = p.mul(dP.sub(dP.mul(p).sum(-1, true)));
  const Tensor gradV = ungroup(at::matmul(p.transpose(2, 3), dOut), value.size(1));
  const Tensor gradK = ungroup(at::matmul(dS.transpose(2, 3), q).mul(s), key.size(1));
  Tensor gradBias;
  if (wanted[3] && bias.defined()) {
    gradBias = f.out(dS.sum_to_size(bias.sizes()));
  }
  return {f.out(at::matmul(dS, k).mul(s)), f.out(gradK), f.out(gradV), gradBias};
}

int64_t chooseAttention(const Tensor& query, const Tensor& key, const Tensor& value,
                        const OptionalTensor& /*mask*/, double /*dropout*/, bool /*causal*/,
                        std::optional<double> /*scale*/, bool /*gqa*/) {
  const bool fits = query.dim() == 4 && key.dim() == 4 && value.dim() == 4;
  return static_cast<int64_t>(attentionOverrideable && fits ? at::SDPBackend::overrideable
                                                            : at::SDPBackend::math);
}

Tensor withBias(const Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates.add(*bias) : gates;
}

std::tuple<Tensor, Tensor, Tensor> lstmCell(const Tensor& inputGates, const Tensor& hiddenGates,
                                            const Tensor& cx, const OptionalTensor& inputBias,
                                            const OptionalTensor& hiddenBias) {
  Frame f;
  const Tensor gates = withBias(f.in(inputGates), f.in(inputBias))
                           .add(withBias(f.in(hiddenGates), f.in(hiddenBias)));
  const std::vector<Tensor> part = gates.chunk(4, 1);
  const Tensor i = part[0].sigmoid(), forget = part[1].sigmoid(), g = part[2].tanh(),
               o = part[3].sigmoid();
  const Tensor cy = forget.mul(f.in(cx)).add(i.mul(g));
  return {f.out(o.mul(cy.tanh())), f.out(cy), f.out(at::cat({i, forget, g, o}, 1))};
}

std::tuple<Tensor, Tensor, Tensor> lstmCellBackward(const OptionalTensor& gradHy,
                                                    const OptionalTensor& gradCy, const Tensor& cx,
                                                    const Tensor& cy, const Tensor& workspace,
                                                    bool hasBias) {
  Frame f;
  const std::vector<Tensor> part = f.in(workspace).chunk(4, 1);
  const Tensor& i = part[0];
  const Tensor& forget = part[1];
  const Tensor& g = part[2];
  const Tensor& o = part[3];
  const Tensor tanhCy = f.in(cy).tanh();
  const Tensor dHy = gradHy && gradHy->defined() ? f.in(*gradHy) : at::zeros_like(tanhCy);
  Tensor dC = dHy.mul(o).mul(tanhCy.square().neg().add(1));
  if (gradCy && gradCy->defined()) {
    dC = dC.add(f.in(*gradCy));
  }
  const auto sigmoidSlope = [](const Tensor& y) { return y.mul(y.neg().add(1)); };
  const Tensor gates =
      at::cat({dC.mul(g).mul(sigmoidSlope(i)), dC.mul(f.in(cx)).mul(sigmoidSlope(forget)),
               dC.mul(i).mul(g.square().neg().add(1)), dHy.mul(tanhCy).mul(sigmoidSlope(o))},
              1);
  Tensor gradBias;
  if (hasBias) {
    gradBias = f.out(gates.sum(0));
  }
  return {f.out(gates), f.out(dC.mul(forget)), gradBias};
}

std::tuple<Tensor, Tensor> gruCell(const Tensor& inputGates, const Tensor& hiddenGates,
                                   const Tensor& hx, const OptionalTensor& inputBias,
                                   const OptionalTensor& hiddenBias) {
  Frame f;
  const std::vector<Tensor> in = withBias(f.in(inputGates), f.in(inputBias)).chunk(3, 1);
  const std::vector<Tensor> hidden = withBias(f.in(hiddenGates), f.in(hiddenBias)).chunk(3, 1);
  const Tensor h = f.in(hx);
  const Tensor r = in[0].add(hidden[0]).sigmoid(), z = in[1].add(hidden[1]).sigmoid();
  const Tensor n = in[2].add(r.mul(hidden[2])).tanh();
  return {f.out(n.add(z.mul(h.sub(n)))), f.out(at::cat({r, z, n, h, hidden[2]}, 1))};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gruCellBackward(const Tensor& gradHy,
                                                                   const Tensor& workspace,
                                                                   bool hasBias) {
  Frame f;
  const std::vector<Tensor> part = f.in(workspace).chunk(5, 1);
  const Tensor& r = part[0];
  const Tensor& z = part[1];
  const Tensor& n = part[2];
  const Tensor& h = part[3];
  const Tensor& hn = part[4];
  const Tensor dHy = f.in(gradHy);
  const Tensor one = at::ones_like(z);
  const Tensor dN = dHy.mul(one.sub(z)).mul(one.sub(n.square()));
  const Tensor dZ = dHy.mul(h.sub(n)).mul(z.mul(one.sub(z)));
  const Tensor dR = dN.mul(hn).mul(r.mul(one.sub(r)));
  const Tensor gradInput = at::cat({dR, dZ, dN}, 1);
  const Tensor gradHidden = at::cat({dR, dZ, dN.mul(r)}, 1);
  Tensor inputBias, hiddenBias;
  if (hasBias) {
    inputBias = f.out(gradInput.sum(0));
    hiddenBias = f.out(gradHidden.sum(0));
  }
  return {f.out(gradInput), f.out(gradHidden), f.out(dHy.mul(z)), inputBias, hiddenBias};
}

}  // namespace

void setAttentionOverrideable(bool on) { attentionOverrideable = on; }

std::optional<Kernel> specialKernel(const std::string& name) {
  if (name == "aten::convolution_overrideable") {
    return kernelOf<&convolution>();
  }
  if (name == "aten::convolution_backward_overrideable") {
    return kernelOf<&convolutionBackward>();
  }
  if (name == "aten::_scaled_dot_product_fused_attention_overrideable") {
    return kernelOf<&attention>();
  }
  if (name == "aten::_scaled_dot_product_fused_attention_overrideable_backward") {
    return kernelOf<&attentionBackward>();
  }
  if (name == "aten::_thnn_fused_lstm_cell") {
    return kernelOf<&lstmCell>();
  }
  if (name == "aten::_thnn_fused_lstm_cell_backward_impl") {
    return kernelOf<&lstmCellBackward>();
  }
  if (name == "aten::_thnn_fused_gru_cell") {
    return kernelOf<&gruCell>();
  }
  if (name == "aten::_thnn_fused_gru_cell_backward") {
    return kernelOf<&gruCellBackward>();
  }
  return std::nullopt;
}

}  // namespace neuroncheck::backend

namespace at::native {
// The macro belongs to the namespace of the stub it fills.
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &neuroncheck::backend::chooseAttention)
}  // namespace at::native

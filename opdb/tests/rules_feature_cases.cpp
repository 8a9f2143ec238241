// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

TensorPtr laidOut(Layout layout) {
  TensorSpec spec = tensor(DType::Float32)->spec;
  spec.layout = layout;
  return std::make_shared<const TensorValue>(TensorValue{"x", spec});
}

Make use(std::string op, InventoryBuilder::Given given = {}) {
  return [op = std::move(op), given = std::move(given)](InventoryBuilder& b, Target&) {
    b.add(op, given);
  };
}

Make claimed(const Make& make, Claim claim) {
  return [make, claim](InventoryBuilder& b, Target& t) {
    make(b, t);
    b.claim().claim = claim;
  };
}

Make compiled(const Make& make) {
  return [make](InventoryBuilder& b, Target& t) {
    compile(t);
    make(b, t);
  };
}

TensorPtr heads(std::int64_t length) {
  return tensor(DType::BFloat16, {SymInt(1), SymInt(2), SymInt(length), SymInt(64)});
}

InventoryBuilder::Given attention(const TensorPtr& all) {
  return {{"query", all}, {"key", all}, {"value", all}};
}

void addLayouts(std::vector<RuleCase>& out) {
  out.push_back({"NC501", use("aten::relu", {{"self", laidOut(Layout::SparseCsr)}}),
                 use("aten::relu", {{"self", laidOut(Layout::Strided)}}), Severity::Error});
  out.push_back({"NC501", use("aten::to_sparse"), use("aten::relu"), Severity::Error});
  out.push_back({"NC501", [](auto& b, auto&) { b.input("x", laidOut(Layout::SparseCoo)); },
                 [](auto& b, auto&) { b.input("x", laidOut(Layout::Strided)); }, Severity::Error});
  out.push_back({"NC502", use("aten::relu", {{"self", laidOut(Layout::Jagged)}}),
                 use("aten::relu", {{"self", laidOut(Layout::Strided)}}), Severity::Error});
  out.push_back({"NC504", use("aten::quantize_per_channel"),
                 use("aten::fake_quantize_per_channel_affine"), Severity::Error});
  out.push_back({"NC509", use("aten::clone", {{"memory_format", MemoryFormat::ChannelsLast}}),
                 use("aten::clone", {{"memory_format", MemoryFormat::Contiguous}}),
                 Severity::Error});
  out.push_back({"NC514",
                 use("aten::copy_", {{"self", tensor(DType::Float32, {SymInt(4), SymInt(4)}, "v",
                                                     {SymInt(8), SymInt(1)})}}),
                 use("aten::copy_"), Severity::Note});
}

void addAttention(std::vector<RuleCase>& out) {
  const ArgValue mask = tensor(DType::Bool);
  out.push_back({"NC505",
                 use("aten::_native_multi_head_attention",
                     {{"mask", mask}, {"need_weights", boolean(false)}}),
                 use("aten::_native_multi_head_attention",
                     {{"mask", mask}, {"mask_type", integer(1)}, {"need_weights", boolean(false)}}),
                 Severity::Error});
  // need_weights is True by default.
  out.push_back({"NC505", use("aten::_native_multi_head_attention"),
                 use("aten::scaled_dot_product_attention", {{"attn_mask", mask}}),
                 Severity::Error});
  out.push_back({"NC508", use("aten::scaled_dot_product_attention"),
                 use("aten::scaled_dot_product_attention", attention(heads(512))), Severity::Note});
  out.push_back({"NC807", use("aten::scaled_dot_product_attention", attention(heads(32768))),
                 use("aten::scaled_dot_product_attention", attention(heads(4096))),
                 Severity::Note});
}

void addOperators(std::vector<RuleCase>& out) {
  for (const std::string op :
       {"aten::lstm.input", "aten::gru.input", "aten::lstm_cell", "aten::gru_cell"}) {
    out.push_back({"NC201", use(op), use("aten::rnn_tanh_cell"), Severity::Error});
  }
  out.push_back({"NC201", use("aten::gru.data"), compiled(use("aten::gru.data")), Severity::Error});
  for (const std::string op : {"aten::upsample_bilinear2d.vec", "aten::upsample_bicubic2d",
                               "aten::_upsample_bilinear2d_aa", "aten::_upsample_bicubic2d_aa"}) {
    out.push_back({"NC506", use(op), use("aten::upsample_nearest2d.vec"), Severity::Error});
  }
  for (const std::string op :
       {"aten::hann_window", "aten::hamming_window.periodic", "aten::bartlett_window",
        "aten::blackman_window", "aten::kaiser_window"}) {
    out.push_back({"NC507", use(op), use("aten::ones"), Severity::Error});
  }
  out.push_back({"NC202", claimed(use("aten::roll"), Claim::CpuFallback), use("aten::roll"),
                 Severity::Warning});
  const Make bernoulli = claimed(use("aten::bernoulli"), Claim::Unknown);
  out.push_back({"NC519", claimed(use("aten::randn"), Claim::CpuFallback),
                 claimed(use("aten::scaled_dot_product_attention", attention(heads(512))),
                         Claim::CpuFallback),
                 Severity::Warning});
  out.push_back({"NC519", bernoulli, compiled(bernoulli), Severity::Warning});
  for (const Claim own : {Claim::Native, Claim::Decomposed, Claim::NoDeviceWork}) {
    out.push_back({"NC519", claimed(use("aten::dropout"), Claim::CpuFallback),
                   claimed(use("aten::dropout"), own), Severity::Warning});
  }
}

void addTypes(std::vector<RuleCase>& out) {
  out.push_back({"NC401", use("aten::neg", {{"self", tensor(DType::Int64)}}),
                 use("aten::neg", {{"self", tensor(DType::Int32)}}), Severity::Warning});
  // A view of int64 is no work.
  out.push_back({"NC401", use("aten::neg", {{"self", tensor(DType::Int64)}}),
                 use("aten::transpose.int", {{"self", tensor(DType::Int64)}}), Severity::Warning});
  out.push_back({"NC404", use("aten::relu", {{"self", tensor(DType::Float64)}}), use("aten::relu"),
                 Severity::Warning});
  out.push_back({"NC404", [](auto& b, auto&) { b.input("x", tensor(DType::Float64)); },
                 [](auto& b, auto&) { b.input("x", tensor(DType::Float32)); }, Severity::Warning});
  const InventoryBuilder::Given e5m2{{"self", tensor(DType::Float8E5M2)},
                                     {"mat2", tensor(DType::Float8E5M2)}};
  out.push_back(
      {"NC409", use("aten::mm", e5m2),
       use("aten::mm", {{"self", tensor(DType::BFloat16)}, {"mat2", tensor(DType::BFloat16)}}),
       Severity::Warning});
  out.push_back({"NC410", compiled(use("aten::mm", e5m2)), use("aten::mm", e5m2), Severity::Note});
  out.push_back({"NC412",
                 use("aten::mm", {{"self", tensor(DType::Int8)}, {"mat2", tensor(DType::Int8)}}),
                 use("aten::mul.Tensor", {{"self", tensor(DType::Int8)}}), Severity::Error});
}

void addCollectives(std::vector<RuleCase>& out) {
  out.push_back({"NC515", use("_c10d_functional::isend"), use("_c10d_functional::broadcast"),
                 Severity::Note});
  out.push_back({"NC515", use("c10d::recv_"), use("c10d::barrier"), Severity::Note});
  const auto exchange = [](const std::vector<std::int64_t>& splits) {
    return use("_c10d_functional::all_to_all_single",
               {{"output_split_sizes", integers(splits)}, {"input_split_sizes", integers(splits)}});
  };
  out.push_back({"NC516", exchange({1, 1}), exchange({1, 1, 1, 1}), Severity::Error});
  out.push_back({"NC516", exchange(std::vector<std::int64_t>(48, 1)),
                 exchange(std::vector<std::int64_t>(64, 1)), Severity::Error});
}

}  // namespace

std::vector<RuleCase> featureCases() {
  std::vector<RuleCase> out;
  addLayouts(out);
  addAttention(out);
  addOperators(out);
  addTypes(out);
  addCollectives(out);
  return out;
}

}  // namespace neuroncheck::opdb::test

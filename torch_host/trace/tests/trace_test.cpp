// SPDX-License-Identifier: Apache-2.0
// Tracing, asked of the program as neuron-check asks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "worker/torch_worker.h"

namespace {

using neuroncheck::worker::TorchWorker;
using json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<std::string>;

/// Part of what a release registers.
const Names kNative = {"aten::linear",
                       "aten::addmm",
                       "aten::add_.Tensor",
                       "aten::gelu",
                       "aten::native_layer_norm",
                       "aten::_softmax",
                       "aten::native_dropout",
                       "aten::bmm",
                       "aten::mm",
                       "aten::embedding",
                       "aten::convolution",
                       "aten::where.self",
                       "aten::_scaled_dot_product_fused_attention_overrideable"};

constexpr std::uint64_t kEverything = std::uint64_t{1} << 40;

TorchWorker& worker() {
  static auto* started = [] {
    auto result = TorchWorker::start(NEURONCHECK_TORCH_PROGRAM);
    return result ? new TorchWorker(*std::move(result)) : nullptr;
  }();
  return *started;
}

json ask(const Names& cases, json options = json::object(), const Names& native = kNative) {
  json request = {{"do", "trace"}, {"native", native}, {"cases", json::array()}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    request["cases"].push_back({{"id", i}, {"case", cases[i]}});
  }
  request.update(options);
  auto answer = worker().ask(request, std::chrono::minutes(3));
  EXPECT_TRUE(answer) << (answer ? "" : answer.error().text());
  return answer ? *answer : json{{"cases", json::array()}, {"refused", json::array()}};
}

json traced(const std::string& text, const json& options = json::object()) {
  return ask({text}, options).at("cases").at(0);
}

Names targets(const json& answer) {
  Names out;
  for (const json& arrival : answer.at("arrivals")) {
    out.push_back(arrival.at("target"));
  }
  for (const char* word : {"raised", "not_traced"}) {
    if (answer.contains(word)) {
      out.push_back(std::string(word) + ": " + answer.at(word).get<std::string>());
    }
  }
  return out;
}

Names arrivals(const std::string& text, const json& options = json::object()) {
  return targets(traced(text, options));
}

TEST(Trace, RegisteredOperatorsStopTheExpansion) {
  EXPECT_THAT(arrivals("aten::linear(f32[4,16], f32[8,16], f32[8])"), ElementsAre("aten::linear"));
  EXPECT_THAT(arrivals("aten::addmm(f32[8], f32[4,16], f32[16,8])"), ElementsAre("aten::addmm"));
  EXPECT_THAT(arrivals("aten::softmax.int(f32[4,16], -1)"), ElementsAre("aten::_softmax"));
  EXPECT_THAT(arrivals("aten::layer_norm(f32[4,16], [16], f32[16], f32[16])"),
              ElementsAre("aten::native_layer_norm"));
  EXPECT_THAT(arrivals("aten::dropout(f32[4], 0.5, True)"), ElementsAre("aten::native_dropout"));
  EXPECT_THAT(arrivals("aten::dropout(f32[4], 0.5, False)"), IsEmpty());
}

TEST(Trace, TheSetOfTheRequestCounts) {
  const Names linear = {"aten::linear(f32[4,16], f32[8,16], f32[8])"};
  EXPECT_THAT(targets(ask(linear, json::object(), {}).at("cases").at(0)),
              ElementsAre("aten::as_strided", "aten::addmm.out"));
  EXPECT_THAT(targets(ask(linear).at("cases").at(0)), ElementsAre("aten::linear"));
  EXPECT_EQ(ask({}, json::object(), {"aten::linear", "aten::linaer"}).at("refused"),
            json({"aten::linaer"}));
}

TEST(Trace, AttentionIsChosenByRank) {
  EXPECT_THAT(arrivals("aten::scaled_dot_product_attention(f32[1,2,8,4], f32[1,2,8,4], "
                       "f32[1,2,8,4])"),
              ElementsAre("aten::_scaled_dot_product_fused_attention_overrideable"));
  const Names math =
      arrivals("aten::scaled_dot_product_attention(f32[2,8,4], f32[2,8,4], f32[2,8,4])");
  EXPECT_THAT(math, testing::Contains("aten::bmm").Times(2));
  EXPECT_THAT(math, testing::Contains("aten::_softmax"));
}

TEST(Trace, ArrivalsCarryWhatTheDeviceIsGiven) {
  const json arrival = traced("aten::add_.Tensor(f32[4]@(2)+1, %0; alpha=2)").at("arrivals").at(0);
  const json& self = arrival.at("inputs").at(0);
  const json& other = arrival.at("inputs").at(1);
  EXPECT_EQ(self.at("dtype"), "float32");
  EXPECT_EQ(self.at("shape"), json({4}));
  EXPECT_EQ(self.at("strides"), json({2}));
  EXPECT_EQ(self.at("offset"), 1);
  EXPECT_EQ(self.at("name"), other.at("name"));
  EXPECT_EQ(other.at("arg"), "other");
  EXPECT_EQ(arrival.at("attrs").at("alpha"), 2);
  EXPECT_EQ(arrival.at("outputs").at(0).at("name"), self.at("name"));
  const json separate = traced("aten::add_.Tensor(f32[4], f32[4])").at("arrivals").at(0);
  EXPECT_NE(separate.at("inputs").at(0).at("name"), separate.at("inputs").at(1).at("name"));
}

TEST(Trace, ArgumentsOfEveryKind) {
  const json sum = traced("aten::add_.Tensor(f32[4], 2.5)").at("arrivals").at(0);
  EXPECT_EQ(sum.at("attrs").at("other"), 2.5);
  EXPECT_EQ(sum.at("defaults").at("alpha"), 1);
  EXPECT_THAT(arrivals("aten::cat([f32[2,3], f32[2,3]], 1)"), ElementsAre("aten::cat.out"));
  EXPECT_THAT(arrivals("aten::index.Tensor(f32[3,3], [None, i64[2]={0,2}])"),
              ElementsAre("aten::as_strided", "aten::view", "aten::index.Tensor_out"));
  EXPECT_THAT(arrivals("aten::max_pool2d(f32[1,2,4,4], 2)"),
              ElementsAre("aten::max_pool2d_with_indices.out"));
  const json copy = traced("aten::to.dtype(f32[1,2,4,4], bf16, memory_format=channels_last)");
  EXPECT_THAT(targets(copy), ElementsAre(HasSubstr("not_traced: its case cannot be read")));
  const json cast = traced("aten::to.dtype(f32[1,2,4,4], bf16; memory_format=channels_last)");
  EXPECT_THAT(targets(cast), ElementsAre("aten::_copy_from"));
  EXPECT_EQ(cast.at("arrivals").at(0).at("inputs").at(1).at("strides"), json({32, 1, 8, 2}));
}

TEST(Trace, AllocationsAreTheWorkOfFactoriesAlone) {
  EXPECT_THAT(arrivals("aten::zeros([2,3])"),
              ElementsAre("aten::empty.memory_format", "aten::zero_"));
  EXPECT_THAT(arrivals("aten::relu(f32[2])"), ElementsAre("aten::relu"));
  EXPECT_THAT(arrivals("aten::div.Tensor(f32[2], f32[2])"), ElementsAre("aten::div.out"));
}

TEST(Trace, AMissingKernelRaisesWithTheMessageOfTorch) {
  const json answer = traced(
      "aten::lstm.input(f32[3,2,4], [f32[1,2,5], f32[1,2,5]], [f32[20,4], f32[20,5], f32[20], "
      "f32[20]], True, 1, 0.0, False, False, False)");
  EXPECT_THAT(answer.at("raised").get<std::string>(),
              testing::StartsWith("Could not run 'aten::_thnn_fused_lstm_cell' with arguments"));
  EXPECT_THAT(answer.at("raised").get<std::string>(), testing::Not(HasSubstr("frame #")));
  EXPECT_EQ(answer.at("raised_at"), "aten::_thnn_fused_lstm_cell");
}

TEST(Trace, WhatTheCpuRefusesTooIsNotTraced) {
  EXPECT_THAT(arrivals("aten::mm(f32[2,3], f32[4,5])"),
              ElementsAre(HasSubstr("not_traced: the operator refuses inputs of zeros: ")));
  // Probabilities of zero are refused, those of one are not.
  EXPECT_THAT(arrivals("aten::multinomial(f32[2,8], 3)"), ElementsAre("aten::multinomial"));
}

TEST(Trace, WhatCannotBeTriedSaysWhy) {
  EXPECT_THAT(arrivals("aten::nope(f32[2])"),
              ElementsAre("not_traced: torch has no operator aten::nope"));
  EXPECT_THAT(arrivals("aten::relu(f32[2]"), ElementsAre(HasSubstr("case cannot be read")));
  EXPECT_THAT(arrivals("aten::relu(3.5, 1)"), ElementsAre(HasSubstr("has fewer arguments")));
  EXPECT_THAT(arrivals("aten::mm(f32[2,2])"), ElementsAre(HasSubstr("gives no 'mat2'")));
  EXPECT_THAT(arrivals("aten::mm(f32[2,2]; mat3=f32[2,2])"), ElementsAre(HasSubstr("'mat3'")));
  EXPECT_THAT(arrivals("aten::relu(f32[2]) ;; aten::relu($0)"), ElementsAre(HasSubstr("sequence")));
  EXPECT_THAT(arrivals("aten::relu(f32[2]^) !grad"), ElementsAre(HasSubstr("gradients")));
  EXPECT_THAT(arrivals("aten::relu(f32[1048576,1048576])"), ElementsAre(HasSubstr("too large")));
}

TEST(Trace, ResultsThatTheRecorderDoesNotHold) {
  EXPECT_THAT(arrivals("aten::to_sparse(f32[4,4])"), ElementsAre("aten::_to_sparse"));
  EXPECT_THAT(arrivals("aten::_nested_tensor_from_mask(f32[2,3,4], b8[2,3])"),
              ElementsAre("aten::_nested_tensor_from_mask"));
  EXPECT_EQ(traced("aten::sparse_coo_tensor.indices(i64[1,2], f32[2])").value("raised_at", ""),
            "aten::_sparse_coo_tensor_with_dims_and_tensors");
}

TEST(Trace, BoundsOneResult) {
  EXPECT_THAT(arrivals("aten::cdist(f32[20000,4], f32[20000,4])"),
              ElementsAre(HasSubstr("not_traced: a result of 1525 MiB does not fit the memory")));
}

TEST(Trace, ACrashLosesOneCase) {
  const json answer = ask({"aten::relu(f32[2])",
                           "aten::_batch_norm_no_update(f32[4,4], None, None, None, None, 0.1, "
                           "0.00001)",
                           "aten::gelu(f32[2])"});
  EXPECT_EQ(answer.at("cases").at(2).at("id"), 2);
  EXPECT_THAT(targets(answer.at("cases").at(0)), ElementsAre("aten::relu"));
  EXPECT_THAT(targets(answer.at("cases").at(1)), ElementsAre(HasSubstr("signal 11")));
  EXPECT_THAT(targets(answer.at("cases").at(2)), ElementsAre("aten::gelu"));
}

TEST(Trace, ACaseWithoutEndIsStopped) {
  const json answer = ask({"aten::mm(i64[4000,4000], i64[4000,4000])", "aten::gelu(f32[2])"},
                          {{"cpu_seconds", 1}, {"exact_bytes", kEverything}});
  EXPECT_THAT(targets(answer.at("cases").at(0)), ElementsAre(HasSubstr("processor time")));
  EXPECT_THAT(targets(answer.at("cases").at(1)), ElementsAre("aten::gelu"));
}

TEST(Trace, LargeOperandsAreNotComputed) {
  // A second is too short for any of these products.
  const json bounds = {{"cpu_seconds", 1}};
  const json linear = traced("aten::linear(bf16[1,2048,4096], bf16[11008,4096])", bounds);
  ASSERT_THAT(targets(linear), ElementsAre("aten::linear"));
  EXPECT_EQ(linear.at("arrivals").at(0).at("outputs").at(0).at("shape"), json({1, 2048, 11008}));
  EXPECT_THAT(arrivals("aten::embedding(bf16[128256,16384], i64[1,8192])", bounds),
              ElementsAre("aten::embedding"));
  EXPECT_THAT(arrivals("aten::scaled_dot_product_attention(bf16[1,32,2048,128], "
                       "bf16[1,32,2048,128], bf16[1,32,2048,128]; is_causal=True)",
                       bounds),
              ElementsAre("aten::_scaled_dot_product_fused_attention_overrideable"));
  EXPECT_THAT(arrivals("aten::mm(f32[32768,32768], f32[32768,32768])", bounds),
              ElementsAre("aten::mm"));
  EXPECT_THAT(arrivals("aten::logical_not(b8[65536,65536])", bounds),
              ElementsAre(HasSubstr("its shapes without running it are not known")));
}

TEST(Trace, LargeOperandsAreStillRefusedAndStillRaise) {
  EXPECT_THAT(arrivals("aten::mm(f32[32768,32768], f32[16384,32768])"),
              ElementsAre(HasSubstr("not_traced: ")));
  const json raised = traced(
      "aten::lstm.input(f32[512,64,4096], [f32[1,64,4096], f32[1,64,4096]], [f32[16384,4096], "
      "f32[16384,4096], f32[16384], f32[16384]], True, 1, 0.0, False, False, False)");
  EXPECT_EQ(raised.value("raised_at", ""), "aten::_thnn_fused_lstm_cell");
}

TEST(Trace, BothWaysOfFindingShapesAgree) {
  const Names cases = {
      "aten::linear(f32[4,16], f32[8,16], f32[8])",
      "aten::layer_norm(bf16[2,3,8]@(3,1,6), [8], f32[8], f32[8])",
      "aten::batch_norm(f32[2,3,4,4]@(48,1,12,3), f32[3], f32[3], f32[3], f32[3], False, 0.1, "
      "0.00001, True)",
      "aten::batch_norm(f32[2,3,4,4], f32[3], f32[3], f32[3], f32[3], True, 0.1, 0.00001, True)",
      "aten::conv2d(f32[1,4,8,8], f32[6,2,3,3], f32[6], [2,1], [1,0], [1,1], 2)",
      "aten::conv2d(f32[1,4,8,8]@(256,1,32,4), f32[6,4,3,3], f32[6])",
      "aten::conv_transpose2d.input(f32[1,4,5,5], f32[4,3,3,3], None, [2,2], [1,1], [1,1])",
      "aten::conv1d(f32[2,4,8], f32[6,4,3])",
      "aten::where.self(b8[3,1]@(1,3), f32[3,4]@(1,3), f32[])",
      "aten::where.ScalarSelf(b8[2,2], 1.5, f32[2,2])",
      "aten::embedding(f32[10,4], i64[2,3])",
      "aten::index_select(f32[4,6], 1, i64[2])",
      "aten::relu(f32[2,3]@(1,2))",
      "aten::dropout(f32[2,3]@(1,2), 0.5, True)",
      "aten::group_norm(f32[2,4,3,3], 2, f32[4], f32[4])",
      "aten::var_mean.correction(f32[2,3,4], [1]; correction=1, keepdim=True)",
      "aten::scaled_dot_product_attention(bf16[1,2,8,4], bf16[1,2,8,4], bf16[1,2,8,4])",
      "aten::scaled_dot_product_attention(f32[2,8,4], f32[2,8,4], f32[2,8,4]; is_causal=True)",
      "aten::contiguous(f32[4,5]@(1,4))",
      "aten::repeat(f32[2,3], [2,2])",
      "aten::resize_(f32[2], [8])",
      "aten::add.out(f32[4], f32[4]; out=f32[0])"};
  const json computed = ask(cases).at("cases");
  const json without = ask(cases, {{"exact_bytes", 0}}).at("cases");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(targets(computed[i]), testing::Not(testing::Contains(HasSubstr(": "))));
    EXPECT_EQ(computed[i], without[i]) << cases[i];
  }
}

TEST(Trace, DataDependentOperators) {
  EXPECT_THAT(arrivals("aten::nonzero(f32[4])"), ElementsAre("aten::nonzero"));
  EXPECT_THAT(arrivals("aten::masked_select(f32[4], b8[4])"), ElementsAre("aten::masked_select"));
  EXPECT_THAT(arrivals("aten::item(f32[1])"), ElementsAre("aten::_local_scalar_dense"));
  EXPECT_EQ(traced("aten::masked_select(f32[4], b8[4]={1,0,1,0})")
                .at("arrivals")
                .at(0)
                .at("outputs")
                .at(0)
                .at("shape"),
            json({2}));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {

std::vector<RuleCase> operatorCases() {
  std::vector<RuleCase> out;
  out.push_back({"NC110", [](auto& b, auto&) { b.model().madeOn = {"cuda"}; },
                 [](auto& b, auto&) { b.model().madeOn = {"cpu", "meta"}; }, Severity::Note});
  out.push_back(
      {"NC111", [](auto& b, auto&) { b.add("aten::_scaled_dot_product_flash_attention_for_cpu"); },
       [](auto& b, auto&) { b.add("aten::scaled_dot_product_attention"); }, Severity::Warning});
  out.push_back({"NC111", [](auto& b, auto&) { b.add("transformers::grouped_mm_fallback"); },
                 [](auto& b, auto&) { b.add("transformers::other"); }, Severity::Warning});
  out.push_back({"NC203",
                 [](auto& b, auto&) {
                   b.add("aten::view_as_real");
                   b.claim().claim = Claim::CpuFallbackView;
                 },
                 [](auto& b, auto&) { b.add("aten::transpose.int"); }, Severity::Error});
  out.push_back({"NC204",
                 [](auto& b, auto&) {
                   b.add("demo::scale", {{"x", tensor(DType::Float32)}});
                   b.claim().claim = Claim::Unknown;
                 },
                 // A row of the database speaks for it.
                 [](auto& b, auto&) { b.add("demo::scale", {{"x", tensor(DType::Float32)}}); },
                 Severity::Warning});
  out.push_back({"NC204",
                 [](auto& b, auto&) {
                   b.addHigherOrder("auto_functionalized_v2", {OperatorRef{"demo::push_"}});
                 },
                 [](auto& b, auto&) {
                   b.addHigherOrder("auto_functionalized_v2", {OperatorRef{"aten::add_.Tensor"}});
                 },
                 Severity::Warning});
  out.push_back({"NC205",
                 [](auto& b, auto&) {
                   b.add("aten::made_next_year");
                   b.claim().claim = Claim::Unknown;
                 },
                 [](auto& b, auto&) {
                   b.add("aten::relu");
                   b.claim().claim = Claim::Unknown;
                 },
                 Severity::Warning});
  out.push_back(
      {"NC206", [](auto& b, auto&) { b.addHigherOrder("triton_kernel_wrapper_functional"); },
       [](auto& b, auto&) { b.addHigherOrder("wrap_with_set_grad_enabled"); }, Severity::Error});
  for (const std::string name :
       {"cond", "map_impl", "invoke_subgraph", "auto_functionalized_v2", "invoke_quant_packed",
        "run_and_save_rng_state", "while_loop_stack_output"}) {
    out.push_back({"NC207",
                   [name](auto& b, auto& t) {
                     compile(t);
                     b.addHigherOrder(name);
                   },
                   [name](auto& b, auto&) { b.addHigherOrder(name); }, Severity::Error});
  }
  out.push_back(
      {"NC208", [](auto& b, auto&) { b.addHigherOrder("cond", {tensor(DType::Bool, {})}); },
       [](auto& b, auto&) { b.addHigherOrder("cond", {boolean(true)}); }, Severity::Warning});
  out.push_back({"NC208", [](auto& b, auto&) { b.addHigherOrder("while_loop"); },
                 [](auto& b, auto& t) {
                   compile(t);
                   b.addHigherOrder("while_loop");
                 },
                 Severity::Warning});
  out.push_back({"NC209", [](auto& b, auto&) { b.addHigherOrder("flex_attention"); },
                 [](auto& b, auto&) { b.addHigherOrder("scan"); }, Severity::Warning});
  out.push_back({"NC210", [](auto& b, auto&) { b.addHigherOrder("executorch_call_delegate"); },
                 [](auto& b, auto&) { b.addHigherOrder("strict_mode"); }, Severity::Error});
  out.push_back({"NC211",
                 [](auto& b, auto&) {
                   b.add("aten::nonzero_static");
                   b.claim().caveats = {"vendor test skipped"};
                   b.claim().evidence = {"support:1"};
                 },
                 [](auto& b, auto&) { b.add("aten::nonzero_static"); }, Severity::Note});
  out.push_back({"NC512",
                 [](auto& b, auto&) {
                   b.addHigherOrder("wrap_with_autocast",
                                    {std::string("cpu"), DType::BFloat16, boolean(true)});
                 },
                 [](auto& b, auto&) {
                   b.addHigherOrder("wrap_with_autocast",
                                    {std::string("cpu"), DType::BFloat16, boolean(false)});
                   b.addHigherOrder("wrap_with_autocast",
                                    {std::string("neuron"), DType::BFloat16, boolean(true)});
                 },
                 Severity::Error});
  return out;
}

}  // namespace neuroncheck::opdb::test

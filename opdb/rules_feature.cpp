// SPDX-License-Identifier: Apache-2.0
// Rules that take message, status and evidence from a feature row of the database.
#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {
namespace {

/// What a use must show; the text says what of it concerns the rule. nullopt: not concerned.
using Detector = std::optional<std::string> (*)(RuleRun&, const OpUse&);
/// The same for tensors that enter the graph (inputs, parameters, buffers); null when a rule does
/// not look at them.
using TensorTest = bool (*)(const TensorSpec&);

struct FeatureRule {
  constexpr FeatureRule(std::string_view id, Detector detector, TensorTest test = nullptr)
      : feature(id), detect(detector), entering(test) {}
  std::string_view feature;
  Detector detect = nullptr;
  TensorTest entering = nullptr;
};

bool isAten(const OpUse& use) { return use.op.ns == "aten"; }

bool oneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::optional<std::string> ifAny(RuleRun& run, const OpUse& use, TensorTest wanted) {
  if (!anyTensor(use, wanted)) {
    return std::nullopt;
  }
  return run.tensorDetail(use, wanted);
}

bool isSparseTensor(const TensorSpec& spec) { return isSparse(spec.layout); }
bool isNestedTensor(const TensorSpec& spec) { return spec.layout == Layout::Jagged; }
bool isInt64(const TensorSpec& spec) { return spec.dtype == DType::Int64; }
bool isFloat64(const TensorSpec& spec) { return spec.dtype == DType::Float64; }

/// Does an argument name one of these layouts, as to_sparse or a factory does?
template <typename Wanted>
std::optional<std::string> layoutArgument(const OpUse& use, Wanted wanted) {
  for (const Argument& argument : use.args) {
    const auto* layout = std::get_if<Layout>(&argument.value);
    if (layout != nullptr && !argument.isDefault && wanted(*layout)) {
      return fmt::format("{} is {}", argument.name, name(*layout));
    }
  }
  return std::nullopt;
}

std::optional<std::string> sparse(RuleRun& run, const OpUse& use) {
  if (isAten(use) && (use.op.base.starts_with("to_sparse") || use.op.base.starts_with("_sparse_") ||
                      use.op.base.starts_with("sparse_"))) {
    return std::string("a sparse operator");
  }
  if (auto argument = layoutArgument(use, [](Layout layout) { return isSparse(layout); })) {
    return argument;
  }
  return ifAny(run, use, isSparseTensor);
}

std::optional<std::string> nested(RuleRun& run, const OpUse& use) {
  if (isAten(use) && use.op.base.starts_with("_nested_")) {
    return std::string("a nested tensor operator");
  }
  if (auto argument = layoutArgument(use, [](Layout layout) { return layout == Layout::Jagged; })) {
    return argument;
  }
  return ifAny(run, use, isNestedTensor);
}

std::optional<std::string> nativeAttention(RuleRun& run, const OpUse& use) {
  const bool attention = use.op.base == "_native_multi_head_attention";
  if (!isAten(use) || (!attention && use.op.base != "_transformer_encoder_layer_fwd")) {
    return std::nullopt;
  }
  const TensorValue* mask = tensorOf(use.arg("mask"));
  const Argument* type = use.arg("mask_type");
  const auto* kind = type == nullptr ? nullptr : std::get_if<SymIntValue>(&type->value);
  const bool causal = kind != nullptr && !kind->value.isSymbolic() && kind->value.value == 1;
  if (mask != nullptr && !causal) {
    return fmt::format("mask is {}, mask_type is {}", run.tensorText(*mask),
                       type == nullptr ? std::string("not given") : run.valueText(type->value));
  }
  if (attention && boolOf(use.arg("need_weights")) != false) {
    return std::string("need_weights is not False");
  }
  return std::nullopt;
}

std::optional<std::string> perChannel(RuleRun& /*run*/, const OpUse& use) {
  const std::string& base = use.op.base;
  // Fake quantisation rounds plain floats; no tensor of it has a per-channel scheme.
  if (base.find("per_channel") == std::string::npos ||
      base.find("fake_quant") != std::string::npos) {
    return std::nullopt;
  }
  return std::string("per-channel scheme");
}

std::optional<std::string> upsampling(RuleRun& run, const OpUse& use) {
  if (!isAten(use) || (use.op.base.find("upsample_bilinear2d") == std::string::npos &&
                       use.op.base.find("upsample_bicubic2d") == std::string::npos)) {
    return std::nullopt;
  }
  const Argument* first = use.args.empty() ? nullptr : &use.args.front();
  const TensorValue* input = tensorOf(first);
  return input == nullptr ? std::string() : fmt::format("input is {}", run.tensorText(*input));
}

std::optional<std::string> window(RuleRun& /*run*/, const OpUse& use) {
  if (isAten(use) && oneOf(use.op.base, {"hann_window", "hamming_window", "bartlett_window",
                                         "blackman_window", "kaiser_window"})) {
    return std::string();
  }
  return std::nullopt;
}

std::optional<std::string> fusedRnn(RuleRun& /*run*/, const OpUse& use) {
  if (!isAten(use)) {
    return std::nullopt;
  }
  const bool layer =
      oneOf(use.op.base, {"lstm", "gru"}) && oneOf(use.op.overload, {"input", "data"});
  const bool cell = oneOf(
      use.op.base, {"lstm_cell", "gru_cell", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell"});
  if (!layer && !cell) {
    return std::nullopt;
  }
  return std::string(layer ? "a whole layer in one operator" : "one cell");
}

bool isAttention(const OpUse& use) {
  return isAten(use) && oneOf(use.op.base, {"scaled_dot_product_attention",
                                            "_scaled_dot_product_fused_attention_overrideable"});
}

std::optional<std::string> attentionRank(RuleRun& run, const OpUse& use) {
  if (!isAttention(use)) {
    return std::nullopt;
  }
  for (const std::string_view name : {"query", "key", "value"}) {
    const TensorValue* tensor = tensorOf(use.arg(name));
    if (tensor != nullptr && tensor->spec.hasShape && tensor->spec.rank() != 4) {
      return fmt::format("{} is {}", name, run.tensorText(*tensor));
    }
  }
  return std::nullopt;
}

std::optional<std::string> longAttention(RuleRun& run, const OpUse& use) {
  constexpr std::int64_t kLong = 32768;  // the length that the row's measurement used
  const TensorValue* query = isAttention(use) ? tensorOf(use.arg("query")) : nullptr;
  if (query == nullptr || !query->spec.hasShape || query->spec.rank() < 2) {
    return std::nullopt;
  }
  const SymInt& length = query->spec.sizes[query->spec.sizes.size() - 2];
  const std::optional<std::int64_t> most =
      length.isSymbolic() ? run.boundsOf(length.expr).max : std::optional(length.value);
  if (!most || *most < kLong) {
    return std::nullopt;
  }
  return fmt::format("query is {}, length up to {}", run.tensorText(*query), *most);
}

std::optional<std::string> channelsLast(RuleRun& /*run*/, const OpUse& use) {
  for (const Argument& argument : use.args) {
    const auto* format = std::get_if<MemoryFormat>(&argument.value);
    if (format != nullptr &&
        (*format == MemoryFormat::ChannelsLast || *format == MemoryFormat::ChannelsLast3d)) {
      return fmt::format("{} is {}", argument.name, name(*format));
    }
  }
  return std::nullopt;
}

std::optional<std::string> onCpu(RuleRun& run, const OpUse& use) {
  const UseClaim* claim = run.claim(use);
  if (claim == nullptr || claim->claim != Claim::CpuFallback) {
    return std::nullopt;
  }
  return withoutOp(claim->reason, use);
}

std::optional<std::string> int64(RuleRun& run, const OpUse& use) {
  return touchesDevice(use.group) ? ifAny(run, use, isInt64) : std::nullopt;
}

std::optional<std::string> float64(RuleRun& run, const OpUse& use) {
  return touchesDevice(use.group) ? ifAny(run, use, isFloat64) : std::nullopt;
}

bool isMatmul(const OpUse& use) {
  return isAten(use) && oneOf(functionalBase(use.op.base),
                              {"mm", "bmm", "matmul", "addmm", "baddbmm", "addbmm", "linear",
                               "einsum", "dot", "mv", "addmv", "_scaled_mm", "_int_mm"});
}

bool isFloat8Tensor(const TensorSpec& spec) { return isFloat8(spec.dtype); }
bool isE5M2(const TensorSpec& spec) { return spec.dtype == DType::Float8E5M2; }
bool isInt8(const TensorSpec& spec) { return spec.dtype == DType::Int8; }

std::optional<std::string> float8Matmul(RuleRun& run, const OpUse& use) {
  return isMatmul(use) ? ifAny(run, use, isFloat8Tensor) : std::nullopt;
}
std::optional<std::string> e5m2Matmul(RuleRun& run, const OpUse& use) {
  return isMatmul(use) ? ifAny(run, use, isE5M2) : std::nullopt;
}
std::optional<std::string> int8Matmul(RuleRun& run, const OpUse& use) {
  return isMatmul(use) ? ifAny(run, use, isInt8) : std::nullopt;
}

std::optional<std::string> stridedWrite(RuleRun& run, const OpUse& use) {
  if (!isAten(use) || use.op.base != "copy_") {
    return std::nullopt;
  }
  const TensorValue* self = tensorOf(use.arg("self"));
  if (self == nullptr) {
    return std::nullopt;
  }
  const std::optional<bool> contiguous = contiguity(self->spec);
  if (contiguous == true) {
    return std::nullopt;
  }
  if (!contiguous) {
    run.notChecked("NC514 on aten::copy_", "the strides of 'self' are not known",
                   "export with fixed sizes, or profile the write on the device");
    return std::nullopt;
  }
  return fmt::format("self is {}, not contiguous", run.tensorText(*self));
}

std::optional<std::string> pointToPoint(RuleRun& /*run*/, const OpUse& use) {
  const bool functional =
      use.op.ns == "_c10d_functional" && oneOf(use.op.base, {"isend", "irecv", "batch_p2p_ops"});
  const bool direct =
      use.op.ns == "c10d" && oneOf(use.op.base, {"send", "recv_", "recv_any_source_"});
  return functional || direct ? std::optional(std::string()) : std::nullopt;
}

/// Ranks of an all_to_all, as far as its split sizes or group size tell.
std::optional<std::int64_t> ranksOf(const OpUse& use) {
  if (const Argument* size = use.arg("group_size"); size != nullptr) {
    const auto* number = std::get_if<SymIntValue>(&size->value);
    if (number != nullptr && !number->value.isSymbolic()) {
      return number->value.value;
    }
  }
  for (const std::string_view name : {"output_split_sizes", "input_split_sizes"}) {
    const Argument* splits = use.arg(name);
    const auto* list =
        splits == nullptr ? nullptr : std::get_if<std::vector<SymIntValue>>(&splits->value);
    if (list != nullptr && !list->empty()) {
      return static_cast<std::int64_t>(list->size());
    }
  }
  const Argument* outputs = use.arg("output_tensors");
  const auto* list = outputs == nullptr ? nullptr : std::get_if<TensorList>(&outputs->value);
  if (list != nullptr && !list->items.empty()) {
    return static_cast<std::int64_t>(list->items.size());
  }
  return std::nullopt;
}

std::optional<std::string> allToAll(RuleRun& run, const OpUse& use) {
  const bool known =
      use.op.ns.find("c10d") != std::string::npos &&
      (use.op.base.find("all_to_all") != std::string::npos || use.op.base.starts_with("alltoall"));
  if (!known) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> ranks = ranksOf(use);
  if (!ranks) {
    run.notChecked("NC516 on " + use.op.str(), "the number of ranks is not in the graph",
                   "use 4, 8, 16 or a multiple of 32 ranks when the model is run");
    return std::nullopt;
  }
  if (*ranks == 4 || *ranks == 8 || *ranks == 16 || (*ranks > 0 && *ranks % 32 == 0)) {
    return std::nullopt;
  }
  return fmt::format("{} ranks", *ranks);
}

/// Operators that draw numbers; attention and recurrent layers are random by tag, but draw only
/// with dropout.
bool draws(const OpUse& use) {
  constexpr std::array<std::string_view, 14> kWords{
      "rand",      "normal", "uniform", "bernoulli", "exponential", "multinomial", "poisson",
      "geometric", "cauchy", "gamma",   "binomial",  "dirichlet",   "dropout",     "rrelu"};
  const std::string_view base = use.op.base;
  return use.group == OpGroup::Random && std::ranges::any_of(kWords, [base](std::string_view word) {
           return base.find(word) != std::string_view::npos;
         });
}

/// Claimed to be done by the device itself, or not at all.
bool needsNoHost(const UseClaim* claim) {
  return claim != nullptr && (claim->claim == Claim::Native || claim->claim == Claim::Decomposed ||
                              claim->claim == Claim::NoDeviceWork);
}

std::optional<std::string> random(RuleRun& run, const OpUse& use) {
  if (!draws(use) || needsNoHost(run.claim(use))) {
    return std::nullopt;
  }
  const Argument* generator = use.arg("generator");
  const bool given = generator != nullptr && !std::holds_alternative<NoneValue>(generator->value);
  return std::string(given ? "with a generator of its own" : "");
}

constexpr auto kFeatureRules = std::to_array<FeatureRule>({
    {"sparse", sparse, isSparseTensor},
    {"nested", nested, isNestedTensor},
    {"mha-mask", nativeAttention},
    {"per-channel-quant", perChannel},
    {"bilinear-bicubic", upsampling},
    {"signal-windows", window},
    {"fused-rnn", fusedRnn},
    {"sdpa-choice", attentionRank},
    {"long-sdpa", longAttention},
    {"channels-last", channelsLast},
    {"boxed-fallback", onCpu},
    {"int64", int64},
    {"float64", float64, isFloat64},
    {"fp8-eager-matmul", float8Matmul},
    {"fp8-e5m2-compile", e5m2Matmul},
    {"int8-matmul", int8Matmul},
    {"strided-slice-write", stridedWrite},
    {"p2p", pointToPoint},
    {"all-to-all-size", allToAll},
    {"device-generator", random},
});

/// Features that say how a model is run, which no graph shows.
struct OutsideGraph {
  constexpr OutsideGraph(std::string_view id, std::string_view reason, std::string_view check)
      : feature(id), why(reason), how(check) {}
  std::string_view feature;
  std::string_view why;
  std::string_view how;
};
constexpr auto kOutsideGraph = std::to_array<OutsideGraph>({
    {"fork", "a graph does not show how processes are started",
     "start worker processes with the spawn method"},
    {"forward-ad", "forward-mode AD is a way to run a model, not part of its graph",
     "search the training code for torch.func.jvp and torch.autograd.forward_ad"},
});

/// A feature row speaks in both modes of shapes; rules_shape.cpp has its code.
bool handledElsewhere(std::string_view feature) {
  return feature == "dynamic-shapes" || feature == "dynamic-shapes-eager";
}

void begin(RuleRun& run, const FeatureAnswer& answer, std::string_view rule) {
  if (run.has(rule)) {
    return;
  }
  Finding& finding = run.finding(rule);
  finding.severity = capped(severityOf(answer.row->status), answer.standing);
  finding.message = answer.row->message;
  if (answer.standing == RowStanding::Later) {
    finding.message += fmt::format(" (said of the later release {} only)", answer.row->release);
  }
  finding.message += finding.message.ends_with('.') ? "" : ".";
  finding.evidence.push_back(answer.evidence);
}

void enteringTensors(RuleRun& run, const FeatureAnswer& answer, const FeatureRule& rule,
                     std::string_view id) {
  const auto look = [&](std::string_view node, std::string_view kind, const TensorValue& tensor) {
    if (rule.entering(tensor.spec)) {
      begin(run, answer, id);
      run.finding(id).places.push_back(
          run.place(node, fmt::format("{} is {}", kind, run.tensorText(tensor))));
    }
  };
  for (const GraphInput& input : run.model().inputs) {
    forEachTensor(input.value,
                  [&](const TensorValue& tensor) { look(input.name, "the input", tensor); });
  }
}

void runOne(RuleRun& run, const FeatureRule& rule) {
  const RuleInfo* info = ruleOfFeature(rule.feature);
  NEURONCHECK_CHECK(info != nullptr, "a feature rule that is not in the table");
  const std::optional<FeatureAnswer> answer = run.feature(rule.feature);
  if (!answer) {
    return;
  }
  for (const OpUse& use : run.model().uses) {
    if (auto detail = rule.detect(run, use)) {
      begin(run, *answer, info->id);
      run.finding(info->id).places.push_back(run.place(use, *std::move(detail)));
    }
  }
  if (rule.entering != nullptr) {
    enteringTensors(run, *answer, rule, info->id);
  }
}

bool hasDetector(std::string_view feature) {
  return std::ranges::any_of(
      kFeatureRules, [feature](const FeatureRule& rule) { return rule.feature == feature; });
}

}  // namespace

void runFeatureRules(RuleRun& run) {
  for (const FeatureRule& rule : kFeatureRules) {
    runOne(run, rule);
  }
  std::set<std::string_view> seen;
  for (const FeatureRow& row : run.data().features) {
    const bool otherMode =
        !row.mode.empty() && row.mode != "any" && row.mode != name(run.target().mode);
    if (otherMode || hasDetector(row.id) || handledElsewhere(row.id) ||
        !seen.insert(row.id).second) {
      continue;
    }
    const auto* const known = std::ranges::find_if(
        kOutsideGraph, [&row](const OutsideGraph& outside) { return outside.feature == row.id; });
    const bool outside = known != kOutsideGraph.end();
    run.undecidable(
        fmt::format("feature {}: {}", row.id, row.message),
        outside ? std::string(known->why) : "this version has no code for this rule",
        outside ? std::string(known->how) : fmt::format("look for it by hand: {}", row.appliesTo));
  }
}

}  // namespace neuroncheck::opdb

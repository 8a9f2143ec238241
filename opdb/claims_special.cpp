// SPDX-License-Identifier: Apache-2.0
// Operators that are answered before any row is read, and those with a rule of their own.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "opdb/claims_engine.h"

namespace neuroncheck::opdb {
namespace {

/// Read or check sizes, strides and flags on the host. `_assert_async` is none of them: it reads a
/// value of the device.
constexpr auto kMetadataOperators =
    std::to_array<std::string_view>({"_assert_scalar",
                                     "_assert_tensor_metadata",
                                     "_functional_assert_scalar",
                                     "_functional_sym_constrain_range",
                                     "_functional_sym_constrain_range_for_size",
                                     "_has_same_storage_numel",
                                     "_is_zerotensor",
                                     "_version",
                                     "can_cast",
                                     "dense_dim",
                                     "dim",
                                     "is_complex",
                                     "is_conj",
                                     "is_contiguous",
                                     "is_floating_point",
                                     "is_inference",
                                     "is_leaf",
                                     "is_neg",
                                     "is_non_overlapping_and_dense",
                                     "is_pinned",
                                     "is_same_size",
                                     "is_signed",
                                     "is_strides_like_format",
                                     "numel",
                                     "output_nr",
                                     "promote_types",
                                     "requires_grad_",
                                     "result_type",
                                     "retain_grad",
                                     "size",
                                     "sparse_dim",
                                     "storage_offset",
                                     "stride",
                                     "sym_constrain_range",
                                     "sym_constrain_range_for_size",
                                     "sym_is_contiguous",
                                     "sym_numel",
                                     "sym_size",
                                     "sym_storage_offset",
                                     "sym_stride"});

constexpr auto kDropouts = std::to_array<std::string_view>(
    {"alpha_dropout", "alpha_dropout_", "dropout", "dropout_", "feature_alpha_dropout",
     "feature_alpha_dropout_", "feature_dropout", "feature_dropout_"});

constexpr auto kCollectiveNamespaces =
    std::to_array<std::string_view>({"_c10d_functional", "_c10d_functional_autograd", "c10d",
                                     "c10d_functional", "fsdp", "symm_mem"});

/// Names that only a CPU dispatches to, and what the same code asks of another device (rule 6).
constexpr auto kCpuOnly = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"aten::_scaled_dot_product_flash_attention_for_cpu", "aten::scaled_dot_product_attention"},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     "aten::_scaled_dot_product_fused_attention_overrideable_backward"},
    {"aten::mkldnn_rnn_layer", "aten::_thnn_fused_lstm_cell"},
    {"aten::mkldnn_rnn_layer_backward", "aten::_thnn_fused_lstm_cell_backward_impl"},
});

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

OpName aten(std::string base, std::string overload = {}) {
  return {"aten", std::move(base), std::move(overload)};
}

/// Whether a view-or-copy operator copies; nullopt where strides or devices, which are not known,
/// decide.
std::optional<bool> copies(const OpName& op, const PredicateContext& context) {
  const TensorFacts* self = tensorArgument(context, "self");
  if (self == nullptr) {
    return std::nullopt;
  }
  if (op.base == "resolve_conj" || op.base == "resolve_neg") {
    return self->dtype && !isComplex(*self->dtype) ? std::optional(false) : std::nullopt;
  }
  const std::optional<bool> forced = boolArgument(context, "copy");
  if (op.base != "to" || forced != false) {
    return op.base == "to" ? forced : std::nullopt;
  }
  const auto isNone = [&](const char* argument) {
    const auto given = context.arguments.find(argument);
    return given == context.arguments.end() || given->second.isNone == true;
  };
  const TensorFacts* other = tensorArgument(context, "other");
  // Unknown stands for "not said": the optional itself confuses g++ 12's check for uninitialised
  // reads.
  DType wanted = other == nullptr ? DType::Unknown : other->dtype.value_or(DType::Unknown);
  if (const auto dtype = context.arguments.find("dtype");
      dtype != context.arguments.end() && dtype->second.value) {
    if (const auto* given = std::get_if<DType>(&*dtype->second.value)) {
      wanted = *given;
    }
  }
  const bool keepsDType = op.overload != "other" && isNone("dtype");
  if (!keepsDType && (wanted == DType::Unknown || !self->dtype)) {
    return std::nullopt;
  }
  if (!keepsDType && wanted != *self->dtype) {
    return true;
  }
  // Equal dtypes decide only where no device and no memory format can ask for a copy.
  const bool onlyDType = other == nullptr && isNone("device") && isNone("memory_format");
  return onlyDType ? std::optional(false) : std::nullopt;
}

}  // namespace

bool isHostNamespace(std::string_view ns) {
  return ns == "profiler" || ns == "debug_mode_ops" || ns == "debugprims";
}

bool isCollective(const OpName& op) { return contains(kCollectiveNamespaces, op.ns); }

bool isMetadataOnly(const OpName& op, const OpInfo* info) {
  if (op.ns == "aten" && contains(kMetadataOperators, op.base)) {
    return true;
  }
  if (info == nullptr) {
    return false;
  }
  const auto isTensor = [](const SchemaArgument& argument) {
    return argument.type == SchemaType::Tensor || argument.type == SchemaType::Other ||
           argument.type == SchemaType::CustomClass;
  };
  return std::ranges::none_of(info->schema.arguments, isTensor) &&
         std::ranges::none_of(info->schema.returns, isTensor);
}

std::optional<std::string> noWorkByArgument(const OpName& op, const PredicateContext& context) {
  if (op.ns != "aten" || !contains(kDropouts, op.base)) {
    return std::nullopt;
  }
  if (boolArgument(context, "train") == false) {
    return fmt::format("{} returns its input, because train is false: nothing reaches the device.",
                       op.str());
  }
  if (numberArgument(context, "p") == 0.0) {
    return fmt::format("{} returns its input, because p is 0: nothing reaches the device.",
                       op.str());
  }
  return std::nullopt;
}

std::optional<Judgement> RuleEngine::judgeMapped(const OpName& op,
                                                 const PredicateContext& context) {
  const auto found =
      std::ranges::find(kCpuOnly, op.str(), &std::pair<std::string_view, std::string_view>::first);
  if (found == kCpuOnly.end()) {
    return std::nullopt;
  }
  std::string target(found->second);
  if (op.base.starts_with("mkldnn_rnn_layer") && numberArgument(context, "mode") == 3.0) {
    target = op.base.ends_with("_backward") ? "aten::_thnn_fused_gru_cell_backward"
                                            : "aten::_thnn_fused_gru_cell";
  }
  Judgement judgement = judge(*OpName::parse(target), context);
  judgement.reason = fmt::format(
      "{} exists on the CPU only, where the model was made; the device is asked for {}: {}",
      op.str(), target, judgement.reason);
  judgement.caveats.push_back(fmt::format("made on a CPU: {} is judged as {}", op.str(), target));
  return judgement;
}

std::optional<Judgement> RuleEngine::judgeViewOrCopy(const OpName& op,
                                                     const PredicateContext& context) {
  const OpInfo* info = database_.find(op);
  const bool casts = op.base == "to" || op.base.starts_with("_autocast");
  if (op.base == "pin_memory") {
    return std::nullopt;  // Host memory: the general rules answer.
  }
  const std::optional<bool> copying = copies(op, context);
  if (copying == false) {
    return noDeviceWork(
        fmt::format("{} returns its input or a view of it here: nothing is copied.", op.str()));
  }
  const OpName copy = casts ? aten("_to_copy") : aten("clone");
  auto rows = judgeRows(op, info, context);
  PredicateContext copied;
  copied.chip = context.chip;
  for (const char* argument : {"self", "dtype", "memory_format"}) {
    if (const auto given = context.arguments.find(argument); given != context.arguments.end()) {
      copied.arguments.insert(*given);
    }
  }
  Judgement judgement = rows ? *std::move(rows) : judge(copy, copied);
  if (copying == true) {
    judgement.reason = fmt::format("{} copies here: {}", op.str(), judgement.reason);
    return judgement;
  }
  if (bucket(judgement.claim) == bucket(Claim::NoDeviceWork)) {
    judgement.caveats.push_back(
        fmt::format("{} is free where it can stay a view and a copy otherwise", op.str()));
    judgement.reason = fmt::format("{} is a view or a copy, which strides or devices decide: {}",
                                   op.str(), judgement.reason);
    return judgement;
  }
  judgement.claim = judgement.claim == Claim::Unknown ? Claim::Unknown : Claim::Depends;
  judgement.decidedBy = "self";
  judgement.reason =
      fmt::format("{} needs nothing of the device where it can stay a view; where it copies: {}",
                  op.str(), judgement.reason);
  return judgement;
}

Judgement RuleEngine::judgeKernelView(const OpName& op) {
  const OpInfo* info = database_.find(op);
  const ReleaseOrder& releases = book_.releases();
  const bool decided =
      target_.mode == ExecutionMode::Eager && releases.absenceDecides() && info->cpuKernel;
  if (!decided) {
    return judgeMissingKernel(op, *info);
  }
  Judgement judgement;
  judgement.claim = Claim::CpuFallbackView;
  judgement.used.push_back(book_.addAbsence(*releases.answering()));
  judgement.leaves.push_back(
      {.op = op.str(), .times = "1", .always = true, .claim = judgement.claim, .reason = {}});
  judgement.reason = fmt::format(
      "{} is a view that each backend must bring itself, {} {} has no kernel for it, and the CPU "
      "fallback returns a copy: writes "
      "through the view are lost without an error.",
      op.str(), target_.product, releases.answering()->name);
  judgement.remedy = fmt::format(
      "Keep {} off the device, or write the result back explicitly instead of through the view.",
      op.str());
  judgement.leaves.front().reason = judgement.reason;
  return judgement;
}

std::optional<Judgement> RuleEngine::judgeViewOfKernelView(const OpName& op, const OpInfo& info,
                                                           const PredicateContext& context) {
  if (info.dispatchClass != DispatchClass::CompositeImplicit) {
    return std::nullopt;
  }
  for (const Expansion& expansion : expansionsOf(info)) {
    const OpInfo* child = database_.find(expansion.child);
    if (child == nullptr || child->view != ViewClass::KernelView) {
      continue;
    }
    const Part part = judgePart(op, expansion, context);
    if (part.excluded) {
      continue;
    }
    Judgement judgement = part.judgement;
    addUnique(judgement.used, book_.addExpansion(op, database_.expansions(op).front().source));
    judgement.reason = chained(op, expansion.child, judgement.reason);
    if (part.open && judgement.claim != Claim::Unknown) {
      judgement.claim = Claim::Depends;
      judgement.decidedBy = part.decidedBy;
    }
    return judgement;
  }
  return std::nullopt;
}

const FeatureRow* RuleEngine::feature(std::string_view id) const {
  const FeatureRow* best = nullptr;
  Standing bestStanding;
  for (const FeatureRow& row : database_.features(target_.product)) {
    const Standing standing = book_.releases().standing(row.release);
    if (row.id != id || (row.mode != "any" && row.mode != name(target_.mode)) ||
        standing.nearness == Nearness::NeverAsks) {
      continue;
    }
    const bool nearer =
        best == nullptr || standing.nearness < bestStanding.nearness ||
        (standing.nearness == bestStanding.nearness && standing.order > bestStanding.order);
    if (nearer) {
      best = &row;
      bestStanding = standing;
    }
  }
  return best;
}

std::optional<Judgement> RuleEngine::judgeAttention(const OpName& op,
                                                    const PredicateContext& context) {
  const FeatureRow* choice =
      op.str() == "aten::scaled_dot_product_attention" ? feature("sdpa-choice") : nullptr;
  if (choice == nullptr || choice->status != SupportStatus::Native) {
    return std::nullopt;
  }
  bool known = true;
  for (const char* argument : {"query", "key", "value"}) {
    const TensorFacts* tensor = tensorArgument(context, argument);
    if (tensor != nullptr && tensor->rank && *tensor->rank != 4) {
      PredicateContext math = context;
      math.arguments.insert_or_assign(
          "dropout_mask", ArgumentFacts{.isNone = true, .tensors = {}, .value = NoneValue{}});
      math.results.reset();
      Judgement judgement = judge(aten("_scaled_dot_product_attention_math"), math);
      addUnique(judgement.used, book_.addFeature(*choice));
      judgement.reason = fmt::format("{} takes the math path, because {} is not 4-D: {}", op.str(),
                                     argument, judgement.reason);
      return judgement;
    }
    known = known && tensor != nullptr && tensor->rank;
  }
  Judgement fused = judgeFusedAttention(*choice, context);
  if (!known) {
    fused.claim = bucket(fused.claim) >= bucket(Claim::Depends) ? fused.claim : Claim::Depends;
    fused.decidedBy = "query";
    fused.reason = fmt::format(
        "The ranks of query, key and value are not known, and {} takes the math path unless all "
        "are 4-D.",
        op.str());
  }
  return fused;
}

Judgement RuleEngine::judgeFusedAttention(const FeatureRow& choice,
                                          const PredicateContext& context) {
  PredicateContext child;
  child.chip = context.chip;
  for (const auto& [from, to] : {std::pair{"query", "query"},
                                 {"key", "key"},
                                 {"value", "value"},
                                 {"attn_mask", "attn_bias"},
                                 {"dropout_p", "dropout_p"},
                                 {"is_causal", "is_causal"},
                                 {"scale", "scale"}}) {
    if (const auto given = context.arguments.find(from); given != context.arguments.end()) {
      child.arguments.emplace(to, given->second);
    }
  }
  const OpName op = aten("scaled_dot_product_attention");
  std::vector<Expansion> made;
  const auto part = [&](const OpName& called) {
    made.push_back({.child = called,
                    .times = "1",
                    .always = true,
                    .plumbing = false,
                    .condition = std::nullopt,
                    .arguments = {}});
    for (const auto& [argument, facts] : child.arguments) {
      made.back().arguments.emplace(argument, facts);
    }
  };
  // A bool mask is turned into a bias of the query's dtype before the kernel sees it (Tensor
  // preprocess of attention.cpp).
  const auto mask = child.arguments.find("attn_bias");
  if (mask != child.arguments.end() && !mask->second.tensors.empty() &&
      mask->second.tensors.front().dtype == DType::Bool) {
    const TensorFacts* query = tensorArgument(context, "query");
    mask->second.tensors.front().dtype = query == nullptr ? std::nullopt : query->dtype;
    part(aten("scalar_tensor"));
    part(aten("where", "self"));
    made[made.size() - 2].arguments.clear();
    made.back().arguments.clear();
  }
  part(aten("_scaled_dot_product_fused_attention_overrideable"));
  Judgement judgement = combine(op, judgeParts(op, made, context));
  addUnique(judgement.used, book_.addFeature(choice));
  return judgement;
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/groups.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace neuroncheck::scanner::pt2 {
namespace {

using Names = std::string_view;

template <std::size_t N>
bool contains(const std::array<Names, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array<Names, 6> kCollectiveNamespaces = {
    "c10d",     "_c10d_functional", "_c10d_functional_autograd", "c10d_functional",
    "_dtensor", "symm_mem"};
constexpr std::array<Names, 9> kGuards = {"_assert_scalar",
                                          "_assert_async",
                                          "_assert_tensor_metadata",
                                          "_functional_assert_scalar",
                                          "_functional_assert_async",
                                          "sym_constrain_range",
                                          "sym_constrain_range_for_size",
                                          "_functional_sym_constrain_range",
                                          "_functional_sym_constrain_range_for_size"};
/// Metadata of a tensor as a number; nothing is computed on its values.
constexpr std::array<Names, 15> kSymbolic = {"sym_size",
                                             "sym_stride",
                                             "sym_numel",
                                             "sym_storage_offset",
                                             "sym_is_contiguous",
                                             "size",
                                             "stride",
                                             "numel",
                                             "dim",
                                             "storage_offset",
                                             "is_contiguous",
                                             "is_non_overlapping_and_dense",
                                             "is_strides_like_format",
                                             "is_complex",
                                             "is_floating_point"};
constexpr std::array<Names, 4> kMetadataOfPrim = {"device", "dtype", "layout", "itemsize"};
/// The identity when `train` is false; native_dropout is not among them: it always makes a mask.
constexpr std::array<Names, 8> kDropout = {
    "dropout",       "dropout_",       "feature_dropout",       "feature_dropout_",
    "alpha_dropout", "alpha_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_"};
constexpr std::array<Names, 7> kCopies = {
    "copy_", "copy", "clone", "_to_copy", "_copy_from", "lift_fresh_copy", "_copy_from_and_resize"};
/// For operators the catalogue lacks: core views and copies by packet.
constexpr std::array<Names, 22> kKnownViews = {
    "view",   "permute",  "transpose", "t",          "expand", "squeeze",          "unsqueeze",
    "slice",  "select",   "detach",    "alias",      "split",  "split_with_sizes", "unbind",
    "chunk",  "diagonal", "unfold",    "as_strided", "narrow", "movedim",          "expand_as",
    "view_as"};
constexpr std::array<Names, 4> kKnownViewsOrCopies = {"reshape", "contiguous", "flatten",
                                                      "reshape_as"};

bool holdsTensor(const ArgValue& value) {
  if (const auto* tensor = std::get_if<TensorPtr>(&value)) {
    return *tensor != nullptr;
  }
  // A list that only running the model would fill.
  const auto* computed = std::get_if<OpaqueValue>(&value);
  bool any = computed != nullptr && computed->json.find("Tensor") != std::string::npos;
  forEachTensor(value, [&](const TensorValue&) { any = true; });
  return any;
}

bool isFactory(const OpUse& use) {
  const auto argumentHoldsTensor = [](const Argument& argument) {
    return holdsTensor(argument.value);
  };
  return std::ranges::none_of(use.args, argumentHoldsTensor) &&
         std::ranges::any_of(use.outputs, holdsTensor);
}

bool isSwitchedOff(const OpUse& use) {
  const Argument* train = use.arg("train");
  const auto* flag = train != nullptr ? std::get_if<SymBool>(&train->value) : nullptr;
  return flag != nullptr && flag->expr == nullptr && flag->name.empty() && !flag->value;
}

/// `to` copies when the result differs in dtype or device, else it may return its input.
OpGroup groupOfTo(const OpUse& use) {
  const Argument* copy = use.arg("copy");
  const auto* forced = copy != nullptr ? std::get_if<SymBool>(&copy->value) : nullptr;
  if (forced != nullptr && forced->value) {
    return OpGroup::Copy;
  }
  const Argument* self = use.arg("self");
  const auto* in = self != nullptr ? std::get_if<TensorPtr>(&self->value) : nullptr;
  const auto* out = use.outputs.empty() ? nullptr : std::get_if<TensorPtr>(&use.outputs.front());
  if (in == nullptr || out == nullptr || *in == nullptr || *out == nullptr) {
    return OpGroup::ViewOrCopy;
  }
  const bool same =
      (*in)->spec.dtype == (*out)->spec.dtype && (*in)->spec.device == (*out)->spec.device;
  return same ? OpGroup::ViewOrCopy : OpGroup::Copy;
}

/// The rule that follows from the name alone, or from how the catalogue classes the operator.
GroupRule ruleByClass(const OpName& op, const OpInfo* info) {
  using Kind = GroupRule::Kind;
  const bool aten = op.ns == "aten";
  if (info != nullptr && info->hasTag("nondeterministic_seeded")) {
    return {.kind = Kind::Fixed, .group = OpGroup::Random};
  }
  if (aten && op.base == "to") {
    return {.kind = Kind::To, .group = OpGroup::ViewOrCopy};
  }
  if (aten && contains(kCopies, op.base)) {
    return {.kind = Kind::Fixed, .group = OpGroup::Copy};
  }
  if (info != nullptr && info->view != ViewClass::None) {
    return {.kind = Kind::Fixed,
            .group = info->view == ViewClass::ViewOrCopy ? OpGroup::ViewOrCopy : OpGroup::View};
  }
  if (aten && (op.base.ends_with("_like") || op.base.starts_with("new_"))) {
    return {.kind = Kind::Fixed, .group = OpGroup::Factory};
  }
  if (info == nullptr && aten && contains(kKnownViews, op.base)) {
    return {.kind = Kind::Fixed, .group = OpGroup::View};
  }
  if (info == nullptr && aten && contains(kKnownViewsOrCopies, op.base)) {
    return {.kind = Kind::Fixed, .group = OpGroup::ViewOrCopy};
  }
  return {.kind = Kind::FactoryOrFixed, .group = OpGroup::Compute};
}

}  // namespace

GroupRule groupRule(const OpName& op, const OpInfo* info) {
  using Kind = GroupRule::Kind;
  const bool aten = op.ns == "aten";
  if (contains(kCollectiveNamespaces, op.ns)) {
    return {.kind = Kind::Fixed, .group = OpGroup::Collective};
  }
  if (op.ns == "profiler") {
    return {.kind = Kind::Fixed, .group = OpGroup::NoDeviceWork};
  }
  if ((op.ns == "prim" && contains(kMetadataOfPrim, op.base)) ||
      (aten && contains(kSymbolic, op.base))) {
    return {.kind = Kind::Fixed, .group = OpGroup::Symbolic};
  }
  if (aten && contains(kGuards, op.base)) {
    return {.kind = Kind::Fixed, .group = OpGroup::Guard};
  }
  GroupRule rule = ruleByClass(op, info);
  if (aten && contains(kDropout, op.base)) {
    rule.kind = Kind::Dropout;
  }
  return rule;
}

OpGroup applyRule(const GroupRule& rule, const OpUse& use) {
  switch (rule.kind) {
    case GroupRule::Kind::Fixed:
      break;
    case GroupRule::Kind::Dropout:
      return isSwitchedOff(use) ? OpGroup::NoDeviceWork : rule.group;
    case GroupRule::Kind::To:
      return groupOfTo(use);
    case GroupRule::Kind::FactoryOrFixed:
      return isFactory(use) ? OpGroup::Factory : rule.group;
  }
  return rule.group;
}

OpGroup groupOf(const OpUse& use, const OpInfo* info) {
  return applyRule(groupRule(use.op, info), use);
}

}  // namespace neuroncheck::scanner::pt2

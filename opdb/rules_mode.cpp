// SPDX-License-Identifier: Apache-2.0
// Quantised tensors, memory order, devices written into the graph, writes through views,
// collectives.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {
namespace {

bool isQuantised(const TensorSpec& spec) { return kind(spec.dtype) == DTypeKind::Quantized; }
bool isChannelsLast(const TensorSpec& spec) { return spec.isChannelsLast(); }

template <typename Wanted>
void inputsWith(RuleRun& run, std::string_view rule, std::string_view message, Wanted wanted) {
  for (const GraphInput& input : run.model().inputs) {
    forEachTensor(input.value, [&](const TensorValue& tensor) {
      if (wanted(tensor.spec)) {
        Finding& finding = run.finding(rule);
        finding.message = message;
        finding.places.push_back(
            run.place(input.name, fmt::format("the input is {}", run.tensorText(tensor))));
      }
    });
  }
}

void quantised(RuleRun& run) {
  constexpr std::string_view kMessage =
      "No source says that the backend takes quantised tensors; only per-channel schemes are "
      "refused in so many words.";
  for (const OpUse& use : run.model().uses) {
    if (touchesDevice(use.group) && anyTensor(use, isQuantised)) {
      Finding& finding = run.finding("NC503");
      finding.message = kMessage;
      finding.places.push_back(run.place(use, run.tensorDetail(use, isQuantised)));
    }
  }
  inputsWith(run, "NC503", kMessage, isQuantised);
}

bool isTargetDevice(const Device& device) {
  return device.type.empty() || device.type == "neuron" || device.type == "privateuseone" ||
         device.type == "meta";
}

template <typename Use>
void bakedDevice(RuleRun& run, const Use& use, const Device& device, std::string detail) {
  if (isTargetDevice(device)) {
    return;
  }
  Finding& finding = run.finding("NC511");
  finding.message =
      "The graph names a device. Run as it is on the target, these operators make or want "
      "tensors elsewhere: operands on two devices, or a failing check.";
  finding.places.push_back(run.place(use, std::move(detail)));
}

template <typename Use>
void bakedArguments(RuleRun& run, const Use& use) {
  for (const Argument& argument : use.args) {
    if (const auto* device = std::get_if<Device>(&argument.value)) {
      bakedDevice(run, use, *device,
                  fmt::format("{} is {}{}", argument.name.empty() ? "an argument" : argument.name,
                              device->str(), argument.isDefault ? " (default)" : ""));
    }
  }
}

void bakedDevices(RuleRun& run) {
  for (const OpUse& use : run.model().uses) {
    bakedArguments(run, use);
  }
  for (const HigherOrderUse& use : run.model().higherOrder) {
    bakedArguments(run, use);
  }
  for (const DeviceLiteral& literal : run.model().deviceLiterals) {
    bakedDevice(run, literal, literal.device,
                fmt::format("device is {} (a builtin of the interpreter)", literal.device.str()));
  }
}

/// Names of tensors, each with its graph, that are results of views.
class Views {
 public:
  void note(const OpUse& use) {
    if (use.group != OpGroup::View) {
      return;
    }
    for (const ArgValue& output : use.outputs) {
      forEachTensor(output, [&](const TensorValue& tensor) { names_.insert(key(use, tensor)); });
    }
  }
  [[nodiscard]] bool has(const OpUse& use, const TensorValue& tensor) const {
    return names_.contains(key(use, tensor));
  }

 private:
  static std::string key(const OpUse& use, const TensorValue& tensor) {
    return use.graph + '\0' + tensor.name;
  }
  std::unordered_set<std::string> names_;
};

void writesThroughViews(RuleRun& run) {
  Views views;
  for (const OpUse& use : run.model().uses) {
    views.note(use);
    const OpInfo* info = touchesDevice(use.group) ? run.info(use) : nullptr;
    if (info == nullptr) {
      continue;
    }
    for (const SchemaArgument& schema : info->schema.arguments) {
      const TensorValue* written = schema.written ? tensorOf(use.arg(schema.name)) : nullptr;
      if (written == nullptr || !views.has(use, *written)) {
        continue;
      }
      Finding& finding = run.finding("NC513");
      finding.message =
          "The operator writes through a view of another tensor. Users saw masked writes of this "
          "kind give wrong values on the device without an error.";
      finding.places.push_back(
          run.place(use, fmt::format("{} is a view, {}", schema.name, run.tensorText(*written))));
    }
  }
}

std::string groupText(RuleRun& run, const OpUse& use) {
  const Argument* size = use.arg("group_size");
  const Argument* group = use.arg("group_name");
  std::string out;
  if (size != nullptr) {
    out = fmt::format("{} ranks", run.valueText(size->value));
  }
  if (group != nullptr) {
    out += fmt::format("{}group {}", out.empty() ? "" : ", ", run.valueText(group->value));
  }
  return out;
}

bool unevenSplits(const OpUse& use) {
  for (const std::string_view name : {"output_split_sizes", "input_split_sizes"}) {
    const Argument* argument = use.arg(name);
    const auto* list =
        argument == nullptr ? nullptr : std::get_if<std::vector<SymIntValue>>(&argument->value);
    if (list != nullptr && std::ranges::any_of(*list, [list](const SymIntValue& v) {
          return !(v.value == list->front().value);
        })) {
      return true;
    }
  }
  return false;
}

/// What of a collective the backend's source refuses; empty when nothing.
std::string refusal(RuleRun& run, const OpUse& use) {
  const Argument* reduce = use.arg("reduce_op");
  const auto* kind = reduce == nullptr ? nullptr : std::get_if<std::string>(&reduce->value);
  if (kind != nullptr && (*kind == "product" || *kind == "PRODUCT")) {
    return "reduces with product";
  }
  if (unevenSplits(use)) {
    return "splits are not equal";
  }
  const auto refused = [](const TensorSpec& spec) {
    return isComplex(spec.dtype) || isFloat8(spec.dtype);
  };
  return anyTensor(use, refused) ? run.tensorDetail(use, refused) : std::string();
}

void collectives(RuleRun& run) {
  for (const OpUse& use : run.model().uses) {
    if (use.group != OpGroup::Collective) {
      continue;
    }
    Finding& finding = run.finding("NC517");
    finding.message =
        "The graph communicates between ranks: their number and order are part of it.";
    finding.places.push_back(run.place(use, groupText(run, use)));
    if (std::string why = refusal(run, use); !why.empty()) {
      Finding& refused = run.finding("NC518");
      refused.message = "The backend's source refuses collectives of this kind.";
      refused.places.push_back(run.place(use, std::move(why)));
    }
  }
}

}  // namespace

void runModeRules(RuleRun& run) {
  quantised(run);
  inputsWith(run, "NC510",
             "These tensors enter the graph in channels_last order, and the backend takes only "
             "contiguous ones; some paths (group_norm, copies) raise on it.",
             isChannelsLast);
  bakedDevices(run);
  writesThroughViews(run);
  collectives(run);
}

}  // namespace neuroncheck::opdb

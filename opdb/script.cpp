// SPDX-License-Identifier: Apache-2.0
#include "opdb/script.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::opdb {
namespace {

/// The use as one of its overloads, with arguments of which nothing is known.
OpUse asOverload(const OpUse& use, const OpInfo& info) {
  OpUse out = use;
  out.op = info.schema.name;
  out.inCatalogue = true;
  out.args.clear();
  for (const SchemaArgument& argument : info.schema.arguments) {
    ArgValue value = OpaqueValue{.kind = "computed", .json = argument.typeText};
    if (argument.type == SchemaType::Tensor && !argument.list) {
      TensorSpec spec;
      spec.hasShape = false;
      value = std::make_shared<const TensorValue>(TensorValue{.name = argument.name, .spec = spec});
    }
    out.args.push_back({.name = argument.name, .value = std::move(value), .isDefault = false});
  }
  return out;
}

/// Work of the device on a tensor of which not even the dtype is known: rules about dtypes were
/// not checked on it.
bool hasUnknownOperand(const OpUse& use) {
  bool unknown = false;
  for (const Argument& argument : use.args) {
    forEachTensor(argument.value, [&unknown](const TensorValue& tensor) {
      unknown = unknown || tensor.spec.dtype == DType::Unknown;
    });
  }
  return unknown && isDeviceWork(use.group);
}

std::int64_t callsNotFollowed(const Model& model) {
  std::int64_t calls = 0;
  for (const char* kind : {"prim::CallMethod", "prim::CallFunction"}) {
    const auto found = model.primOps.find(kind);
    calls += found == model.primOps.end() ? 0 : found->second;
  }
  return calls;
}

std::string tensorInputs(const Model& model) {
  std::vector<std::string> names;
  for (const GraphInput& input : model.inputs) {
    if (input.kind == "USER_INPUT" && std::holds_alternative<TensorPtr>(input.value)) {
      names.push_back(input.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

UseClaim claimOfName(const OpUse& use, const Database& database, ClaimEngine& engine) {
  std::vector<UseClaim> claims;
  for (const OpName& overload : database.overloads(use.op.packet())) {
    const OpInfo* info = database.find(overload);
    if (info != nullptr && !info->schema.isOut()) {
      claims.push_back(engine.claim(asOverload(use, *info)));
    }
  }
  if (claims.empty()) {
    return engine.claim(use);
  }
  const Claim first = claims.front().claim;
  const bool same =
      std::ranges::all_of(claims, [first](const UseClaim& claim) { return claim.claim == first; });
  const bool refused = first == Claim::Unsupported || first == Claim::CpuFallback ||
                       first == Claim::CpuFallbackView || first == Claim::NoDeviceWork;
  if (same && refused) {
    UseClaim claim = std::move(claims.front());
    claim.use = use.id;
    claim.confidence = weakest(claim.confidence, Confidence::Low);
    claim.caseIds.clear();
    return claim;
  }
  UseClaim claim;
  claim.use = use.id;
  claim.reason =
      claims.size() == 1
          ? fmt::format("{} is known by name only: the source does not name its operands.",
                        use.op.str())
          : fmt::format(
                "{} may be any of its {} overloads: the source names neither overload nor "
                "operands.",
                use.op.str(), claims.size());
  claim.remedy =
      "Export the model, or read the file with libtorch where that can load it "
      "(tools/get_torch.sh).";
  return claim;
}

std::vector<NotChecked> openInScript(const Model& model) {
  std::vector<NotChecked> open;
  if (model.shapes == ShapeOrigin::Recorded || model.operatorFree) {
    return open;
  }
  if (model.approximate) {
    open.push_back({.what = "overloads, operands and shapes of every operator",
                    .why = "only the names in the readable source are known",
                    .how = "build neuron-check-torch (tools/get_torch.sh), or export the model"});
  } else if (const std::string inputs = tensorInputs(model);
             model.shapes == ShapeOrigin::Unknown && !inputs.empty()) {
    open.push_back(
        {.what = "shapes and dtypes that depend on inputs",
         .why = "TorchScript does not record them, and claims that hang on them are open",
         .how = fmt::format("--input-shape 1x3x224x224 (or 1x128:int64), once for each "
                            "tensor that {} takes: {}",
                            model.name, inputs)});
  }
  if (const std::int64_t calls = callsNotFollowed(model); calls > 0) {
    open.push_back({.what = fmt::format("{} calls through an interface", calls),
                    .why = "which code they reach is decided when the model runs; its operators "
                           "are not listed",
                    .how = "export the model"});
  }
  return open;
}

bool isPartlyRead(const Model& model) {
  if (model.shapes == ShapeOrigin::Recorded) {
    return false;
  }
  const bool raises = std::ranges::any_of(
      model.notes, [](const std::string& note) { return note.starts_with(kRaisesNote); });
  return model.approximate || raises || callsNotFollowed(model) > 0 ||
         std::ranges::any_of(model.uses, hasUnknownOperand);
}

}  // namespace neuroncheck::opdb

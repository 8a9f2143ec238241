// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <string>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<2>::Names kSignature = {"input_specs", "output_specs"};

/// A member of the InputSpec or OutputSpec union: torch's name of the kind, and the field that
/// names the target.
struct SpecKind {
  std::string_view member;
  std::string_view kind;
  std::string_view targetField;
};
constexpr std::array<SpecKind, 7> kInputKinds = {{
    {.member = "user_input", .kind = "USER_INPUT", .targetField = ""},
    {.member = "parameter", .kind = "PARAMETER", .targetField = "parameter_name"},
    {.member = "buffer", .kind = "BUFFER", .targetField = "buffer_name"},
    {.member = "tensor_constant", .kind = "CONSTANT_TENSOR", .targetField = "tensor_constant_name"},
    {.member = "custom_obj", .kind = "CUSTOM_OBJ", .targetField = "custom_obj_name"},
    {.member = "token", .kind = "TOKEN", .targetField = ""},
    {.member = "constant_input", .kind = "CONSTANT_INPUT", .targetField = ""},
}};
constexpr std::array<SpecKind, 8> kOutputKinds = {{
    {.member = "user_output", .kind = "USER_OUTPUT", .targetField = ""},
    {.member = "loss_output", .kind = "LOSS_OUTPUT", .targetField = ""},
    {.member = "buffer_mutation", .kind = "BUFFER_MUTATION", .targetField = "buffer_name"},
    {.member = "parameter_mutation", .kind = "PARAMETER_MUTATION", .targetField = "parameter_name"},
    {.member = "gradient_to_parameter",
     .kind = "GRADIENT_TO_PARAMETER",
     .targetField = "parameter_name"},
    {.member = "gradient_to_user_input",
     .kind = "GRADIENT_TO_USER_INPUT",
     .targetField = "user_input_name"},
    {.member = "user_input_mutation",
     .kind = "USER_INPUT_MUTATION",
     .targetField = "user_input_name"},
    {.member = "token", .kind = "TOKEN", .targetField = ""},
}};

/// The graph's own name of a value; of a constant its text, as torch prints it.
std::string nameOf(const ArgValue& value) {
  if (const auto* tensor = std::get_if<TensorPtr>(&value)) {
    return *tensor == nullptr ? "None" : (*tensor)->name;
  }
  std::string name;
  if (const auto* number = std::get_if<SymIntValue>(&value)) {
    name = number->name;
  } else if (const auto* real = std::get_if<SymFloat>(&value)) {
    name = real->name;
  } else if (const auto* flag = std::get_if<SymBool>(&value)) {
    name = flag->name;
  } else if (const auto* object = std::get_if<CustomObject>(&value)) {
    name = object->name;
  }
  return name.empty() ? text(value) : name;
}

struct Spec {
  std::string kind;
  std::string target;
  std::string name;  ///< of a constant input; others are named by the graph
  std::optional<bool> persistent;
};

Result<Spec> readSpec(Json value, std::span<const SpecKind> kinds, Notes& notes) {
  NEURONCHECK_TRY(const UnionMember member, asUnion(value, "the spec"));
  const auto known = std::ranges::find(kinds, member.key, &SpecKind::member);
  Spec spec;
  if (known == kinds.end()) {
    spec.kind = member.key;
    std::ranges::transform(spec.kind, spec.kind.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    notes.add(fmt::format("signature kind '{}' is not known", member.key.substr(0, 80)));
    return spec;
  }
  spec.kind = known->kind;
  const Fields<3>::Names names = {known->targetField.empty() ? "name" : known->targetField, "arg",
                                  "persistent"};
  NEURONCHECK_TRY(const auto fields, Fields<3>::read(member.value, names, member.key));
  if (!known->targetField.empty()) {
    NEURONCHECK_TRY(const Json target, fields.need(0, names, member.key));
    NEURONCHECK_TRY(spec.target, asString(target, known->targetField));
  } else if (known->kind == "CONSTANT_INPUT") {
    NEURONCHECK_TRY(const Json name, fields.need(0, names, member.key));
    NEURONCHECK_TRY(spec.name, asString(name, "name"));
  }
  if (fields.has(2)) {
    NEURONCHECK_TRY(spec.persistent, asBool(fields[2], "persistent"));
  }
  return spec;
}

/// Reads the specs beside the values; `add` gets each pair.
template <typename Add>
Result<void> readSpecs(Json list, std::string_view what, std::span<const SpecKind> kinds,
                       const std::vector<ArgValue>& values, Notes& notes, Add add) {
  NEURONCHECK_TRY(const simdjson::dom::array specs, asArray(list, what));
  if (specs.size() != values.size()) {
    return inputError(
        fmt::format("{} has {} entries, the graph has {}", what, specs.size(), values.size()));
  }
  std::size_t index = 0;
  for (const Json item : specs) {
    auto spec = readSpec(item, kinds, notes);
    if (!spec) {
      return tl::unexpected(std::move(spec).error().within(fmt::format("{} {}", what, index)));
    }
    add(std::move(*spec), values[index]);
    ++index;
  }
  return {};
}

/// Older signatures list a tied parameter once per use, under one name.
void addStored(const GraphInput& input, std::set<std::string, std::less<>>& names, Model& model) {
  const bool isParameter = input.kind == "PARAMETER";
  if (!isParameter && input.kind != "BUFFER" && input.kind != "CONSTANT_TENSOR") {
    return;
  }
  const auto* tensor = std::get_if<TensorPtr>(&input.value);
  if (tensor != nullptr && *tensor != nullptr && names.insert(input.target).second) {
    model.stored.push_back({.name = input.target,
                            .spec = (*tensor)->spec,
                            .record = {},
                            .recordBytes = -1,
                            .isParameter = isParameter});
  }
}

}  // namespace

Result<void> readSignature(Json signature, const std::vector<ArgValue>& graphInputs,
                           const std::vector<ArgValue>& graphOutputs, Model& model, Notes& notes) {
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(signature, kSignature, "signature"));
  NEURONCHECK_TRY(const Json inputs, fields.need(0, kSignature, "signature"));
  NEURONCHECK_TRY(const Json outputs, fields.need(1, kSignature, "signature"));
  std::set<std::string, std::less<>> storedNames;
  NEURONCHECK_TRY_VOID(
      readSpecs(inputs, kSignature[0], kInputKinds, graphInputs, notes,
                [&](Spec spec, const ArgValue& value) {
                  GraphInput input{.name = spec.name.empty() ? nameOf(value) : std::move(spec.name),
                                   .kind = std::move(spec.kind),
                                   .target = std::move(spec.target),
                                   .persistent = spec.persistent,
                                   .value = value};
                  addStored(input, storedNames, model);
                  model.inputs.push_back(std::move(input));
                }));
  return readSpecs(outputs, kSignature[1], kOutputKinds, graphOutputs, notes,
                   [&](Spec spec, const ArgValue& value) {
                     model.outputs.push_back({.name = nameOf(value),
                                              .kind = std::move(spec.kind),
                                              .target = std::move(spec.target),
                                              .value = value});
                   });
}

}  // namespace neuroncheck::scanner::pt2

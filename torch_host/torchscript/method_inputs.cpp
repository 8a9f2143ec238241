// SPDX-License-Identifier: Apache-2.0
// What a method is given: tensors of the shapes that the user said, and its own defaults.
#include <ATen/ops/empty_strided.h>
#include <c10/util/strides.h>

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_host/torchscript/method_walk.h"
#include "torch_host/torchscript/vocabulary.h"

namespace neuroncheck::torchscript {
namespace {

namespace jit = torch::jit;

Result<at::Tensor> tensorOf(const InputShape& shape) {
  const auto refused = [&shape]() {
    return fail(
        ErrorCode::Usage,
        fmt::format("--input-shape {}: no tensor can be made of that dtype alone", shape.str()));
  };
  const auto type = scalarTypeOf(shape.dtype);
  if (!type) {
    return refused();
  }
  try {
    const auto options = at::TensorOptions(c10::kMeta).dtype(c10::scalarTypeToTypeMeta(*type));
    return at::empty_strided(shape.sizes, c10::contiguous_strides(shape.sizes), options);
  } catch (const c10::Error&) {
    return refused();  // a quantised type has more to it than a dtype
  }
}

/// "scale=0.5", at most some letters of it.
std::string shown(const c10::Argument& argument) {
  constexpr std::size_t kLongest = 60;
  std::ostringstream text;
  text << argument.name() << '=' << *argument.default_value();
  std::string out = text.str();
  return out.size() <= kLongest ? out : out.substr(0, kLongest) + "...";
}

}  // namespace

Result<void> MethodWalk::bindInputs(jit::Graph& graph, const c10::FunctionSchema& schema,
                                    const std::vector<InputShape>& shapes) {
  known_.set(graph.inputs().front(), module_._ivalue());
  std::vector<std::string> tensors;
  std::vector<std::string> defaults;
  for (std::size_t i = 1; i < graph.inputs().size(); ++i) {
    const jit::Value* input = graph.inputs()[i];
    const std::string name = input->debugNameBase();
    const bool declared = !shapes.empty() && i < schema.arguments().size();
    if (input->type()->kind() == c10::TypeKind::TensorType) {
      if (tensors.size() < shapes.size()) {
        NEURONCHECK_TRY(at::Tensor tensor, tensorOf(shapes[tensors.size()]));
        known_.set(input, std::move(tensor));
      }
      tensors.push_back(name);
    } else if (declared && schema.arguments()[i].default_value()) {
      // A copy: the schema is everybody's.
      known_.set(input, schema.arguments()[i].default_value()->deepcopy());
      defaults.push_back(shown(schema.arguments()[i]));
    }
    model_.inputs.push_back({.name = name,
                             .kind = "USER_INPUT",
                             .target = {},
                             .persistent = std::nullopt,
                             .value = argumentOf(*input, input->type())});
  }
  if (shapes.size() > tensors.size()) {
    return fail(ErrorCode::Usage,
                fmt::format("{} takes {} tensors ({}), but {} input shapes are given; lists, "
                            "dictionaries and optional tensors cannot be given",
                            model_.name, tensors.size(), fmt::join(tensors, ", "), shapes.size()));
  }
  if (!shapes.empty() && shapes.size() < tensors.size()) {
    model_.notes.push_back(fmt::format("no shape is given for {}", tensors[shapes.size()]));
  }
  if (!defaults.empty()) {
    model_.notes.push_back(fmt::format("shapes are followed with the defaults of {}: {}",
                                       model_.name, fmt::join(defaults, ", ")));
  }
  return {};
}

}  // namespace neuroncheck::torchscript

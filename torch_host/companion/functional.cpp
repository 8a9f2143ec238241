// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/functional.h"

#include <map>

namespace neuroncheck::companion {
namespace {

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool writes(const c10::FunctionSchema& schema) {
  for (const c10::Argument& argument : schema.arguments()) {
    if (writes(argument)) {
      return true;
    }
  }
  return false;
}

/// Its arguments in order, each by the name and type of one of `original`'s, and none of those left
/// but outputs.
std::optional<torch::jit::Stack> argumentsFor(const c10::FunctionSchema& twin,
                                              const c10::FunctionSchema& original,
                                              const torch::jit::Stack& given) {
  torch::jit::Stack out;
  for (const c10::Argument& argument : twin.arguments()) {
    const auto index = original.argumentIndexWithName(argument.name());
    if (index) {
      const auto position = static_cast<std::size_t>(*index);
      if (*argument.type() != *original.arguments()[position].type()) {
        return std::nullopt;
      }
      out.push_back(given.at(position));
    } else if (argument.default_value()) {
      out.push_back(*argument.default_value());
    } else {
      return std::nullopt;
    }
  }
  for (const c10::Argument& argument : original.arguments()) {
    if (!twin.argumentIndexWithName(argument.name()) && !argument.is_out()) {
      return std::nullopt;
    }
  }
  return out;
}

/// Overloads of each base name, of those that write nothing; made once.
const std::multimap<std::string, c10::OperatorHandle>& functionalOverloads() {
  static const auto all = [] {
    std::multimap<std::string, c10::OperatorHandle> out;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
      const auto op = c10::Dispatcher::singleton().findSchema(name);
      if (op && !writes(op->schema())) {
        out.emplace(name.name, *op);
      }
    }
    return out;
  }();
  return all;
}

}  // namespace

std::string functionalName(const std::string& name) {
  const bool inPlace = name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_';
  return inPlace ? name.substr(0, name.size() - 1) : name;
}

FunctionalCall::FunctionalCall(const Call& call) : original_(call) {
  if (!writes(call.op.schema())) {
    return;
  }
  const auto [first, last] =
      functionalOverloads().equal_range(functionalName(call.op.schema().name()));
  for (auto each = first; each != last; ++each) {
    if (auto arguments = argumentsFor(each->second.schema(), call.op.schema(), call.arguments)) {
      twin_ = each->second;
      arguments_ = *std::move(arguments);
      return;
    }
  }
}

Call FunctionalCall::call() const {
  if (!twin_) {
    return original_;
  }
  return {*twin_,           arguments_,       original_.truth,
          original_.output, original_.length, original_.accumulatorRoundoff};
}

}  // namespace neuroncheck::companion

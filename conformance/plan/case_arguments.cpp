// SPDX-License-Identifier: Apache-2.0
#include "conformance/plan/case_arguments.h"

#include <algorithm>

namespace neuroncheck::conformance {

CaseArguments::CaseArguments(const CaseStep& step, const FunctionSchema* schema)
    : step_(step), schema_(schema) {
  std::size_t position = 0;
  for (const CaseArgument& argument : step.args) {
    std::string known = argument.name;
    if (known.empty() && schema != nullptr && position < schema->arguments.size()) {
      known = schema->arguments[position].name;
    }
    position += argument.name.empty() ? 1 : 0;
    name(argument.value, known);
    names_.push_back(std::move(known));
  }
}

void CaseArguments::name(const CaseValue& value, const std::string& argument) {
  if (std::holds_alternative<CaseTensor>(value.value)) {
    ofOperands_.push_back(argument);
  } else if (const auto* list = std::get_if<CaseList>(&value.value)) {
    for (const CaseValue& item : list->items) {
      name(item, argument);
    }
  }
}

const CaseValue* CaseArguments::find(std::string_view wanted) const {
  const auto found = std::ranges::find(names_, wanted);
  return found == names_.end()
             ? nullptr
             : &step_.args[static_cast<std::size_t>(found - names_.begin())].value;
}

std::optional<std::int64_t> CaseArguments::integer(std::string_view wanted) const {
  if (const CaseValue* value = find(wanted)) {
    if (const auto* number = std::get_if<std::int64_t>(&value->value)) {
      return *number;
    }
    const auto* flag = std::get_if<bool>(&value->value);
    return flag != nullptr ? std::optional<std::int64_t>(*flag ? 1 : 0) : std::nullopt;
  }
  if (schema_ == nullptr) {
    return std::nullopt;
  }
  const auto declared = std::ranges::find(schema_->arguments, wanted, &SchemaArgument::name);
  if (declared == schema_->arguments.end() || !declared->defaultValue) {
    return std::nullopt;
  }
  if (const auto* number = std::get_if<SymIntValue>(&*declared->defaultValue)) {
    return number->value.value;
  }
  const auto* flag = std::get_if<SymBool>(&*declared->defaultValue);
  return flag != nullptr ? std::optional<std::int64_t>(flag->value ? 1 : 0) : std::nullopt;
}

std::optional<double> CaseArguments::number(std::string_view wanted) const {
  if (const CaseValue* value = find(wanted)) {
    if (const auto* real = std::get_if<double>(&value->value)) {
      return *real;
    }
  } else if (schema_ != nullptr) {
    const auto declared = std::ranges::find(schema_->arguments, wanted, &SchemaArgument::name);
    if (declared != schema_->arguments.end() && declared->defaultValue) {
      if (const auto* real = std::get_if<SymFloat>(&*declared->defaultValue)) {
        return real->value;
      }
    }
  }
  const auto whole = integer(wanted);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> CaseArguments::sizes(std::string_view wanted) const {
  const CaseValue* value = find(wanted);
  const auto* tensor = value == nullptr ? nullptr : std::get_if<CaseTensor>(&value->value);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->sizes);
}

numerics::OperandFacts CaseArguments::facts() const {
  return {.sizes = [this](std::string_view name) { return sizes(name); },
          .integer = [this](std::string_view name) { return integer(name); }};
}

}  // namespace neuroncheck::conformance

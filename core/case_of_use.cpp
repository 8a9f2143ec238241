// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include "core/content_hash.h"

#include "core/case_parser.h"

namespace neuroncheck {
namespace {

std::optional<std::vector<std::int64_t>> concrete(const std::vector<SymInt>& values) {
  std::vector<std::int64_t> out;
  for (const SymInt& value : values) {
    if (value.isSymbolic()) {
      return std::nullopt;
    }
    out.push_back(value.value);
  }
  return out;
}

/// Builds the values of one step; remembers tensors by name, so that one value given twice becomes
/// an alias.
class CaseBuilder {
 public:
  using Value = std::optional<CaseValue>;

  Value operator()(const NoneValue&) { return CaseValue{CaseNone{}}; }
  Value operator()(const TensorPtr& tensor) {
    return tensor ? operand(*tensor) : CaseValue{CaseNone{}};
  }
  Value operator()(const TensorList& value) { return list(value.items); }
  Value operator()(const SymIntValue& value) {
    return value.value.isSymbolic() ? Value() : CaseValue{value.value.value};
  }
  Value operator()(std::int64_t value) { return CaseValue{value}; }
  Value operator()(double value) { return CaseValue{value}; }
  Value operator()(const SymFloat& value) { return value.expr ? Value() : CaseValue{value.value}; }
  Value operator()(const SymBool& value) { return value.expr ? Value() : CaseValue{value.value}; }
  Value operator()(const std::string& value) { return CaseValue{value}; }
  Value operator()(DType value) { return CaseValue{value}; }
  Value operator()(MemoryFormat value) { return CaseValue{value}; }
  Value operator()(Layout value) { return CaseValue{value}; }
  Value operator()(const Device& value) { return CaseValue{value}; }
  Value operator()(const std::complex<double>& value) { return CaseValue{value}; }
  Value operator()(const GraphRef&) { return std::nullopt; }
  Value operator()(const CustomObject&) { return std::nullopt; }
  Value operator()(const OperatorRef&) { return std::nullopt; }
  Value operator()(const OpaqueValue&) { return std::nullopt; }
  template <typename T>
  Value operator()(const std::vector<T>& values) {
    return list(values);
  }

 private:
  template <typename T>
  Value list(const std::vector<T>& values) {
    CaseList out;
    for (const T& value : values) {
      Value item = (*this)(value);
      if (!item) {
        return std::nullopt;
      }
      out.items.push_back(*std::move(item));
    }
    return CaseValue{std::move(out)};
  }

  Value operand(const TensorValue& tensor) {
    const TensorSpec& spec = tensor.spec;
    const auto sizes = concrete(spec.sizes);
    const auto strides = concrete(spec.strides);
    if (!spec.hasShape || !sizes || !strides || spec.storageOffset.isSymbolic() ||
        spec.layout != Layout::Strided) {
      return std::nullopt;
    }
    CaseTensor out;
    out.dtype = spec.dtype;
    out.sizes = *sizes;
    if (!strides->empty()) {
      out.strides = *strides;
    }
    out.offset = spec.storageOffset.value;
    const auto [first, isNew] = operands_.try_emplace(tensor.name, count_);
    if (!isNew && !tensor.name.empty()) {
      out.alias = fmt::format("%{}", first->second);
    }
    ++count_;
    return CaseValue{std::move(out)};
  }

  std::map<std::string, std::size_t> operands_;
  std::size_t count_ = 0;
};

const Argument* given(const OpUse& use, std::string_view argumentName) {
  const auto found = std::ranges::find_if(use.args, [&](const Argument& argument) {
    return argument.name == argumentName && !argument.isDefault;
  });
  return found == use.args.end() ? nullptr : &*found;
}

bool isDevice(const Argument& argument) { return std::holds_alternative<Device>(argument.value); }

/// An argument of the use and whether the case names it.
struct Chosen {
  const Argument* argument;
  bool named;
};

std::vector<Chosen> chooseNamed(const OpUse& use) {
  std::vector<Chosen> out;
  for (const Argument& argument : use.args) {
    if (!argument.isDefault && !isDevice(argument)) {
      out.push_back({&argument, true});
    }
  }
  return out;
}

/// nullopt when the use has an argument the schema does not know.
std::optional<std::vector<Chosen>> chooseBySchema(const OpUse& use, const FunctionSchema& schema) {
  std::vector<Chosen> out;
  bool named = false;
  for (const SchemaArgument& expected : schema.arguments) {
    const Argument* argument = given(use, expected.name);
    const bool leftOut =
        argument == nullptr || isDevice(*argument) ||
        (expected.defaultValue && sameValue(argument->value, *expected.defaultValue));
    named = named || leftOut || expected.keywordOnly;
    if (!leftOut) {
      out.push_back({argument, named});
    }
  }
  const bool known = std::ranges::all_of(use.args, [&](const Argument& argument) {
    return schema.argument(argument.name) != nullptr;
  });
  return known ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<CaseSpec> caseOf(const OpUse& use, const FunctionSchema* schema) {
  auto chosen = schema != nullptr ? chooseBySchema(use, *schema) : std::optional(chooseNamed(use));
  if (!chosen) {
    chosen = chooseNamed(use);
  }
  CaseBuilder build;
  CaseStep step{use.op, {}};
  for (const Chosen& choice : *chosen) {
    auto value = std::visit(build, choice.argument->value);
    if (!value) {
      return std::nullopt;
    }
    step.args.push_back({choice.named ? choice.argument->name : std::string(), *std::move(value)});
  }
  CaseSpec spec;
  spec.steps.push_back(std::move(step));
  auto canonical = case_detail::canonical(std::move(spec));
  return canonical ? std::optional(*std::move(canonical)) : std::nullopt;
}

std::uint64_t CaseSpec::identity() const {
  const std::string text = str();
  return contentHash(text);
}

std::string CaseSpec::id() const { return fmt::format("{:016x}", identity()); }

std::uint64_t attemptSeed(const CaseSpec& spec, std::string_view fill, std::uint64_t runSeed) {
  return spec.identity() ^ contentHash(fill) ^ runSeed;
}

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/case_parser.h"
#include "core/text_cursor.h"

namespace neuroncheck::case_detail {
namespace {

/// Elements of a shape; nullopt when the product does not fit.
std::optional<std::uint64_t> elements(const std::vector<std::int64_t>& sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    return 0;
  }
  std::uint64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      return std::nullopt;
    }
  }
  return product;
}

bool isContiguous(const CaseTensor& tensor) {
  std::int64_t expected = 1;
  for (std::size_t dim = tensor.sizes.size(); dim-- > 0;) {
    if ((*tensor.strides)[dim] != expected ||
        __builtin_mul_overflow(expected, std::max<std::int64_t>(tensor.sizes[dim], 1), &expected)) {
      return false;
    }
  }
  return true;
}

bool isName(std::string_view text) {
  TextCursor cursor(text);
  return !text.empty() && cursor.identifier() == text;
}

/// The operator's text reads back as the same operator.
bool isWritable(const OpName& op) {
  const auto allowed = [](char c) {
    return TextCursor::isNameStart(c) || TextCursor::isDigit(c) || c == '.' || c == ':';
  };
  const std::string text = op.str();
  return std::ranges::all_of(text, allowed) && OpName::parse(text) == op;
}

/// Walks one step, operand by operand.
class StepCheck {
 public:
  StepCheck(CaseStep& step, std::size_t index) : step_(step), index_(index) {}

  Result<void> run() {
    if (!isWritable(step_.op)) {
      return inputError(fmt::format("step {}: \"{}\" is no operator name", index_, step_.op.str()));
    }
    std::set<std::string_view> names;
    bool named = false;
    for (CaseArgument& argument : step_.args) {
      if (argument.name.empty() && named) {
        return inputError(
            fmt::format("{}: a positional argument after a named one", step_.op.str()));
      }
      named = named || !argument.name.empty();
      if (!argument.name.empty() && !names.insert(argument.name).second) {
        return inputError(
            fmt::format("{}: argument {} occurs twice", step_.op.str(), argument.name));
      }
      if (!argument.name.empty() && !isName(argument.name)) {
        return inputError(
            fmt::format("{}: \"{}\" is no argument name", step_.op.str(), argument.name));
      }
      NEURONCHECK_TRY_VOID(value(argument.value, 0));
    }
    return {};
  }

 private:
  Result<void> value(CaseValue& value, int depth) {
    if (auto* tensor = std::get_if<CaseTensor>(&value.value)) {
      return checkTensor(*tensor);
    }
    if (const auto* result = std::get_if<CaseResult>(&value.value)) {
      if (result->step < 0 || static_cast<std::size_t>(result->step) >= index_ ||
          result->output < 0) {
        return inputError(fmt::format("{}: ${}.{} is no result of an earlier step", step_.op.str(),
                                      result->step, result->output));
      }
    }
    if (isUnknownWord(value)) {
      return inputError(fmt::format(
          "{}: an argument is an unknown dtype, layout, memory format or device", step_.op.str()));
    }
    if (auto* list = std::get_if<CaseList>(&value.value)) {
      if (depth >= kMaxListDepth) {
        return inputError(
            fmt::format("{}: lists nested deeper than {}", step_.op.str(), kMaxListDepth));
      }
      for (CaseValue& item : list->items) {
        NEURONCHECK_TRY_VOID(this->value(item, depth + 1));
      }
    }
    return {};
  }

  static bool isUnknownWord(const CaseValue& value) {
    const auto* dtype = std::get_if<DType>(&value.value);
    const auto* format = std::get_if<MemoryFormat>(&value.value);
    const auto* layout = std::get_if<Layout>(&value.value);
    const auto* device = std::get_if<Device>(&value.value);
    return (dtype != nullptr && *dtype == DType::Unknown) ||
           (format != nullptr && *format == MemoryFormat::Unknown) ||
           (layout != nullptr && *layout == Layout::Unknown) ||
           (device != nullptr && !isName(device->type));
  }

  Result<void> checkTensor(CaseTensor& tensor) {
    const std::size_t operand = operands_++;
    const auto bad = [&](std::string_view what) {
      return inputError(fmt::format("{}: tensor operand {}: {}", step_.op.str(), operand, what));
    };
    const auto negative = [](const std::vector<std::int64_t>& values) {
      return std::ranges::any_of(values, [](std::int64_t value) { return value < 0; });
    };
    if (tensor.dtype == DType::Unknown) {
      return bad("the dtype is not known");
    }
    if (negative(tensor.sizes) || tensor.offset < 0) {
      return bad("a size or the offset is negative");
    }
    if (tensor.strides) {
      if (negative(*tensor.strides) || tensor.strides->size() != tensor.sizes.size()) {
        return bad("strides are negative or not as many as sizes");
      }
      if (isContiguous(tensor)) {
        tensor.strides.reset();
      }
    }
    if (tensor.literal && elements(tensor.sizes) != tensor.literal->size()) {
      return bad("literal values are not as many as elements");
    }
    if (tensor.alias) {
      const auto base = aliasOperand(*tensor.alias);
      if (!base || *base >= operand) {
        return bad(fmt::format("{} is no earlier tensor operand", *tensor.alias));
      }
    }
    return {};
  }

  CaseStep& step_;
  std::size_t index_;
  std::size_t operands_ = 0;
};

void collect(const CaseValue& value, std::vector<const CaseTensor*>& out) {
  if (const auto* tensor = std::get_if<CaseTensor>(&value.value)) {
    out.push_back(tensor);
  } else if (const auto* list = std::get_if<CaseList>(&value.value)) {
    for (const CaseValue& item : list->items) {
      collect(item, out);
    }
  }
}

}  // namespace

Result<CaseSpec> canonical(CaseSpec spec) {
  if (spec.steps.empty() || spec.steps.size() > kMaxSteps) {
    return inputError(
        fmt::format("a case has 1 to {} steps, not {}", kMaxSteps, spec.steps.size()));
  }
  for (std::size_t index = 0; index < spec.steps.size(); ++index) {
    NEURONCHECK_TRY_VOID(StepCheck(spec.steps[index], index).run());
  }
  return spec;
}

std::vector<const CaseTensor*> tensorOperands(const CaseStep& step) {
  std::vector<const CaseTensor*> out;
  for (const CaseArgument& argument : step.args) {
    collect(argument.value, out);
  }
  return out;
}

std::optional<std::size_t> aliasOperand(std::string_view alias) {
  std::size_t number = 0;
  if (!alias.starts_with('%') || alias.size() < 2) {
    return std::nullopt;
  }
  const char* end = alias.data() + alias.size();
  const auto parsed = std::from_chars(alias.data() + 1, end, number);
  const bool padded = alias[1] == '0' && alias.size() > 2;
  return parsed.ec == std::errc() && parsed.ptr == end && !padded ? std::optional(number)
                                                                  : std::nullopt;
}

bool sameGeometry(const CaseTensor& a, const CaseTensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset;
}

}  // namespace neuroncheck::case_detail

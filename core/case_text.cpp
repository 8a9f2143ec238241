// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "core/case_parser.h"

namespace neuroncheck {
namespace {

/// Shortest text that reads back to the same double; an integral one keeps a point, so that 1.0
/// stays a float.
std::string floatText(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  std::string out = fmt::format("{}", value);
  const bool plain = out.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? out + ".0" : out;
}

/// Literal tensor values: the dtype is stated, so integral values need no point.
std::string literalText(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Prints the values of one step; needs the operands before a tensor to know whether an alias
/// repeats their geometry.
class StepPrinter {
 public:
  explicit StepPrinter(const CaseStep& step) : operands_(case_detail::tensorOperands(step)) {}

  std::string operator()(const CaseNone&) { return "None"; }
  std::string operator()(std::int64_t value) { return std::to_string(value); }
  std::string operator()(double value) { return floatText(value); }
  std::string operator()(bool value) { return value ? "True" : "False"; }
  std::string operator()(const std::string& value) { return quoted(value); }
  std::string operator()(DType value) { return std::string(shortName(value)); }
  std::string operator()(MemoryFormat value) { return std::string(name(value)); }
  std::string operator()(Layout value) { return std::string(name(value)); }
  std::string operator()(const Device& value) { return fmt::format("device({})", value.str()); }
  std::string operator()(const std::complex<double>& value) {
    return fmt::format("complex({}, {})", floatText(value.real()), floatText(value.imag()));
  }
  std::string operator()(const CaseResult& value) {
    return value.output == 0 ? fmt::format("${}", value.step)
                             : fmt::format("${}.{}", value.step, value.output);
  }
  std::string operator()(const CaseList& list) {
    std::string out = "[";
    for (const CaseValue& item : list.items) {
      out += out.size() == 1 ? "" : ", ";
      out += std::visit(*this, item.value);
    }
    return out + "]";
  }
  std::string operator()(const CaseTensor& tensor) {
    std::string out;
    bool geometry = true;
    if (tensor.alias) {
      out = *tensor.alias;
      const auto base = case_detail::aliasOperand(*tensor.alias);
      geometry = !base || *base >= operands_.size() ||
                 !case_detail::sameGeometry(*operands_[*base], tensor);
      out += geometry ? ":" : "";
    }
    if (geometry) {
      out += fmt::format("{}[{}]", shortName(tensor.dtype), fmt::join(tensor.sizes, ","));
      if (tensor.strides) {
        out += fmt::format("@({})", fmt::join(*tensor.strides, ","));
      }
      if (tensor.offset != 0) {
        out += fmt::format("+{}", tensor.offset);
      }
    }
    if (tensor.literal) {
      std::string values;
      for (const double value : *tensor.literal) {
        values += values.empty() ? "" : ",";
        values += literalText(value);
      }
      out += "={" + values + "}";
    }
    return out + (tensor.grad ? "^" : "");
  }

 private:
  std::vector<const CaseTensor*> operands_;
};

std::string stepText(const CaseStep& step) {
  StepPrinter print(step);
  std::string positional;
  std::string named;
  for (const CaseArgument& argument : step.args) {
    std::string value = std::visit(print, argument.value.value);
    if (argument.name.empty()) {
      positional += positional.empty() ? "" : ", ";
      positional += value;
    } else {
      named += named.empty() ? "; " : ", ";
      named += argument.name + "=" + value;
    }
  }
  return fmt::format("{}({}{})", step.op.str(), positional, named);
}

}  // namespace

std::string CaseSpec::str() const {
  std::string out;
  for (const CaseStep& step : steps) {
    out += out.empty() ? "" : " ;; ";
    out += stepText(step);
  }
  if (backward) {
    out += " !grad";
  }
  if (expectedError) {
    out += " !error=" + quoted(*expectedError);
  }
  return out;
}

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#include "core/arg_value.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

namespace neuroncheck {
namespace {

std::string textOf(double value) {
  std::string out = fmt::format("{}", value);
  const bool plain = out.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? out + ".0" : out;
}
std::string textOf(std::int64_t value) { return std::to_string(value); }
std::string textOf(NoneValue) { return "None"; }
std::string textOf(const TensorPtr& value) { return value ? value->spec.str() : "None"; }
std::string textOf(const SymIntValue& value) { return value.value.str(); }
std::string textOf(const SymFloat& value) {
  return value.expr ? value.expr->str() : textOf(value.value);
}
std::string textOf(const SymBool& value) {
  if (value.expr) {
    return value.expr->str();
  }
  return value.value ? "True" : "False";
}
std::string textOf(const std::string& value) {
  std::string out = "'";
  for (const char c : value) {
    switch (c) {
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "'";
}
std::string textOf(DType value) { return std::string(name(value)); }
std::string textOf(MemoryFormat value) { return std::string(name(value)); }
std::string textOf(Layout value) { return std::string(name(value)); }
std::string textOf(const Device& value) { return value.str(); }
std::string textOf(const std::complex<double>& value) {
  return fmt::format("({}{:+}j)", value.real(), value.imag());
}
std::string textOf(const GraphRef& value) { return "graph " + value.path; }
std::string textOf(const CustomObject& value) { return "object " + value.className; }
std::string textOf(const OperatorRef& value) { return value.target; }
std::string textOf(const OpaqueValue& value) { return value.kind + " " + value.json; }
std::string textOf(const TensorList& value);

template <typename T>
std::string textOf(const std::vector<T>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "" : ", ";
    out += textOf(values[i]);
  }
  return out + "]";
}
std::string textOf(const TensorList& value) { return textOf(value.items); }

bool same(double a, double b) {
  // Equal bits for a case: 0.0 and -0.0 give different results, all NaNs the same one.
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
bool same(std::int64_t a, std::int64_t b) { return a == b; }
bool same(NoneValue, NoneValue) { return true; }
bool same(const SymExprPtr& a, const SymExprPtr& b) {
  return a == b || (a && b && a->str() == b->str());
}
bool same(const TensorPtr& a, const TensorPtr& b) {
  return a == b || (a && b && a->spec == b->spec);
}
bool same(const SymIntValue& a, const SymIntValue& b) { return a.value == b.value; }
bool same(const SymFloat& a, const SymFloat& b) {
  return same(a.expr, b.expr) && (a.expr || same(a.value, b.value));
}
bool same(const SymBool& a, const SymBool& b) {
  return same(a.expr, b.expr) && (a.expr || a.value == b.value);
}
bool same(const std::string& a, const std::string& b) { return a == b; }
bool same(DType a, DType b) { return a == b; }
bool same(MemoryFormat a, MemoryFormat b) { return a == b; }
bool same(Layout a, Layout b) { return a == b; }
bool same(const Device& a, const Device& b) { return a == b; }
bool same(const std::complex<double>& a, const std::complex<double>& b) {
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}
bool same(const GraphRef& a, const GraphRef& b) { return a.path == b.path; }
bool same(const CustomObject& a, const CustomObject& b) {
  return a.name == b.name && a.className == b.className;
}
bool same(const OperatorRef& a, const OperatorRef& b) { return a.target == b.target; }
bool same(const OpaqueValue& a, const OpaqueValue& b) {
  return a.kind == b.kind && a.json == b.json;
}
bool same(const TensorList& a, const TensorList& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}
bool same(const TensorList& a, const TensorList& b) { return same(a.items, b.items); }

}  // namespace

std::string text(const ArgValue& value) {
  return std::visit([](const auto& v) { return textOf(v); }, value);
}

bool sameValue(const ArgValue& a, const ArgValue& b) {
  return std::visit(
      [&b](const auto& left) {
        const auto* right = std::get_if<std::decay_t<decltype(left)>>(&b);
        return right != nullptr && same(left, *right);
      },
      a);
}

void forEachTensor(const ArgValue& value, const std::function<void(const TensorValue&)>& visit) {
  const auto one = [&visit](const TensorPtr& tensor) {
    if (tensor) {
      visit(*tensor);
    }
  };
  if (const auto* tensor = std::get_if<TensorPtr>(&value)) {
    one(*tensor);
  } else if (const auto* list = std::get_if<TensorList>(&value)) {
    std::for_each(list->items.begin(), list->items.end(), one);
  } else if (const auto* lists = std::get_if<std::vector<TensorList>>(&value)) {
    for (const TensorList& each : *lists) {
      std::for_each(each.items.begin(), each.items.end(), one);
    }
  }
}

}  // namespace neuroncheck

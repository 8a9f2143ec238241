// SPDX-License-Identifier: Apache-2.0
#include "core/inventory_json_value.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

namespace neuroncheck {
namespace json_detail {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

/// Python's repr of a non-finite float, which is what torch prints for such an attribute.
Json plainDouble(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

/// Python's str of a complex number: "(1+2j)", and "2j" when the real part is a positive zero.
std::string complexText(const std::complex<double>& value) {
  const auto part = [](double number) {
    return std::isnan(number) ? std::string("nan") : fmt::format("{}", number);
  };
  if (value.real() == 0 && !std::signbit(value.real())) {
    return part(value.imag()) + "j";
  }
  const std::string imaginary = part(value.imag());
  return fmt::format("({}{}{}j)", part(value.real()), imaginary.starts_with('-') ? "" : "+",
                     imaginary);
}

Json dimension(const SymInt& value) {
  if (!value.isSymbolic()) {
    return value.value;
  }
  if (value.expr->kind() == SymExpr::Kind::Integer) {
    return value.expr->integer();
  }
  return value.str();
}

Json dimensions(const std::vector<SymInt>& values) {
  Json out = Json::array();
  for (const SymInt& value : values) {
    out.push_back(dimension(value));
  }
  return out;
}

/// A symbolic value: {"name", "sym", "expr"}, with "value" where it is a constant.
Json symbolItem(std::string_view kind, const std::string& name, const SymExprPtr& expr,
                Json constant) {
  Json out = Json::object();
  if (!name.empty()) {
    out["name"] = name;
  }
  out["sym"] = kind;
  out["expr"] = expr ? Json(expr->str()) : Json(nullptr);
  if (!expr) {
    out["value"] = std::move(constant);
  }
  return out;
}

Json itemOf(const TensorValue& tensor) {
  Json out = Json::object();
  out["name"] = tensor.name;
  writeSpec(out, tensor.spec);
  return out;
}
Json itemOf(const SymIntValue& value) {
  return symbolItem("SymInt", value.name, value.value.expr, value.value.value);
}
Json itemOf(const SymFloat& value) {
  return symbolItem("SymFloat", value.name, value.expr, finiteOrString(value.value));
}
Json itemOf(const SymBool& value) {
  return symbolItem("SymBool", value.name, value.expr, value.value);
}

bool isConstant(const SymIntValue& value) {
  return value.name.empty() && !value.value.isSymbolic();
}
bool isConstant(const SymFloat& value) { return value.name.empty() && !value.expr; }
bool isConstant(const SymBool& value) { return value.name.empty() && !value.expr; }

Json plainOf(const SymIntValue& value) { return dimension(value.value); }
Json plainOf(const SymFloat& value) {
  return value.expr ? Json(value.expr->str()) : plainDouble(value.value);
}
Json plainOf(const SymBool& value) {
  return value.expr ? Json(value.expr->str()) : Json(value.value);
}

template <typename List, typename Function>
Json mapped(const List& list, const Function& function) {
  Json out = Json::array();
  for (const auto& element : list) {
    out.push_back(function(element));
  }
  return out;
}

template <typename T>
bool anyNamed(const std::vector<T>& values) {
  return std::ranges::any_of(values, [](const T& value) { return !value.name.empty(); });
}
bool anyTensor(const TensorList& list) {
  return std::ranges::any_of(list.items, [](const TensorPtr& item) { return item != nullptr; });
}
template <typename T>
bool allConstant(const std::vector<T>& values) {
  return std::ranges::all_of(values, [](const T& value) { return isConstant(value); });
}

/// Writes the exact form of one value, sending graph values to the list.
class ExactWriter {
 public:
  ExactWriter(GraphValueList* list, std::string_view argument) : list_(list), argument_(argument) {}

  Json operator()(const NoneValue&) { return absent(); }
  Json operator()(const TensorPtr& value) { return tagged("tensor", leaf(value)); }
  Json operator()(const TensorList& value) { return tagged("tensors", tensors(value)); }
  Json operator()(const SymIntValue& value) { return tagged("int", leaf(value)); }
  Json operator()(const std::vector<SymIntValue>& value) { return tagged("ints", leaves(value)); }
  Json operator()(const SymFloat& value) { return tagged("float", leaf(value)); }
  Json operator()(const std::vector<SymFloat>& value) { return tagged("floats", leaves(value)); }
  Json operator()(const SymBool& value) { return tagged("bool", leaf(value)); }
  Json operator()(const std::vector<SymBool>& value) { return tagged("bools", leaves(value)); }
  Json operator()(const std::string& value) { return constant("string", value); }
  Json operator()(const std::vector<std::string>& value) { return constant("strings", value); }
  Json operator()(DType value) { return constant("dtype", name(value)); }
  Json operator()(MemoryFormat value) { return constant("memory_format", name(value)); }
  Json operator()(Layout value) { return constant("layout", name(value)); }
  Json operator()(const Device& value) { return constant("device", value.str()); }
  Json operator()(const std::complex<double>& value) {
    return constant("complex",
                    Json::array({finiteOrString(value.real()), finiteOrString(value.imag())}));
  }
  Json operator()(const GraphRef& value) { return constant("graph", value.path); }
  Json operator()(const CustomObject& value) {
    return tagged("custom_object", place({{"name", value.name}, {"class", value.className}}));
  }
  Json operator()(const OperatorRef& value) { return constant("operator", value.target); }
  Json operator()(const std::vector<TensorList>& value) {
    return tagged("tensor_lists",
                  mapped(value, [this](const TensorList& list) { return tensors(list); }));
  }
  Json operator()(const std::vector<std::vector<std::int64_t>>& value) {
    return constant("int_lists", value);
  }
  Json operator()(const std::vector<std::vector<double>>& value) {
    return constant("float_lists",
                    mapped(value, [](const auto& row) { return mapped(row, finiteOrString); }));
  }
  Json operator()(const OpaqueValue& value) {
    return constant("opaque", Json{{"kind", value.kind}, {"json", value.json}});
  }

 private:
  static Json tagged(std::string_view tag, Json value) {
    Json out = Json::object();
    out[std::string(tag)] = std::move(value);
    return out;
  }
  Json absent() {
    if (list_ != nullptr && list_->keepNulls) {
      list_->items.push_back(nullptr);
    }
    return nullptr;
  }
  Json constant(std::string_view tag, Json value) {
    absent();
    return tagged(tag, std::move(value));
  }
  /// Lists a graph value and returns what stands in its place.
  Json place(Json item) {
    if (list_ == nullptr) {
      return item;
    }
    Json entry = Json::object();
    if (!argument_.empty()) {
      entry["arg"] = argument_;
    }
    entry.update(item);
    list_->items.push_back(std::move(entry));
    return {{"ref", list_->items.size() - 1}};
  }
  Json leaf(const TensorPtr& tensor) { return tensor ? place(itemOf(*tensor)) : absent(); }
  template <typename Symbol>
  Json leaf(const Symbol& value) {
    if (!value.name.empty()) {
      return place(itemOf(value));
    }
    absent();
    return isConstant(value) ? constantOf(value) : itemOf(value);
  }
  static Json constantOf(const SymIntValue& value) { return value.value.value; }
  static Json constantOf(const SymFloat& value) { return finiteOrString(value.value); }
  static Json constantOf(const SymBool& value) { return value.value; }
  template <typename Symbol>
  Json leaves(const std::vector<Symbol>& values) {
    return mapped(values, [this](const Symbol& value) { return leaf(value); });
  }
  Json tensors(const TensorList& list) {
    return mapped(list.items, [this](const TensorPtr& tensor) { return leaf(tensor); });
  }

  GraphValueList* list_;
  std::string argument_;
};

bool stringIsExact(const std::string& text) {
  return !text.starts_with("torch.") && text != "inf" && text != "-inf" && text != "nan";
}

}  // namespace

bool containsGraphValue(const ArgValue& value) {
  return std::visit(Overloaded{
                        [](const TensorPtr& tensor) { return tensor != nullptr; },
                        [](const TensorList& list) { return anyTensor(list); },
                        [](const std::vector<TensorList>& lists) {
                          return std::ranges::any_of(lists, anyTensor);
                        },
                        [](const SymIntValue& symbol) { return !symbol.name.empty(); },
                        [](const SymFloat& symbol) { return !symbol.name.empty(); },
                        [](const SymBool& symbol) { return !symbol.name.empty(); },
                        [](const std::vector<SymIntValue>& list) { return anyNamed(list); },
                        [](const std::vector<SymFloat>& list) { return anyNamed(list); },
                        [](const std::vector<SymBool>& list) { return anyNamed(list); },
                        [](const CustomObject&) { return true; },
                        [](const auto&) { return false; },
                    },
                    value);
}

Json plainValue(const ArgValue& value) {
  const auto tensorItem = [](const TensorPtr& tensor) {
    return tensor ? itemOf(*tensor) : Json(nullptr);
  };
  return std::visit(
      Overloaded{
          [](const NoneValue&) { return Json(nullptr); },
          [&](const TensorPtr& tensor) { return tensorItem(tensor); },
          [&](const TensorList& list) { return mapped(list.items, tensorItem); },
          [](const SymIntValue& symbol) { return plainOf(symbol); },
          [](const SymFloat& symbol) { return plainOf(symbol); },
          [](const SymBool& symbol) { return plainOf(symbol); },
          [](const std::vector<SymIntValue>& list) {
            return mapped(list, [](const auto& item) { return plainOf(item); });
          },
          [](const std::vector<SymFloat>& list) {
            return mapped(list, [](const auto& item) { return plainOf(item); });
          },
          [](const std::vector<SymBool>& list) {
            return mapped(list, [](const auto& item) { return plainOf(item); });
          },
          [](const std::string& text) { return Json(text); },
          [](const std::vector<std::string>& texts) { return Json(texts); },
          [](DType dtype) { return Json(fmt::format("torch.{}", name(dtype))); },
          [](MemoryFormat format) { return Json(fmt::format("torch.{}", name(format))); },
          [](Layout layout) { return Json(fmt::format("torch.{}", name(layout))); },
          [](const Device& device) { return Json(device.str()); },
          [](const std::complex<double>& number) { return Json(complexText(number)); },
          [](const GraphRef& graph) { return Json(graph.path); },
          [](const CustomObject& object) { return Json(object.className); },
          [](const OperatorRef& target) { return Json(target.target); },
          [&](const std::vector<TensorList>& lists) {
            return mapped(lists,
                          [&](const TensorList& list) { return mapped(list.items, tensorItem); });
          },
          [](const std::vector<std::vector<std::int64_t>>& lists) { return Json(lists); },
          [](const std::vector<std::vector<double>>& lists) {
            return mapped(lists, [](const auto& row) { return mapped(row, plainDouble); });
          },
          [](const OpaqueValue& opaque) { return Json(opaque.json); },
      },
      value);
}

bool plainIsExact(std::string_view argument, const ArgValue& value) {
  const bool textIsDevice = argument == "device";
  return std::visit(
      Overloaded{
          [](const NoneValue&) { return true; },
          [](const TensorPtr& tensor) { return tensor != nullptr; },
          [](const SymIntValue& symbol) { return !symbol.name.empty() || isConstant(symbol); },
          [&](const SymFloat& symbol) {
            return !symbol.name.empty() ||
                   (isConstant(symbol) && (std::isfinite(symbol.value) || !textIsDevice));
          },
          [](const SymBool& symbol) { return !symbol.name.empty() || isConstant(symbol); },
          [](const std::vector<SymIntValue>& list) { return allConstant(list); },
          [](const std::vector<SymFloat>& list) {
            return !list.empty() && std::ranges::all_of(list, [](const SymFloat& item) {
              return isConstant(item) && std::isfinite(item.value);
            });
          },
          [](const std::vector<SymBool>& list) { return !list.empty() && allConstant(list); },
          [&](const std::string& text) { return !textIsDevice && stringIsExact(text); },
          [&](DType dtype) { return !textIsDevice && dtype != DType::Unknown; },
          [&](MemoryFormat format) { return !textIsDevice && format != MemoryFormat::Unknown; },
          [&](Layout layout) { return !textIsDevice && layout != Layout::Unknown; },
          [&](const Device&) { return textIsDevice; },
          [](const CustomObject&) { return true; },
          [](const auto&) { return false; },
      },
      value);
}

Json exactValue(const ArgValue& value, GraphValueList* list, std::string_view argument) {
  return std::visit(ExactWriter(list, argument), value);
}

void writeSpec(Json& json, const TensorSpec& spec, std::string_view strideKey) {
  json["dtype"] = name(spec.dtype);
  json["shape"] = spec.hasShape ? dimensions(spec.sizes) : Json(nullptr);
  const bool stated = spec.hasShape && spec.strides.size() == spec.sizes.size();
  json[std::string(strideKey)] = stated ? dimensions(spec.strides) : Json(nullptr);
  json["device"] = spec.device.str();
  json["layout"] = name(spec.layout);
  if (!(spec.storageOffset == SymInt(0))) {
    json["offset"] = dimension(spec.storageOffset);
  }
  if (spec.requiresGrad) {
    json["requires_grad"] = true;
  }
}

}  // namespace json_detail

Json finiteOrString(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}

Json toJson(const TensorSpec& spec) {
  Json out = Json::object();
  json_detail::writeSpec(out, spec);
  return out;
}

Json toJson(const ArgValue& value) { return json_detail::plainValue(value); }

}  // namespace neuroncheck

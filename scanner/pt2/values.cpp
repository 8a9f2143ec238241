// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/values.h"

#include <utility>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<7>::Names kTensorMeta = {"dtype",   "sizes",          "requires_grad", "device",
                                          "strides", "storage_offset", "layout"};
enum TensorMetaField : std::size_t {
  kDtype,
  kSizes,
  kRequiresGrad,
  kDevice,
  kStrides,
  kOffset,
  kLayout
};

constexpr Fields<2>::Names kExpr = {"expr_str", "hint"};
constexpr Fields<2>::Names kDeviceFields = {"type", "index"};
constexpr Fields<2>::Names kCustomObject = {"name", "class_fqn"};

std::string clipped(std::string_view text) {
  constexpr std::size_t kMost = 120;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "...";
}

Result<void> checkNotNegative(const SymInt& value, std::string_view what) {
  if (!value.isSymbolic() && value.value < 0) {
    return inputError(fmt::format("{} is negative: {}", what, value.value));
  }
  return {};
}

/// Constant, or expression text with a hint that is not needed for floats and bools.
struct SymParts {
  Json constant;
  std::string_view expr;
  std::optional<std::int64_t> hint;
  bool isConstant = false;
};

Result<SymParts> symParts(Json value, std::string_view constantKey, std::string_view what) {
  NEURONCHECK_TRY(const UnionMember member, asUnion(value, what));
  if (member.key == constantKey) {
    return SymParts{.constant = member.value, .expr = {}, .hint = {}, .isConstant = true};
  }
  if (member.key != "as_expr") {
    return inputError(fmt::format("{} has the unknown member '{}'", what, clipped(member.key)));
  }
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(member.value, kExpr, "as_expr"));
  NEURONCHECK_TRY(const Json text, fields.need(0, kExpr, "as_expr"));
  SymParts parts;
  NEURONCHECK_TRY(parts.expr, asString(text, "expr_str"));
  if (fields.has(1)) {
    NEURONCHECK_TRY(const UnionMember hint, asUnion(fields[1], "hint"));
    if (hint.key == "as_int") {
      NEURONCHECK_TRY(parts.hint, asInt(hint.value, "hint"));
    }
  }
  return parts;
}

}  // namespace

void Notes::add(std::string text) {
  if (seen_.contains(text)) {
    return;
  }
  if (texts_.size() >= kMax) {
    ++dropped_;
    return;
  }
  seen_.insert(text);
  texts_.push_back(std::move(text));
}

void Notes::moveTo(std::vector<std::string>& out) {
  for (std::string& text : texts_) {
    out.push_back(std::move(text));
  }
  if (dropped_ > 0) {
    out.push_back(fmt::format("{} more remarks of the reader are left out", dropped_));
  }
  texts_.clear();
}

Result<SymExprPtr> ValueReader::expression(std::string_view text) {
  if (const auto found = expressions_.find(text); found != expressions_.end()) {
    return found->second;
  }
  // Schema minors before 8.8 stored sympy's plain text instead of its srepr.
  auto parsed = SymExpr::parseSrepr(text);
  if (!parsed) {
    if (auto infix = SymExpr::parseInfix(text)) {
      parsed = std::move(infix);
    }
  }
  if (!parsed) {
    return tl::unexpected(
        std::move(parsed).error().within(fmt::format("expression '{}'", clipped(text))));
  }
  expressions_.emplace(std::string(text), *parsed);
  return *parsed;
}

Result<SymInt> ValueReader::symInt(Json value) {
  NEURONCHECK_TRY(const SymParts parts, symParts(value, "as_int", "SymInt"));
  if (parts.isConstant) {
    NEURONCHECK_TRY(const std::int64_t number, asInt(parts.constant, "as_int"));
    return SymInt(number);
  }
  NEURONCHECK_TRY(SymExprPtr expr, expression(parts.expr));
  if (expr->kind() == SymExpr::Kind::Integer) {
    return SymInt(expr->integer());
  }
  return SymInt(std::move(expr), parts.hint);
}

Result<SymFloat> ValueReader::symFloat(Json value) {
  NEURONCHECK_TRY(const SymParts parts, symParts(value, "as_float", "SymFloat"));
  SymFloat result;
  if (parts.isConstant) {
    NEURONCHECK_TRY(result.value, asDouble(parts.constant, "as_float"));
  } else {
    NEURONCHECK_TRY(result.expr, expression(parts.expr));
  }
  return result;
}

Result<SymBool> ValueReader::symBool(Json value) {
  NEURONCHECK_TRY(const SymParts parts, symParts(value, "as_bool", "SymBool"));
  SymBool result;
  if (parts.isConstant) {
    NEURONCHECK_TRY(result.value, asBool(parts.constant, "as_bool"));
  } else {
    NEURONCHECK_TRY(result.expr, expression(parts.expr));
  }
  return result;
}

Result<std::vector<SymInt>> ValueReader::symInts(Json value, std::string_view what) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(value, what));
  std::vector<SymInt> result;
  result.reserve(array.size());
  for (const Json item : array) {
    NEURONCHECK_TRY(SymInt number, symInt(item));
    NEURONCHECK_TRY_VOID(checkNotNegative(number, what));
    result.push_back(std::move(number));
  }
  return result;
}

Result<Device> ValueReader::device(Json value) {
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(value, kDeviceFields, "device"));
  NEURONCHECK_TRY(const Json typeField, fields.need(0, kDeviceFields, "device"));
  NEURONCHECK_TRY(const std::string_view type, asString(typeField, "device type"));
  Device result{.type = std::string(type), .index = {}};
  if (fields.has(1)) {
    NEURONCHECK_TRY(result.index, asInt(fields[1], "device index"));
  }
  return result;
}

Result<DType> ValueReader::dtype(Json value) {
  NEURONCHECK_TRY(const std::int64_t code, asInt(value, "dtype"));
  const std::optional<DType> known = dtypeFromExportCode(code);
  if (!known) {
    notes_.add(fmt::format("dtype code {} is not known and shown as unknown", code));
  }
  return known.value_or(DType::Unknown);
}

Result<TensorSpec> ValueReader::tensorMeta(Json meta) {
  NEURONCHECK_TRY(const auto fields, Fields<7>::read(meta, kTensorMeta, "tensor metadata"));
  TensorSpec spec;
  NEURONCHECK_TRY(const Json dtypeField, fields.need(kDtype, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(spec.dtype, dtype(dtypeField));
  NEURONCHECK_TRY(const Json sizes, fields.need(kSizes, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(spec.sizes, symInts(sizes, "size"));
  if (fields.has(kStrides)) {
    NEURONCHECK_TRY(spec.strides, symInts(fields[kStrides], "stride"));
    if (!spec.strides.empty() && spec.strides.size() != spec.sizes.size()) {
      return inputError(
          fmt::format("{} sizes but {} strides", spec.sizes.size(), spec.strides.size()));
    }
  }
  if (fields.has(kOffset)) {
    NEURONCHECK_TRY(spec.storageOffset, symInt(fields[kOffset]));
    NEURONCHECK_TRY_VOID(checkNotNegative(spec.storageOffset, "storage_offset"));
  }
  if (fields.has(kRequiresGrad)) {
    NEURONCHECK_TRY(spec.requiresGrad, asBool(fields[kRequiresGrad], "requires_grad"));
  }
  if (fields.has(kLayout)) {
    NEURONCHECK_TRY(const std::int64_t layout, asInt(fields[kLayout], "layout"));
    spec.layout = layoutFromExportCode(layout);
  }
  NEURONCHECK_TRY(const Json deviceField, fields.need(kDevice, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(spec.device, device(deviceField));
  if (!deviceTypes_.contains(spec.device.type)) {
    deviceTypes_.insert(spec.device.type);
  }
  return spec;
}

Result<void> ValueTable::load(std::string_view kind, Json map, ValueReader& reader) {
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(map, kind));
  values_.reserve(values_.size() + object.size());
  for (const simdjson::dom::key_value_pair pair : object) {
    const auto read = [&]() -> Result<ArgValue> {
      const std::string_view name = pair.key;
      if (kind == "tensor_values") {
        NEURONCHECK_TRY(TensorSpec spec, reader.tensorMeta(pair.value));
        return ArgValue(TensorPtr(std::make_shared<const TensorValue>(
            TensorValue{.name = std::string(name), .spec = std::move(spec)})));
      }
      if (kind == "sym_int_values") {
        NEURONCHECK_TRY(SymInt value, reader.symInt(pair.value));
        return ArgValue(SymIntValue{.value = std::move(value), .name = std::string(name)});
      }
      if (kind == "sym_bool_values") {
        NEURONCHECK_TRY(SymBool value, reader.symBool(pair.value));
        value.name = name;
        return ArgValue(std::move(value));
      }
      if (kind == "sym_float_values") {
        NEURONCHECK_TRY(SymFloat value, reader.symFloat(pair.value));
        value.name = name;
        return ArgValue(std::move(value));
      }
      NEURONCHECK_TRY(const auto fields,
                      Fields<2>::read(pair.value, kCustomObject, "custom object"));
      NEURONCHECK_TRY(const Json fqn, fields.need(1, kCustomObject, "custom object"));
      NEURONCHECK_TRY(const std::string_view className, asString(fqn, "class_fqn"));
      return ArgValue(CustomObject{.name = std::string(name), .className = std::string(className)});
    };
    auto value = read();
    if (!value) {
      return tl::unexpected(std::move(value).error().within(
          fmt::format("value '{}' of {}", clipped(pair.key), kind)));
    }
    if (!values_.try_emplace(pair.key, GraphValue{.value = std::move(*value)}).second) {
      return inputError(fmt::format("value '{}' of {} is there twice", clipped(pair.key), kind));
    }
  }
  return {};
}

Result<GraphValue*> ValueTable::use(std::string_view name) {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    return inputError(fmt::format("there is no value named '{}'", clipped(name)));
  }
  if (!found->second.defined) {
    return inputError(fmt::format("value '{}' is read before anything defines it", clipped(name)));
  }
  ++found->second.reads;
  return &found->second;
}

Result<GraphValue*> ValueTable::define(std::string_view name) {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    return inputError(fmt::format("there is no value named '{}'", clipped(name)));
  }
  if (found->second.defined) {
    return inputError(fmt::format("value '{}' is defined twice", clipped(name)));
  }
  found->second.defined = true;
  return &found->second;
}

}  // namespace neuroncheck::scanner::pt2

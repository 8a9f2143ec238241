// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/values.h"

#include <utility>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<7>::Names kTensorMeta = {"dtype",   "sizes",          "requires_grad", "device",
                                          "strides", "storage_offset", "layout"};
enum TensorMetaField : std::size_t {
  MetaDtype,
  MetaSizes,
  MetaRequiresGrad,
  MetaDevice,
  MetaStrides,
  MetaOffset,
  MetaLayout
};

constexpr Fields<2>::Names kExpr = {"expr_str", "hint"};
constexpr Fields<2>::Names kDeviceFields = {"type", "index"};

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

/// The usual {"as_int": 3} without the detours; false for anything else.
bool fastInt(Json value, std::int64_t& number) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS || object.size() != 1) {
    return false;
  }
  const auto pair = object.begin();
  return pair.key_equals("as_int") && pair.value().get(number) == simdjson::SUCCESS;
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

Result<void> ValueReader::symInt(Json value, SymInt& result) {
  if (fastInt(value, result.value)) {
    return {};
  }
  NEURONCHECK_TRY(const SymParts parts, symParts(value, "as_int", "SymInt"));
  if (parts.isConstant) {
    NEURONCHECK_TRY(result.value, asInt(parts.constant, "as_int"));
    return {};
  }
  NEURONCHECK_TRY(SymExprPtr expr, expression(parts.expr));
  result = expr->kind() == SymExpr::Kind::Integer ? SymInt(expr->integer())
                                                  : SymInt(std::move(expr), parts.hint);
  return {};
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

Result<void> ValueReader::countElements(std::size_t count, std::string_view what) {
  if (count > kMostInList) {
    return inputError(fmt::format("{} has more than {} elements", what, kMostInList));
  }
  elements_ += count;
  if (elements_ > kMostInModel) {
    return inputError(
        fmt::format("the lists of the model's arguments have more than {} elements", kMostInModel));
  }
  return {};
}

Result<void> ValueReader::symInts(Json value, std::string_view what, std::vector<SymInt>& result) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(value, what));
  if (array.size() > kMostInList) {
    return inputError(fmt::format("{} has more than {} elements", what, kMostInList));
  }
  result.reserve(array.size());
  for (const Json item : array) {
    SymInt& number = result.emplace_back();
    if (!fastInt(item, number.value)) {
      NEURONCHECK_TRY_VOID(symInt(item, number));
    }
    if (number.value < 0) {
      NEURONCHECK_TRY_VOID(checkNotNegative(number, what));
    }
  }
  return {};
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

Result<void> ValueReader::tensorMeta(Json meta, TensorSpec& spec) {
  NEURONCHECK_TRY(const auto fields, Fields<7>::read(meta, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(const Json dtypeField, fields.need(MetaDtype, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(spec.dtype, dtype(dtypeField));
  NEURONCHECK_TRY(const Json sizes, fields.need(MetaSizes, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY_VOID(symInts(sizes, "size", spec.sizes));
  if (fields.has(MetaStrides)) {
    NEURONCHECK_TRY_VOID(symInts(fields[MetaStrides], "stride", spec.strides));
    if (!spec.strides.empty() && spec.strides.size() != spec.sizes.size()) {
      return inputError(
          fmt::format("{} sizes but {} strides", spec.sizes.size(), spec.strides.size()));
    }
  }
  if (fields.has(MetaOffset)) {
    NEURONCHECK_TRY_VOID(symInt(fields[MetaOffset], spec.storageOffset));
    NEURONCHECK_TRY_VOID(checkNotNegative(spec.storageOffset, "storage_offset"));
  }
  if (fields.has(MetaRequiresGrad)) {
    NEURONCHECK_TRY(spec.requiresGrad, asBool(fields[MetaRequiresGrad], "requires_grad"));
  }
  if (fields.has(MetaLayout)) {
    NEURONCHECK_TRY(const std::int64_t layout, asInt(fields[MetaLayout], "layout"));
    spec.layout = layoutFromExportCode(layout);
  }
  NEURONCHECK_TRY(const Json deviceField, fields.need(MetaDevice, kTensorMeta, "tensor metadata"));
  NEURONCHECK_TRY(spec.device, device(deviceField));
  if (deviceTypes_.empty() || spec.device.type != lastDeviceType_) {
    deviceTypes_.insert(spec.device.type);
    lastDeviceType_ = spec.device.type;
  }
  return {};
}

}  // namespace neuroncheck::scanner::pt2

// SPDX-License-Identifier: Apache-2.0
#include "opdb/predicate_types.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/predicate_lexer.h"

namespace neuroncheck::opdb {
namespace {

using Kind = Predicate::Node::Kind;

PredicateType valueType(const SchemaArgument& argument) {
  switch (argument.type) {
    case SchemaType::Scalar:
      return PredicateType::Scalar;
    case SchemaType::Int:
    case SchemaType::SymInt:
    case SchemaType::Float:
    case SchemaType::SymFloat:
      return PredicateType::Number;
    case SchemaType::Bool:
    case SchemaType::SymBool:
      return PredicateType::Boolean;
    case SchemaType::String:
    case SchemaType::Device:
      return PredicateType::Text;
    case SchemaType::ScalarType:
      return PredicateType::DType;
    case SchemaType::Layout:
      return PredicateType::Layout;
    case SchemaType::MemoryFormat:
      return PredicateType::MemoryFormat;
    default:
      return PredicateType::Opaque;
  }
}

bool isNumeric(PredicateType type) {
  return type == PredicateType::Number || type == PredicateType::Scalar;
}

bool comparable(PredicateType a, PredicateType b) {
  if (a == b || a == PredicateType::Any || b == PredicateType::Any || a == PredicateType::None ||
      b == PredicateType::None) {
    return true;
  }
  const auto scalarLike = [](PredicateType type) {
    return isNumeric(type) || type == PredicateType::Boolean;
  };
  const bool anyScalar = a == PredicateType::Scalar || b == PredicateType::Scalar;
  return anyScalar && scalarLike(a) && scalarLike(b);
}

bool isOrdered(PredicateType type) {
  return isNumeric(type) || type == PredicateType::Chip || type == PredicateType::Any;
}

std::string argumentNames(const FunctionSchema& schema) {
  std::vector<std::string_view> names;
  names.reserve(schema.arguments.size());
  for (const SchemaArgument& argument : schema.arguments) {
    names.push_back(argument.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view name(PredicateType type) {
  switch (type) {
    case PredicateType::Any:
      return "value";
    case PredicateType::None:
      return "None";
    case PredicateType::Boolean:
      return "bool";
    case PredicateType::Number:
      return "number";
    case PredicateType::Scalar:
      return "scalar";
    case PredicateType::Text:
      return "text";
    case PredicateType::DType:
      return "dtype";
    case PredicateType::MemoryFormat:
      return "memory format";
    case PredicateType::Layout:
      return "layout";
    case PredicateType::Chip:
      return "chip";
    case PredicateType::Word:
      return "word";
    case PredicateType::Opaque:
      return "opaque value";
  }
  return "value";
}

std::optional<ChipOrder> parseChip(std::string_view word) {
  constexpr std::string_view kPrefix = "trn";
  if (!word.starts_with(kPrefix) || word.size() == kPrefix.size() ||
      word.size() > kPrefix.size() + 2) {
    return std::nullopt;
  }
  ChipOrder chip;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data() + kPrefix.size(), end, chip.generation);
  if (parsed.ec != std::errc() || parsed.ptr != end || chip.generation < 1) {
    return std::nullopt;
  }
  return chip;
}

std::optional<LiteralWord> literalWord(std::string_view word) {
  if (word == "true" || word == "false") {
    return LiteralWord{.atom = word == "true", .type = PredicateType::Boolean};
  }
  if (word == "inf" || word == "Infinity") {
    return LiteralWord{.atom = std::numeric_limits<double>::infinity(),
                       .type = PredicateType::Number};
  }
  if (word == "None") {
    return LiteralWord{.atom = NoneValue{}, .type = PredicateType::None};
  }
  if (const auto dtype = parseDType(word); dtype && *dtype != DType::Unknown) {
    return LiteralWord{.atom = *dtype, .type = PredicateType::DType};
  }
  if (const auto chip = parseChip(word)) {
    return LiteralWord{.atom = *chip, .type = PredicateType::Chip};
  }
  if (const auto format = parseMemoryFormat(word); format && *format != MemoryFormat::Unknown) {
    return LiteralWord{.atom = *format, .type = PredicateType::MemoryFormat};
  }
  if (const auto layout = parseLayout(word); layout && *layout != Layout::Unknown) {
    return LiteralWord{.atom = *layout, .type = PredicateType::Layout};
  }
  return std::nullopt;
}

std::optional<std::vector<DType>> namedDTypeSet(std::string_view word) {
  if (word != "floats" && word != "ints") {
    return std::nullopt;
  }
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool integer =
        kind(dtype) == DTypeKind::SignedInt || kind(dtype) == DTypeKind::UnsignedInt;
    if (word == "floats" ? isFloating(dtype) : integer) {
      dtypes.push_back(dtype);
    }
  }
  return dtypes;
}

tl::unexpected<Error> noArgument(const FunctionSchema& schema, std::string_view argument,
                                 std::size_t column) {
  return predicateError(column, fmt::format("no argument '{}' in {} (it has: {})", argument,
                                            schema.name.str(), argumentNames(schema)));
}

Result<PredicateType> checkArgument(const FunctionSchema& schema, Kind kind,
                                    std::string_view argument, std::size_t column) {
  const SchemaArgument* found = schema.argument(argument);
  if (found == nullptr) {
    return noArgument(schema, argument, column);
  }
  const bool tensor = found->type == SchemaType::Tensor;
  const auto refuse = [&](std::string_view needs) {
    return predicateError(column, fmt::format("argument '{}' of {} is {}, but {}", argument,
                                              schema.name.str(), found->typeText, needs));
  };
  switch (kind) {
    case Kind::DTypeOf:
    case Kind::ItemSizeOf:
    case Kind::RankOf:
    case Kind::SizeOf:
    case Kind::ContiguousOf:
      if (!tensor) {
        return refuse("this asks for a tensor");
      }
      return PredicateType::Any;
    case Kind::LengthOf:
      if (!found->list) {
        return refuse("len asks for a list");
      }
      return PredicateType::Number;
    case Kind::AnyGreater:
      if (!isNumeric(valueType(*found))) {
        return refuse("any_gt asks for numbers");
      }
      return PredicateType::Boolean;
    case Kind::IsNone:
      return PredicateType::Boolean;
    default:
      break;
  }
  const PredicateType type = valueType(*found);
  if (tensor || type == PredicateType::Opaque) {
    return refuse("value asks for a number, bool, text, dtype, layout or memory format");
  }
  return type;
}

Result<void> checkCondition(const Predicate::Node& node) {
  if (node.type == PredicateType::Boolean || node.type == PredicateType::Any ||
      node.type == PredicateType::Scalar) {
    return {};
  }
  return predicateError(node.column,
                        fmt::format("a condition is expected, this is a {}", name(node.type)));
}

Result<void> checkNumber(const Predicate::Node& node) {
  if (isNumeric(node.type) || node.type == PredicateType::Any) {
    return {};
  }
  return predicateError(node.column,
                        fmt::format("a number is expected, this is a {}", name(node.type)));
}

Result<void> checkComparison(const Predicate::Node& left, const Predicate::Node& right,
                             Comparison comparison) {
  if (right.kind == Kind::AnyDType) {
    return predicateError(right.column, "any_dtype stands on the left of a comparison");
  }
  if (left.kind == Kind::AnyDType && right.kind == Kind::Value &&
      right.type == PredicateType::Any) {
    return predicateError(right.column, fmt::format("'{}' is no dtype", right.argument));
  }
  if (!comparable(left.type, right.type)) {
    return predicateError(right.column, fmt::format("a {} cannot be compared with a {}",
                                                    name(left.type), name(right.type)));
  }
  const bool ordering = comparison != Comparison::Equal && comparison != Comparison::NotEqual;
  if (ordering && !(isOrdered(left.type) && isOrdered(right.type))) {
    return predicateError(
        left.column,
        fmt::format("a {} has no order", name(isOrdered(left.type) ? right.type : left.type)));
  }
  return {};
}

}  // namespace neuroncheck::opdb

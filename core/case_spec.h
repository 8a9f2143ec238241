// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/arg_value.h"
#include "core/inventory.h"
#include "core/op_name.h"
#include "core/result.h"
#include "core/schema.h"

namespace neuroncheck {

/// A concrete tensor operand of a case. Fill and seed are not part of it: they belong to an
/// attempt.
struct CaseTensor {
  DType dtype = DType::Float32;
  std::vector<std::int64_t> sizes;
  std::optional<std::vector<std::int64_t>> strides;  ///< in elements; absent means contiguous
  std::int64_t offset = 0;                           ///< storage offset in elements
  /// "%0": shares storage with tensor operand 0 of the same step, counted as written, elements of
  /// lists too; only an earlier operand can be named.
  std::optional<std::string> alias;
  std::optional<std::vector<double>>
      literal;        ///< the values themselves, row-major, for index and bool operands
  bool grad = false;  ///< requires grad
  bool operator==(const CaseTensor&) const = default;
};

struct CaseNone {
  bool operator==(const CaseNone&) const = default;
};
struct CaseValue;
struct CaseList {
  std::vector<CaseValue> items;
  bool operator==(const CaseList&) const = default;
};
/// The result of an earlier step of a sequence: "$0" or "$0.1" (output 1 of step 0).
struct CaseResult {
  std::int64_t step = 0;
  std::int64_t output = 0;
  bool operator==(const CaseResult&) const = default;
};
/// Any argument: None, tensor, integer, float, bool, string, dtype, device-independent
/// enumerations, lists of those.
struct CaseValue {
  std::variant<CaseNone, CaseTensor, std::int64_t, double, bool, std::string, DType, MemoryFormat,
               Layout, Device, std::complex<double>, CaseResult, CaseList>
      value;
  bool operator==(const CaseValue&) const = default;
};
struct CaseArgument {
  std::string name;  ///< empty for a positional argument
  CaseValue value;
  bool operator==(const CaseArgument&) const = default;
};
struct CaseStep {
  OpName op;
  std::vector<CaseArgument> args;
  bool operator==(const CaseStep&) const = default;
};

/// One conformance case: an operator with concrete arguments, or a short sequence joined by ";;".
///
/// Text form, which parses back to an equal case and prints canonically:
///   aten::addmm(f32[8], f32[4,16], f32[16,8]; beta=1, alpha=2)
///   aten::cat([f32[2,3], f32[2,3]], 1)
///   aten::add.out(f32[4]@(2)+1, %0; out=f32[4]) ;; aten::relu($0) !grad !error="must match"
/// Positional arguments before ";", named ones after. `f32[4,16]` tensor, `@(1,4)` strides, `+3`
/// offset, `%0` the same storage and geometry as operand 0, `%0:f32[2]` its storage with the
/// geometry that follows, `={1,0}` literal values,
/// `^` requires grad. Non-finite floats are written inf, -inf, nan. Strides that are the contiguous
/// ones are dropped by parse() and fromJson(), so that one case has one text. docs/case-grammar.md
/// has the full grammar.
struct CaseSpec {
  std::vector<CaseStep> steps;
  bool backward = false;                     ///< "!grad": gradients are compared too
  std::optional<std::string> expectedError;  ///< "!error=": the device must raise with this text
  bool operator==(const CaseSpec&) const = default;

  /// A NaN differs from itself under ==; identity() and str() compare such cases.
  [[nodiscard]] static Result<CaseSpec> parse(std::string_view text);
  [[nodiscard]] std::string str() const;
  /// XXH3-64 of str(), the same on every machine.
  [[nodiscard]] std::uint64_t identity() const;
  /// identity() as 16 hexadecimal digits, as reports print it.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] static Result<CaseSpec> fromJson(const nlohmann::json& json);
  [[nodiscard]] nlohmann::json toJson() const;
};

/// The case of one inventory use. nullopt while any size, stride or scalar is symbolic or unknown,
/// or an argument has no text form (subgraphs, custom objects). Defaults that the schema gives are
/// left out, and so is a `device` argument: a case runs on the device under test, whatever device
/// the model was made on. With the operator's schema, arguments are positional until the first one
/// left out and named from there on; without it every argument is named, because their places are
/// not known.
[[nodiscard]] std::optional<CaseSpec> caseOf(const OpUse& use,
                                             const FunctionSchema* schema = nullptr);

/// Seed of one attempt: hash(case) ^ hash(fill) ^ run seed; the same on every machine and shard.
[[nodiscard]] std::uint64_t attemptSeed(const CaseSpec& spec, std::string_view fill,
                                        std::uint64_t runSeed);

}  // namespace neuroncheck

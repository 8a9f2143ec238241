// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arg_value.h"
#include "core/op_name.h"
#include "core/result.h"

namespace neuroncheck {

/// The base type of a schema argument, without optional or list marks.
enum class SchemaType : std::uint8_t {
  Tensor,
  Scalar,
  Int,
  SymInt,
  Float,
  SymFloat,
  Bool,
  SymBool,
  String,
  ScalarType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Dimname,
  Storage,
  Stream,
  QScheme,
  CustomClass,  ///< "__torch__.torch.classes.x.Y"
  Other,
};

/// One argument or return of a schema.
struct SchemaArgument {
  std::string name;      ///< may be empty for a return
  std::string typeText;  ///< as written: "Tensor(a!)?", "SymInt[2]"
  SchemaType type = SchemaType::Other;
  bool optional = false;         ///< "T?" (the whole argument may be None)
  bool list = false;             ///< "T[]", "T[2]"
  bool elementOptional = false;  ///< "T?[]"
  std::string aliasSet;  ///< "a" of "Tensor(a!)"; "*" of "Tensor(*)"; empty when there is none
  bool written = false;  ///< the "!" mark: the operator writes to it
  bool keywordOnly = false;
  std::optional<ArgValue>
      defaultValue;  ///< present iff the schema gives a default ("None" is a NoneValue)
};

/// A parsed operator schema, e.g. "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)
/// -> Tensor". Source of the grammar: torch/csrc/jit/frontend/function_schema_parser.cpp.
struct FunctionSchema {
  OpName name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;
  std::string text;

  /// Fails on text outside the grammar, naming the column.
  [[nodiscard]] static Result<FunctionSchema> parse(std::string_view text);
  [[nodiscard]] const SchemaArgument* argument(std::string_view argumentName) const;
  [[nodiscard]] std::optional<std::size_t> argumentIndex(std::string_view argumentName) const;
  /// Some argument is written to.
  [[nodiscard]] bool mutates() const;
  /// Some return shares an alias set with an argument that is not written (a view by schema).
  [[nodiscard]] bool returnsAlias() const;
  /// An argument named out (or an out= overload): the written argument is keyword-only.
  [[nodiscard]] bool isOut() const;
};

/// How the dispatcher of torch finds a kernel for a backend that registered none (spike of the
/// dispatcher, `dispatch_class`).
enum class DispatchClass : std::uint8_t {
  Unknown,                 ///< not in the catalogue
  CompositeImplicit,       ///< "cia": decomposes before the backend
  CompositeExplicit,       ///< "cea": one default kernel for all backends
  CompositeNonFunctional,  ///< "ceanf": structured; the backend's `.out` twin decides
  Kernel,                  ///< needs a kernel of the backend, else the boxed fallback
};

enum class ViewClass : std::uint8_t {
  None,
  View,        ///< metadata only on every backend
  ViewOrCopy,  ///< reshape, contiguous, to: may copy
  KernelView,  ///< a view by schema whose kernel each backend must bring (view_as_real): a fallback
               ///< breaks aliasing
};

/// What the catalogue knows of one operator overload of one torch version.
struct OpInfo {
  FunctionSchema schema;
  std::vector<std::string> tags;  ///< torch tags: "core", "pointwise", "data_dependent_output",
                                  ///< "nondeterministic_seeded", ...
  DispatchClass dispatchClass = DispatchClass::Unknown;
  ViewClass view = ViewClass::None;
  std::optional<OpName> structuredTwin;
  bool cpuKernel = false;   ///< the boxed CPU fallback would find a kernel
  bool throwsOnly = false;  ///< the default kernel only throws (convolution_overrideable, ...)
  bool mutates = false;
  bool coreDecomposition = false;  ///< torch._decomp has a decomposition

  [[nodiscard]] bool hasTag(std::string_view tag) const;
};

/// Where readers get schemas from: the operator database implements it, tests use a small table.
class SchemaSource {
 public:
  SchemaSource() = default;
  SchemaSource(const SchemaSource&) = delete;
  SchemaSource& operator=(const SchemaSource&) = delete;
  SchemaSource(SchemaSource&&) = default;
  SchemaSource& operator=(SchemaSource&&) = default;
  virtual ~SchemaSource() = default;
  /// Null when the catalogue does not have the operator. The pointer lives as long as the source.
  /// Not thread-safe.
  [[nodiscard]] virtual const OpInfo* find(const OpName& name) const = 0;
  /// Every overload of a packet ("aten::add"), sorted by overload name.
  [[nodiscard]] virtual std::vector<OpName> overloads(std::string_view packet) const = 0;
};

}  // namespace neuroncheck

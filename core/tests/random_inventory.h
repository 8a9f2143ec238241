// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "core/inventory.h"

/// Random inventories and an equality that, unlike sameValue(), compares every field.
namespace neuroncheck::testing {

using rc::gen::arbitrary;

template <typename T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}
inline std::int64_t number(std::int64_t low, std::int64_t high) {
  return *rc::gen::inRange(low, high);
}
inline bool coin() { return *arbitrary<bool>(); }

inline std::string word() {
  return pick<std::string>({"x", "self", "add_1", "p_w", "torch.float32", "inf", "nan", "NaN",
                            "cpu", "a b", "\xC3\xA9", "it's", "", "line\nbreak", "s0"});
}
inline double real() {
  return pick<double>({0.0, -0.0, 1.0, 0.1, -2.5e-9, 1e300, std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()});
}
inline SymExprPtr expression() {
  return *SymExpr::parseInfix(pick<std::string>({"s0", "2*s0 - 1", "s0*s1", "u0"}));
}
inline std::int64_t anyInteger() {
  return pick<std::int64_t>({0, 1, -1, 7, std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::min()});
}
inline SymInt symInt() { return number(0, 4) == 0 ? SymInt(expression()) : SymInt(anyInteger()); }

inline TensorSpec spec() {
  TensorSpec out;
  out.dtype = static_cast<DType>(number(0, static_cast<std::int64_t>(kDTypeCount)));
  out.hasShape = number(0, 6) != 0;
  const auto rank = out.hasShape ? number(0, 4) : 0;
  const bool strides = coin();
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    out.sizes.push_back(symInt());
    if (strides) {
      out.strides.push_back(symInt());
    }
  }
  out.storageOffset = number(0, 3) == 0 ? symInt() : SymInt(0);
  out.layout = static_cast<Layout>(number(0, 9));
  out.device =
      pick<Device>({{"cpu", std::nullopt}, {"cuda", 0}, {"neuron", 3}, {"", std::nullopt}});
  out.requiresGrad = coin();
  return out;
}
inline TensorPtr tensor() {
  return std::make_shared<const TensorValue>(TensorValue{word(), spec()});
}
inline TensorPtr tensorOrNull() { return number(0, 4) == 0 ? nullptr : tensor(); }

template <typename Function>
auto listOf(const Function& make) {
  std::vector<decltype(make())> out;
  const auto size = number(0, 4);
  for (std::int64_t index = 0; index < size; ++index) {
    out.push_back(make());
  }
  return out;
}
inline TensorList tensorList() { return {listOf(tensorOrNull)}; }
inline SymIntValue symIntValue() { return {symInt(), coin() ? word() : ""}; }
inline SymFloat symFloat() {
  return coin() ? SymFloat{real(), nullptr, coin() ? word() : ""}
                : SymFloat{0, expression(), word()};
}
inline SymBool symBool() {
  return coin() ? SymBool{coin(), nullptr, coin() ? word() : ""}
                : SymBool{false, expression(), word()};
}

inline ArgValue argValue() {
  switch (number(0, 23)) {
    case 0:
      return NoneValue{};
    case 1:
      return tensor();
    case 2:
      return tensorList();
    case 3:
      return symIntValue();
    case 4:
      return listOf(symIntValue);
    case 5:
      return symFloat();
    case 6:
      return listOf(symFloat);
    case 7:
      return symBool();
    case 8:
      return listOf(symBool);
    case 9:
      return word();
    case 10:
      return listOf(word);
    case 11:
      return static_cast<DType>(number(0, static_cast<std::int64_t>(kDTypeCount)));
    case 12:
      return static_cast<MemoryFormat>(number(0, 5));
    case 13:
      return static_cast<Layout>(number(0, 9));
    case 14:
      return Device{"cuda", coin() ? std::optional<std::int64_t>(1) : std::nullopt};
    case 15:
      return std::complex<double>(real(), real());
    case 16:
      return GraphRef{word()};
    case 17:
      return CustomObject{word(), word()};
    case 18:
      return OperatorRef{word()};
    case 19:
      return listOf(tensorList);
    case 20:
      return listOf([] { return listOf(anyInteger); });
    case 21:
      return listOf([] { return listOf(real); });
    default:
      return OpaqueValue{word(), R"({"as_new": [1]})"};
  }
}
inline Argument argument() {
  return {pick<std::string>({"self", "other", "dim", "device", "dtype", ""}), argValue(), coin()};
}
inline SourcePlace place() {
  return coin()
             ? SourcePlace{pick<std::string>({"models/net.py", "C:\\net.py", "<eval_with_key>.1"}),
                           number(0, 99)}
             : SourcePlace{};
}

inline OpUse opUse(std::uint32_t id) {
  OpUse use;
  use.id = id;
  use.op = pick<OpName>(
      {{"aten", "add", "Tensor"}, {"aten", "relu", ""}, {"corpuslib", "scaled_relu", ""}});
  use.node = word();
  use.group = static_cast<OpGroup>(number(0, 11));
  use.args = listOf(argument);
  use.outputs = listOf(argValue);
  use.module = word();
  use.moduleType = word();
  use.source = place();
  use.lastFrame = place();
  use.graph = word();
  use.conditional = coin();
  use.inLoop = coin();
  use.unused = coin();
  use.inCatalogue = coin();
  return use;
}

inline Model model(std::string name) {
  Model out;
  out.name = std::move(name);
  out.torchVersion = word();
  out.schemaMajor = anyInteger();
  out.schemaMinor = number(0, 30);
  out.opsetVersion = {{"aten", 10}};
  out.verifiers = listOf(word);
  out.dialect = word();
  out.madeOn = listOf(word);
  out.nodeCount = static_cast<std::uint64_t>(number(0, 1000));
  out.jsonBytes = std::numeric_limits<std::uint64_t>::max();
  const auto uses = number(0, 5);
  for (std::int64_t id = 0; id < uses; ++id) {
    out.uses.push_back(opUse(static_cast<std::uint32_t>(id)));
  }
  out.higherOrder = listOf([] {
    return HigherOrderUse{word(), word(), word(), listOf(argument), listOf(argValue), place()};
  });
  out.scalarOps = {{"_operator.mul", number(0, 9)}};
  out.subgraphs = listOf(word);
  out.inputs = listOf([] {
    return GraphInput{word(), pick<std::string>({"USER_INPUT", "BUFFER", "PARAMETER"}), word(),
                      coin() ? std::optional<bool>(coin()) : std::nullopt, argValue()};
  });
  out.outputs = listOf([] { return GraphOutput{word(), "USER_OUTPUT", word(), argValue()}; });
  out.ranges = {{"s0", {2, coin() ? std::optional<std::int64_t>(64) : std::nullopt}}, {"u0", {}}};
  out.guards = listOf(word);
  out.stored = listOf([] { return StoredTensor{word(), spec(), word(), number(-1, 100), coin()}; });
  out.notes = listOf(word);
  return out;
}

inline Inventory inventory() {
  Inventory out;
  out.path = word();
  out.kind = static_cast<FileKind>(number(0, 16));
  out.size = static_cast<std::uint64_t>(number(0, 1'000'000));
  out.sha256 = word();
  out.producer = word();
  out.layout = pick<std::string>({"A", "B", "C", ""});
  for (const char* name : {"enc.v1", "dec"}) {
    if (coin()) {
      out.models.push_back(model(name));
    }
  }
  out.compiledModels = listOf(word);
  out.notes = listOf([] { return FileNote{"NC101", word(), word()}; });
  return out;
}

}  // namespace neuroncheck::testing

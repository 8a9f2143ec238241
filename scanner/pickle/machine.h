// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace neuroncheck::scanner::pickle {

/// A value's place in Pickle::values. Values may refer to themselves: walks need a bound.
using Index = std::uint32_t;
inline constexpr Index kNoValue = 0xFFFFFFFF;

enum class Kind : std::uint8_t {
  None,
  Bool,        ///< `number` is 0 or 1
  Int,         ///< `number`
  BigInt,      ///< beyond 64 bits; `text` has its little-endian bytes or its digits
  Real,        ///< `real`
  Text,        ///< `text`
  Bytes,       ///< `text`
  Tuple,       ///< `items`
  List,        ///< `items`
  Set,         ///< `items`
  Dict,        ///< `pairs`: key, value, key, value
  Global,      ///< `text` is "module.name" or "copyreg extension 7"; never resolved
  Call,        ///< what `callee` returned for the tuple `args`; never called
  Object,      ///< an instance of `callee` made from the tuple `args`
  Persistent,  ///< a reference outside of the pickle; `args` says which
  Opaque,      ///< out-of-band buffers
};

/// What a pickle says of one object. A Call or Object may have been filled afterwards: `items` were
/// appended, `pairs` were set as items, `state` was given to BUILD.
struct Value {
  Kind kind = Kind::None;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text{};  ///< a view of the pickle's bytes or of Pickle::names
  Index callee = kNoValue;
  Index args = kNoValue;
  Index state = kNoValue;
  std::vector<Index> items{};
  std::vector<Index> pairs{};
};

/// A pickle read symbolically: everything it would build, with every name left as a name.
struct Pickle {
  std::deque<Value> values;
  Index root = kNoValue;
  std::size_t size = 0;                   ///< bytes of the pickle, STOP included
  std::size_t references = 0;             ///< items of all containers and arguments together
  std::size_t memory = 0;                 ///< bytes that all of this takes, about
  std::vector<std::string_view> globals;  ///< every name it asks for, distinct, sorted
  std::deque<std::string> names;          ///< texts that are not in the bytes

  [[nodiscard]] const Value& at(Index index) const { return values[index]; }
  /// The name of a Global, or of the class that a persistent id of the old torch.save stands for;
  /// empty for anything else.
  [[nodiscard]] std::string_view nameOf(Index index) const;
  [[nodiscard]] std::string_view calleeOf(const Value& value) const { return nameOf(value.callee); }
};

/// A pickle of a few bytes can ask for any amount of memory: bytes that repeat are packed to
/// nothing.
struct Limits {
  std::size_t maxValues = 8'000'000;
  std::size_t maxStack = 1'000'000;
  std::size_t maxMemory = std::size_t{256} << 20;  ///< as Pickle::memory counts
};

/// Reads the pickle at the start of `bytes`, which must outlive the result, protocols 0 to 5, as
/// Python's Lib/pickle.py would, except that no name is imported and nothing is called. Fails with
/// Input, naming the offset: an unknown or cut opcode, an empty stack, a memo entry that is not
/// there, more than the limits, no STOP. `cut`, where given, says whether more bytes might have
/// helped.
[[nodiscard]] Result<Pickle> readPickle(std::string_view bytes, const Limits& limits = {},
                                        bool* cut = nullptr);

}  // namespace neuroncheck::scanner::pickle

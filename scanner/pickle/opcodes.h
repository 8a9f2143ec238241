// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace neuroncheck::scanner::pickle {

/// One opcode of a pickle with its raw argument (a view of the pickle's bytes). Of the opcodes
/// whose argument has a length in front (strings, bytes, long integers) the argument is what
/// follows the length.
struct Opcode {
  char code = 0;
  std::string_view argument;
  std::size_t position = 0;  ///< of the opcode's own byte
};

/// Steps over the opcodes of one pickle, protocols 0 to 5. Nothing is built or resolved. Source of
/// the table: Python's Lib/pickletools.py.
class OpcodeReader {
 public:
  explicit OpcodeReader(std::string_view bytes) : bytes_(bytes) {}

  /// The next opcode; nullopt at the end, at an unknown opcode or where an argument is cut short.
  [[nodiscard]] std::optional<Opcode> next();
  /// Bytes stepped over.
  [[nodiscard]] std::size_t position() const { return position_; }
  /// Whether next() ended because the bytes do, not at an unknown opcode.
  [[nodiscard]] bool cut() const;
  /// Why next() ended: no more bytes, an unknown opcode, or what an argument claims.
  [[nodiscard]] std::string problem() const;

 private:
  std::optional<std::string_view> take(std::uint64_t count);
  std::optional<std::string_view> sized(std::size_t prefix);
  std::optional<std::string_view> lines(int count);

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::uint64_t claimed_ = 0;  ///< bytes that the last argument was to have
  std::uint64_t there_ = 0;    ///< and those that were there for it
};

/// The first eight bytes, or fewer, as an unsigned little-endian number.
[[nodiscard]] std::uint64_t littleEndian(std::string_view bytes);

/// "a.b" of the argument "a\nb\n" of GLOBAL and INST.
[[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> moduleAndName(
    std::string_view argument);

}  // namespace neuroncheck::scanner::pickle

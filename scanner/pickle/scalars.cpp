// SPDX-License-Identifier: Apache-2.0
#include "scanner/pickle/scalars.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace neuroncheck::scanner::pickle {
namespace {

/// Two's complement of any length up to eight bytes, as LONG1 has it.
std::int64_t signedLittleEndian(std::string_view bytes) {
  std::uint64_t value = littleEndian(bytes);
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  if (negative && bytes.size() < 8) {
    value |= ~std::uint64_t{0} << (8 * bytes.size());
  }
  return static_cast<std::int64_t>(value);
}

Value integer(std::int64_t number) { return {.kind = Kind::Int, .number = number}; }
Value flag(bool value) { return {.kind = Kind::Bool, .number = value ? 1 : 0}; }
Value textual(Kind kind, std::string_view text) { return {.kind = kind, .text = text}; }

Value decimal(std::string_view digits) {
  if (digits == "00" || digits == "01") {
    return flag(digits == "01");
  }
  if (digits.ends_with('L')) {
    digits.remove_suffix(1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? integer(number) : textual(Kind::BigInt, digits);
}

Value real(std::string_view digits) {
  Value value{.kind = Kind::Real, .real = std::numeric_limits<double>::quiet_NaN()};
  std::from_chars(digits.data(), digits.data() + digits.size(), value.real);
  return value;
}

Value bigEndianReal(std::string_view bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof(bits));
  return {.kind = Kind::Real, .real = std::bit_cast<double>(__builtin_bswap64(bits))};
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::string_view withoutNewline(std::string_view argument) {
  return argument.ends_with('\n') ? argument.substr(0, argument.size() - 1) : argument;
}

std::optional<Value> scalarOf(const Opcode& opcode) {
  const std::string_view argument = opcode.argument;
  switch (opcode.code) {
    case 'N':  // NONE
      return Value{};
    case '\x88':  // NEWTRUE
    case '\x89':  // NEWFALSE
      return flag(opcode.code == '\x88');
    case 'K':  // BININT1
    case 'M':  // BININT2
      return integer(static_cast<std::int64_t>(littleEndian(argument)));
    case 'J':     // BININT
    case '\x8a':  // LONG1
    case '\x8b':  // LONG4
      return argument.size() > 8 ? textual(Kind::BigInt, argument)
                                 : integer(signedLittleEndian(argument));
    case 'I':  // INT
    case 'L':  // LONG
      return decimal(withoutNewline(argument));
    case 'F':  // FLOAT
      return real(withoutNewline(argument));
    case 'G':  // BINFLOAT
      return bigEndianReal(argument);
    case 'X':     // BINUNICODE
    case '\x8c':  // SHORT_BINUNICODE
    case '\x8d':  // BINUNICODE8
    case 'U':     // SHORT_BINSTRING
    case 'T':     // BINSTRING
      return textual(Kind::Text, argument);
    case 'V':  // UNICODE
      return textual(Kind::Text, withoutNewline(argument));
    case 'S':  // STRING
      return textual(Kind::Text, unquoted(withoutNewline(argument)));
    case 'B':     // BINBYTES
    case 'C':     // SHORT_BINBYTES
    case '\x8e':  // BINBYTES8
    case '\x96':  // BYTEARRAY8
      return textual(Kind::Bytes, argument);
    default:
      return std::nullopt;
  }
}

}  // namespace neuroncheck::scanner::pickle

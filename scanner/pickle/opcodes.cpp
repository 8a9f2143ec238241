// SPDX-License-Identifier: Apache-2.0
#include "scanner/pickle/opcodes.h"

#include <array>

#include <fmt/format.h>

namespace neuroncheck::scanner::pickle {
namespace {

/// How an opcode's argument is laid out.
enum class Layout : std::uint8_t {
  Unknown,
  None,
  One,
  Two,
  Four,
  Eight,
  Line,
  TwoLines,
  Size1,
  Size4,
  Size8
};

constexpr std::array<Layout, 256> makeLayouts() {
  std::array<Layout, 256> table = {};
  const auto set = [&](std::string_view opcodes, Layout layout) {
    for (const char c : opcodes) {
      table[static_cast<unsigned char>(c)] = layout;
    }
  };
  set("(.012N)]lds}aeubotRQ\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98", Layout::None);
  set("Khq\x80\x82", Layout::One);
  set("M\x83", Layout::Two);
  set("Jjr\x84", Layout::Four);
  set("G\x95", Layout::Eight);
  set("FILSVgpP", Layout::Line);
  set("ci", Layout::TwoLines);
  set("CU\x8a\x8c", Layout::Size1);
  set("BTX\x8b", Layout::Size4);
  set("\x8d\x8e\x96", Layout::Size8);
  return table;
}
constexpr std::array<Layout, 256> kLayouts = makeLayouts();

}  // namespace

std::uint64_t littleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

std::optional<std::string_view> OpcodeReader::take(std::uint64_t count) {
  if (count > bytes_.size() - position_) {
    claimed_ = count;
    there_ = bytes_.size() - position_;
    return std::nullopt;
  }
  const std::string_view result = bytes_.substr(position_, static_cast<std::size_t>(count));
  position_ += static_cast<std::size_t>(count);
  return result;
}

std::optional<std::string_view> OpcodeReader::sized(std::size_t prefix) {
  const auto text = take(prefix);
  if (!text) {
    return std::nullopt;
  }
  return take(littleEndian(*text));
}

std::optional<std::string_view> OpcodeReader::lines(int count) {
  std::size_t end = position_;
  for (int i = 0; i < count; ++i) {
    end = bytes_.find('\n', end);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    ++end;
  }
  return take(end - position_);
}

bool OpcodeReader::cut() const {
  return position_ >= bytes_.size() ||
         kLayouts[static_cast<unsigned char>(bytes_[position_])] != Layout::Unknown;
}

std::string OpcodeReader::problem() const {
  if (position_ >= bytes_.size()) {
    return fmt::format("the pickle is cut short at offset {}, before its STOP", position_);
  }
  if (!cut()) {
    return fmt::format("the pickle has an unknown opcode at offset {}", position_);
  }
  return claimed_ > there_
             ? fmt::format(
                   "the pickle is cut short: the opcode at offset {} claims {} bytes, and "
                   "{} are left",
                   position_, claimed_, there_)
             : fmt::format("the pickle is cut short in the opcode at offset {}", position_);
}

std::optional<Opcode> OpcodeReader::next() {
  claimed_ = there_ = 0;
  if (position_ >= bytes_.size()) {
    return std::nullopt;
  }
  Opcode opcode{.code = bytes_[position_], .argument = {}, .position = position_};
  ++position_;
  std::optional<std::string_view> argument;
  switch (kLayouts[static_cast<unsigned char>(opcode.code)]) {
    case Layout::Unknown:
      break;
    case Layout::None:
      argument = std::string_view();
      break;
    case Layout::One:
      argument = take(1);
      break;
    case Layout::Two:
      argument = take(2);
      break;
    case Layout::Four:
      argument = take(4);
      break;
    case Layout::Eight:
      argument = take(8);
      break;
    case Layout::Line:
      argument = lines(1);
      break;
    case Layout::TwoLines:
      argument = lines(2);
      break;
    case Layout::Size1:
      argument = sized(1);
      break;
    case Layout::Size4:
      argument = sized(4);
      break;
    case Layout::Size8:
      argument = sized(8);
      break;
  }
  const bool frame = opcode.code == '\x95';
  if (argument && frame && littleEndian(*argument) > bytes_.size() - position_) {
    claimed_ = littleEndian(*argument);
    there_ = bytes_.size() - position_;
    argument.reset();
  }
  if (!argument) {
    position_ = opcode.position;
    return std::nullopt;
  }
  opcode.argument = *argument;
  return opcode;
}

std::optional<std::pair<std::string_view, std::string_view>> moduleAndName(
    std::string_view argument) {
  const std::size_t line = argument.find('\n');
  if (line == std::string_view::npos || !argument.ends_with('\n') || line + 1 == argument.size()) {
    return std::nullopt;
  }
  return std::pair(argument.substr(0, line), argument.substr(line + 1, argument.size() - line - 2));
}

}  // namespace neuroncheck::scanner::pickle

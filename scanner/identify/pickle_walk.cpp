// SPDX-License-Identifier: Apache-2.0
#include "scanner/identify/pickle_walk.h"

#include <algorithm>
#include <array>
#include <optional>

namespace neuroncheck::scanner {
namespace {

/// How an opcode's argument is laid out (Python's Lib/pickletools.py).
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

class Walker {
 public:
  explicit Walker(std::string_view bytes) : bytes_(bytes) {}

  PickleWalk run() {
    while (position_ < bytes_.size()) {
      const char opcode = bytes_[position_++];
      const auto argument = take(kLayouts[static_cast<unsigned char>(opcode)]);
      if (!argument) {
        break;
      }
      visit(opcode, *argument);
      if (opcode == '.') {
        walk_.valid = true;
        break;
      }
    }
    walk_.size = position_;
    walk_.modulePickle = sawModules_ && sawParameters_;
    return std::move(walk_);
  }

 private:
  std::optional<std::string_view> bytes(std::uint64_t count) {
    if (count > bytes_.size() - position_) {
      return std::nullopt;
    }
    const std::string_view result = bytes_.substr(position_, static_cast<std::size_t>(count));
    position_ += static_cast<std::size_t>(count);
    return result;
  }

  std::optional<std::string_view> sized(std::size_t prefix) {
    const auto text = bytes(prefix);
    if (!text) {
      return std::nullopt;
    }
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < prefix; ++i) {
      count |= static_cast<std::uint64_t>(static_cast<unsigned char>((*text)[i])) << (8 * i);
    }
    return bytes(count);
  }

  std::optional<std::string_view> lines(int count) {
    std::size_t end = position_;
    for (int i = 0; i < count; ++i) {
      end = bytes_.find('\n', end);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      ++end;
    }
    return bytes(end - position_);
  }

  std::optional<std::string_view> take(Layout layout) {
    switch (layout) {
      case Layout::Unknown:
        return std::nullopt;
      case Layout::None:
        return std::string_view();
      case Layout::One:
        return bytes(1);
      case Layout::Two:
        return bytes(2);
      case Layout::Four:
        return bytes(4);
      case Layout::Eight:
        return bytes(8);
      case Layout::Line:
        return lines(1);
      case Layout::TwoLines:
        return lines(2);
      case Layout::Size1:
        return sized(1);
      case Layout::Size4:
        return sized(4);
      case Layout::Size8:
        return sized(8);
    }
    return std::nullopt;
  }

  void global(std::string name) {
    constexpr std::size_t kMost = 64;
    if (walk_.globals.empty()) {
      walk_.firstGlobal = name;
      walk_.startsWithGlobal = !sawObject_;
    }
    if (walk_.globals.size() < kMost &&
        std::ranges::find(walk_.globals, name) == walk_.globals.end()) {
      walk_.globals.push_back(std::move(name));
    }
  }

  void visit(char opcode, std::string_view argument) {
    switch (opcode) {
      case 'c':
      case 'i': {
        const std::size_t line = argument.find('\n');
        global(std::string(argument.substr(0, line)) + "." +
               std::string(argument.substr(line + 1, argument.size() - line - 2)));
        break;
      }
      case '\x93':  // STACK_GLOBAL: module and name are the two strings before
        global(std::string(lastButOne_) + "." + std::string(last_));
        break;
      case 'Q':
      case 'P':
        ++walk_.persistentIds;
        break;
      case 'X':
      case '\x8c':
      case '\x8d':
      case 'U':
      case 'T':
        lastButOne_ = last_;
        last_ = argument;
        sawModules_ = sawModules_ || argument == "_modules";
        sawParameters_ = sawParameters_ || argument == "_parameters";
        break;
      case ']':
      case '}':
      case '(':
      case 'K':
        sawObject_ = true;
        break;
      default:
        break;
    }
  }

  std::string_view bytes_;
  std::size_t position_ = 0;
  PickleWalk walk_;
  std::string_view last_;
  std::string_view lastButOne_;
  bool sawObject_ = false;
  bool sawModules_ = false;
  bool sawParameters_ = false;
};

}  // namespace

PickleWalk walkPickle(std::string_view bytes) { return Walker(bytes).run(); }

}  // namespace neuroncheck::scanner

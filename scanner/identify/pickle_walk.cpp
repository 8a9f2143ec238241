// SPDX-License-Identifier: Apache-2.0
#include "scanner/identify/pickle_walk.h"

#include <algorithm>

#include "scanner/pickle/opcodes.h"

namespace neuroncheck::scanner {
namespace {

class Walker {
 public:
  explicit Walker(std::string_view bytes) : reader_(bytes) {}

  PickleWalk run() {
    while (const auto opcode = reader_.next()) {
      visit(*opcode);
      if (opcode->code == '.') {
        walk_.valid = true;
        break;
      }
    }
    walk_.size = reader_.position();
    walk_.modulePickle = sawModules_ && sawParameters_;
    return std::move(walk_);
  }

 private:
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

  void visit(const pickle::Opcode& opcode) {
    const std::string_view argument = opcode.argument;
    switch (opcode.code) {
      case 'c':
      case 'i': {
        if (const auto parts = pickle::moduleAndName(argument)) {
          global(std::string(parts->first) + "." + std::string(parts->second));
        }
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

  pickle::OpcodeReader reader_;
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

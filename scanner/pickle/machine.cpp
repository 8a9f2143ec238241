// SPDX-License-Identifier: Apache-2.0
#include "scanner/pickle/machine.h"

#include <charconv>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "scanner/pickle/opcodes.h"
#include "scanner/pickle/scalars.h"

namespace neuroncheck::scanner::pickle {
namespace {

class Machine {
 public:
  Machine(std::string_view bytes, const Limits& limits) : reader_(bytes), limits_(limits) {}

  Result<Pickle> run() {
    while (const auto opcode = reader_.next()) {
      if (opcode->code == '.') {
        return finish();
      }
      if (auto done = step(*opcode); !done) {
        return tl::unexpected(
            std::move(done).error().within(fmt::format("pickle offset {}", opcode->position)));
      }
      NEURONCHECK_TRY_VOID(checkLimits());
    }
    cut_ = reader_.cut();
    return inputError(reader_.problem());
  }

  [[nodiscard]] bool cut() const { return cut_; }

 private:
  static constexpr Index kMark = kNoValue - 1;
  // What things take, with what the allocator adds.
  static constexpr std::size_t kValueBytes = sizeof(Value) + 32;
  static constexpr std::size_t kReferenceBytes = 2 * sizeof(Index);
  static constexpr std::size_t kMemoBytes = 56;
  static constexpr std::size_t kNameBytes = 160;

  [[nodiscard]] Result<void> checkLimits() const {
    if (pickle_.values.size() > limits_.maxValues) {
      return inputError(fmt::format("the pickle builds more than {} objects", limits_.maxValues));
    }
    if (stack_.size() > limits_.maxStack) {
      return inputError(fmt::format("the pickle nests more than {} objects", limits_.maxStack));
    }
    if (pickle_.memory > limits_.maxMemory) {
      return inputError(
          fmt::format("what the pickle builds takes more than {} MB, far more than its own bytes",
                      limits_.maxMemory >> 20U));
    }
    return {};
  }

  void countReferences(std::size_t count) {
    pickle_.references += count;
    pickle_.memory += count * kReferenceBytes;
  }

  Result<Pickle> finish() {
    if (stack_.empty() || stack_.back() == kMark) {
      return inputError("the pickle ends without an object");
    }
    pickle_.root = stack_.back();
    pickle_.size = reader_.position();
    pickle_.globals.assign(globals_.begin(), globals_.end());
    return std::move(pickle_);
  }

  Index add(Value value) {
    pickle_.memory += kValueBytes;
    pickle_.values.push_back(std::move(value));
    return static_cast<Index>(pickle_.values.size() - 1);
  }
  void push(Index index) { stack_.push_back(index); }
  void push(Value value) { push(add(std::move(value))); }

  /// Small integers, None and the bools are the bulk of a checkpoint's pickle: each is made once.
  void pushScalar(Value value) {
    constexpr std::int64_t kShared = 65536;
    const bool small = value.kind == Kind::None || value.kind == Kind::Bool ||
                       (value.kind == Kind::Int && value.number >= 0 && value.number < kShared);
    if (!small) {
      push(std::move(value));
      return;
    }
    const std::int64_t key = value.number * 4 + static_cast<std::int64_t>(value.kind);
    const auto [found, isNew] = shared_.try_emplace(key, kNoValue);
    if (isNew) {
      found->second = add(std::move(value));
    }
    push(found->second);
  }

  Result<Index> pop() {
    if (stack_.empty() || stack_.back() == kMark) {
      return inputError("an opcode wants an object, and the stack has none");
    }
    const Index index = stack_.back();
    stack_.pop_back();
    return index;
  }
  Result<Index> top() {
    if (stack_.empty() || stack_.back() == kMark) {
      return inputError("an opcode wants an object, and the stack has none");
    }
    return stack_.back();
  }
  Result<std::vector<Index>> popToMark() {
    std::size_t at = stack_.size();
    while (at > 0 && stack_[at - 1] != kMark) {
      --at;
    }
    if (at == 0) {
      return inputError("an opcode wants a mark, and the stack has none");
    }
    std::vector<Index> items(stack_.begin() + static_cast<std::ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    countReferences(items.size());
    return items;
  }

  Result<void> step(const Opcode& opcode) {
    switch (opcode.code) {
      case '\x80':  // PROTO
      case '\x95':  // FRAME
      case '\x98':  // READONLY_BUFFER
        return {};
      case '(':
        stack_.push_back(kMark);
        return {};
      case '0':
        return popAny();
      case '1': {
        NEURONCHECK_TRY([[maybe_unused]] const auto items, popToMark());
        return {};
      }
      case '2': {
        NEURONCHECK_TRY(const Index index, top());
        push(index);
        return {};
      }
      default:
        break;
    }
    if (auto scalar = scalarOf(opcode)) {
      pushScalar(*std::move(scalar));
      return {};
    }
    NEURONCHECK_TRY(const bool memo, useMemo(opcode));
    if (memo) {
      return {};
    }
    NEURONCHECK_TRY(const bool container, makeContainer(opcode));
    if (container) {
      return {};
    }
    return makeObject(opcode);
  }

  Result<void> popAny() {
    if (stack_.empty()) {
      return inputError("POP on an empty stack");
    }
    stack_.pop_back();
    return {};
  }

  Result<bool> useMemo(const Opcode& opcode) {
    std::uint64_t key = 0;
    switch (opcode.code) {
      case 'h':
      case 'q':
      case 'j':
      case 'r':
        key = littleEndian(opcode.argument);
        break;
      case 'g':
      case 'p': {
        const std::string_view digits = withoutNewline(opcode.argument);
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), key);
        if (parsed.ec != std::errc()) {
          return inputError("a memo key is no number");
        }
        break;
      }
      case '\x94':
        key = memo_.size();
        break;
      default:
        return false;
    }
    if (opcode.code == 'h' || opcode.code == 'j' || opcode.code == 'g') {
      const auto found = memo_.find(key);
      if (found == memo_.end()) {
        return inputError(fmt::format("memo entry {} is not there", key));
      }
      push(found->second);
      return true;
    }
    NEURONCHECK_TRY(const Index index, top());
    pickle_.memory += memo_.insert_or_assign(key, index).second ? kMemoBytes : 0;
    return true;
  }

  Result<bool> makeContainer(const Opcode& opcode) {
    switch (opcode.code) {
      case ')':
        push(Value{.kind = Kind::Tuple});
        return true;
      case ']':
        push(Value{.kind = Kind::List});
        return true;
      case '}':
        push(Value{.kind = Kind::Dict});
        return true;
      case '\x8f':
        push(Value{.kind = Kind::Set});
        return true;
      case '\x85':
      case '\x86':
      case '\x87':
        return makeTuple(static_cast<std::size_t>(opcode.code - '\x84'));
      case 't':
      case 'l':
      case 'd':
      case '\x91':
        return fromMark(opcode.code);
      case 'a':
      case 'e':
      case '\x90':
      case 's':
      case 'u':
        return fill(opcode.code);
      default:
        return false;
    }
  }

  Result<bool> makeTuple(std::size_t count) {
    Value tuple{.kind = Kind::Tuple};
    tuple.items.resize(count);
    countReferences(count);
    for (std::size_t i = count; i > 0; --i) {
      NEURONCHECK_TRY(tuple.items[i - 1], pop());
    }
    push(std::move(tuple));
    return true;
  }

  Result<bool> fromMark(char code) {
    NEURONCHECK_TRY(auto items, popToMark());
    Value value;
    value.kind = code == 't'   ? Kind::Tuple
                 : code == 'l' ? Kind::List
                 : code == 'd' ? Kind::Dict
                               : Kind::Set;
    if (code == 'd' && items.size() % 2 != 0) {
      return inputError("a dict has a key without a value");
    }
    (code == 'd' ? value.pairs : value.items) = std::move(items);
    push(std::move(value));
    return true;
  }

  /// APPEND(S), ADDITEMS, SETITEM(S): into a container, or into an object that fills itself.
  Result<bool> fill(char code) {
    std::vector<Index> items;
    if (code == 'a' || code == 's') {
      const std::size_t count = code == 'a' ? 1 : 2;
      items.resize(count);
      countReferences(count);
      for (std::size_t i = count; i > 0; --i) {
        NEURONCHECK_TRY(items[i - 1], pop());
      }
    } else {
      NEURONCHECK_TRY(items, popToMark());
    }
    NEURONCHECK_TRY(const Index target, top());
    Value& value = pickle_.values[target];
    const bool object = value.kind == Kind::Call || value.kind == Kind::Object;
    const bool keyed = code == 's' || code == 'u';
    const bool fits = object || (keyed ? value.kind == Kind::Dict
                                       : value.kind == Kind::List || value.kind == Kind::Set);
    if (!fits || (keyed && items.size() % 2 != 0)) {
      return inputError("items are set in what is no container");
    }
    std::vector<Index>& into = keyed ? value.pairs : value.items;
    into.insert(into.end(), items.begin(), items.end());
    return true;
  }

  Result<void> makeObject(const Opcode& opcode) {
    switch (opcode.code) {
      case 'c':
      case 'i':
        return global(opcode);
      case '\x93':
        return stackGlobal();
      case 'R':
        return call(Kind::Call, false);
      case '\x81':
        return call(Kind::Object, false);
      case '\x92':
        return call(Kind::Object, true);
      case 'o':
        return oldObject();
      case 'b': {
        NEURONCHECK_TRY(const Index state, pop());
        NEURONCHECK_TRY(const Index target, top());
        pickle_.values[target].state = state;
        return {};
      }
      case 'Q': {
        NEURONCHECK_TRY(const Index id, pop());
        push(Value{.kind = Kind::Persistent, .args = id});
        return {};
      }
      case 'P': {
        const Index id = add(Value{.kind = Kind::Text, .text = withoutNewline(opcode.argument)});
        push(Value{.kind = Kind::Persistent, .args = id});
        return {};
      }
      case '\x82':
      case '\x83':
      case '\x84':
        // A name of a table that the loading process keeps: what it is cannot be told from here.
        push(addName(fmt::format("copyreg extension {}", littleEndian(opcode.argument))));
        return {};
      default:  // NEXT_BUFFER
        push(Value{.kind = Kind::Opaque});
        return {};
    }
  }

  Result<Index> addGlobal(std::string_view module, std::string_view name) {
    constexpr std::size_t kLongest = 4096;
    if (module.size() + name.size() > kLongest) {
      return inputError(fmt::format("a global's name has {} bytes", module.size() + name.size()));
    }
    return addName(fmt::format("{}.{}", module, name));
  }

  Index addName(std::string full) {
    const auto known = globals_.find(std::string_view(full));
    std::string_view text;
    if (known != globals_.end()) {
      text = *known;
    } else {
      pickle_.memory += kNameBytes + full.size();
      text = pickle_.names.emplace_back(std::move(full));
      globals_.insert(text);
    }
    return add(Value{.kind = Kind::Global, .text = text});
  }

  Result<void> global(const Opcode& opcode) {
    const auto parts = moduleAndName(opcode.argument);
    if (!parts) {
      return inputError("a global has no module or no name");
    }
    NEURONCHECK_TRY(const Index callee, addGlobal(parts->first, parts->second));
    if (opcode.code == 'c') {
      push(callee);
      return {};
    }
    NEURONCHECK_TRY(auto items, popToMark());
    const Index args = add(Value{.kind = Kind::Tuple, .items = std::move(items)});
    push(Value{.kind = Kind::Object, .callee = callee, .args = args});
    return {};
  }

  Result<void> stackGlobal() {
    NEURONCHECK_TRY(const Index name, pop());
    NEURONCHECK_TRY(const Index module, pop());
    if (pickle_.at(name).kind != Kind::Text || pickle_.at(module).kind != Kind::Text) {
      return inputError("a global is named by something that is no text");
    }
    NEURONCHECK_TRY(const Index callee, addGlobal(pickle_.at(module).text, pickle_.at(name).text));
    push(callee);
    return {};
  }

  Result<void> call(Kind kind, bool keywords) {
    Index names = kNoValue;
    if (keywords) {
      NEURONCHECK_TRY(names, pop());
    }
    NEURONCHECK_TRY(const Index args, pop());
    NEURONCHECK_TRY(const Index callee, pop());
    Value value{.kind = kind, .callee = callee, .args = args};
    if (names != kNoValue) {
      value.items.push_back(names);
    }
    push(std::move(value));
    return {};
  }

  Result<void> oldObject() {
    NEURONCHECK_TRY(auto items, popToMark());
    if (items.empty()) {
      return inputError("OBJ without a class");
    }
    const Index callee = items.front();
    items.erase(items.begin());
    const Index args = add(Value{.kind = Kind::Tuple, .items = std::move(items)});
    push(Value{.kind = Kind::Object, .callee = callee, .args = args});
    return {};
  }

  OpcodeReader reader_;
  bool cut_ = false;
  Limits limits_;
  Pickle pickle_;
  std::vector<Index> stack_;
  std::unordered_map<std::uint64_t, Index> memo_;
  std::unordered_map<std::int64_t, Index> shared_;
  std::set<std::string_view> globals_;
};

}  // namespace

std::string_view Pickle::nameOf(Index index) const {
  if (index == kNoValue) {
    return {};
  }
  const Value& value = at(index);
  if (value.kind == Kind::Persistent && value.args != kNoValue) {
    // Before 1.6 a class came as ("module", class, source file, source).
    const std::vector<Index>& id = at(value.args).items;
    return id.size() > 1 && at(id[0]).text == "module" && at(id[1]).kind == Kind::Global
               ? at(id[1]).text
               : std::string_view();
  }
  return value.kind == Kind::Global ? value.text : std::string_view();
}

Result<Pickle> readPickle(std::string_view bytes, const Limits& limits, bool* cut) {
  Machine machine(bytes, limits);
  auto pickle = machine.run();
  if (cut != nullptr) {
    *cut = !pickle && machine.cut();
  }
  return pickle;
}

}  // namespace neuroncheck::scanner::pickle

// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/collect.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/checkpoint/nn_modules.h"
#include "scanner/pickle/saved_tensor.h"

namespace neuroncheck::scanner {
namespace {

using pickle::Index;
using pickle::Kind;
using pickle::kNoValue;
using pickle::Pickle;
using pickle::Value;

/// Deeper than any checkpoint; each level is a stack frame.
constexpr int kMaxDepth = 200;
/// A pickle can refer to one object from many places: what it leads to may be exponentially more
/// than it holds. Real ones share a few objects a few times.
constexpr std::size_t kVisitsPerValue = 64;
constexpr std::size_t kFreeVisits = 10'000;

class Collector {
 public:
  Collector(const Pickle& pickle, const StorageSize& sizeOf, const TensorsById& byId)
      : pickle_(pickle), sizeOf_(sizeOf), byId_(byId) {}

  Result<Checkpoint> run() {
    checkpoint_.top = classOf(pickle_.root);
    for (const std::string_view global : pickle_.globals) {
      checkpoint_.globals.push_back({.name = std::string(global), .risk = riskOf(global)});
    }
    NEURONCHECK_TRY_VOID(walk(pickle_.root, "", 0));
    return std::move(checkpoint_);
  }

 private:
  [[nodiscard]] std::string classOf(Index index) const {
    const Value& value = pickle_.at(index);
    switch (value.kind) {
      case Kind::Dict:
        return "dict";
      case Kind::List:
        return "list";
      case Kind::Tuple:
        return "tuple";
      case Kind::Set:
        return "set";
      case Kind::Call:
      case Kind::Object: {
        if (pickle::isTensorCall(pickle_, index)) {
          return "Tensor";
        }
        const std::string_view callee = pickle_.calleeOf(value);
        return callee == "collections.OrderedDict" ? "OrderedDict" : std::string(callee);
      }
      case Kind::Global:
        return std::string(value.text);
      default:
        return "a single value";
    }
  }

  Result<void> walk(Index index, const std::string& path, int depth) {
    if (depth > kMaxDepth) {
      return inputError(
          fmt::format("'{:.120}' is nested more than {} deep", printable(path), kMaxDepth));
    }
    if (++visits_ > kFreeVisits + kVisitsPerValue * pickle_.values.size()) {
      return inputError("the pickle refers to its own objects too often to be a checkpoint");
    }
    if (pickle::isTensorCall(pickle_, index)) {
      addTensor(index, path);
      return {};
    }
    const Value& value = pickle_.at(index);
    if (value.kind == Kind::Persistent) {
      const auto found = byId_.find(pickle_.at(value.args).text);
      if (found != byId_.end()) {
        addTensor(found->second, path);
      }
      return {};
    }
    if (const Value* state = moduleState(value)) {
      return walkModule(value, *state, path, depth);
    }
    NEURONCHECK_TRY_VOID(walkPairs(value.pairs, path, depth));
    if (value.kind == Kind::Set) {
      return {};
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (isInteresting(value.items[i])) {
        NEURONCHECK_TRY_VOID(walk(value.items[i], fmt::format("{}[{}]", path, i), depth + 1));
      }
    }
    const bool object = value.kind == Kind::Object || value.kind == Kind::Call;
    if (object && value.state != kNoValue && open_.insert(value.state).second) {
      NEURONCHECK_TRY_VOID(walk(value.state, path, depth + 1));
      open_.erase(value.state);
    }
    return {};
  }

  Result<void> walkPairs(const std::vector<Index>& pairs, const std::string& path, int depth) {
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      if (isInteresting(pairs[i + 1])) {
        NEURONCHECK_TRY_VOID(walk(pairs[i + 1], joined(path, keyText(pairs[i])), depth + 1));
      }
    }
    return {};
  }

  /// Scalars lead nowhere: most of an optimiser's state is numbers.
  [[nodiscard]] bool isInteresting(Index index) const {
    switch (pickle_.at(index).kind) {
      case Kind::Dict:
      case Kind::List:
      case Kind::Tuple:
      case Kind::Call:
      case Kind::Object:
        return true;
      case Kind::Persistent:
        return !byId_.empty();
      default:
        return false;
    }
  }

  static std::string joined(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  }

  /// A key as Python's str() writes it, for the kinds that keys have.
  [[nodiscard]] std::string keyText(Index index) const {
    const Value& value = pickle_.at(index);
    switch (value.kind) {
      case Kind::Text:
        return std::string(value.text);
      case Kind::Int:
        return std::to_string(value.number);
      case Kind::Bool:
        return value.number != 0 ? "True" : "False";
      case Kind::None:
        return "None";
      case Kind::Real:
        return fmt::format("{}", value.real);
      default:
        return "<key>";
    }
  }

  /// The attributes of an nn.Module; null for anything else.
  [[nodiscard]] const Value* moduleState(const Value& value) const {
    const bool object = value.kind == Kind::Object || value.kind == Kind::Call;
    if (!object || value.state == kNoValue) {
      return nullptr;
    }
    const Value& state = pickle_.at(value.state);
    const bool module = state.kind == Kind::Dict && find(state, "_modules") != kNoValue &&
                        find(state, "_parameters") != kNoValue;
    return module ? &state : nullptr;
  }

  [[nodiscard]] Index find(const Value& dict, std::string_view key) const {
    for (std::size_t i = 0; i + 1 < dict.pairs.size(); i += 2) {
      const Value& candidate = pickle_.at(dict.pairs[i]);
      if (candidate.kind == Kind::Text && candidate.text == key) {
        return dict.pairs[i + 1];
      }
    }
    return kNoValue;
  }

  Result<void> walkModule(const Value& module, const Value& state, const std::string& path,
                          int depth) {
    checkpoint_.modules.push_back(
        {.path = path, .className = std::string(pickle_.calleeOf(module))});
    for (const std::string_view op : impliedOperators(pickle_.calleeOf(module))) {
      ++checkpoint_.impliedOps[std::string(op)];
    }
    const std::set<std::string_view> hidden = textsOf(find(state, "_non_persistent_buffers_set"));
    for (const std::string_view part : {"_parameters", "_buffers"}) {
      const Index tensors = find(state, part);
      if (tensors == kNoValue) {
        continue;
      }
      const std::vector<Index>& pairs = pickle_.at(tensors).pairs;
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        const std::string_view name = pickle_.at(pairs[i]).text;
        if (pickle::isTensorCall(pickle_, pairs[i + 1]) && !hidden.contains(name)) {
          addTensor(pairs[i + 1], joined(path, name));
        }
      }
    }
    return walkPairs(pickle_.at(find(state, "_modules")).pairs, path, depth);
  }

  /// The members of a set of texts: made by EMPTY_SET, or by calling set() with a list.
  [[nodiscard]] std::set<std::string_view> textsOf(Index index) const {
    std::set<std::string_view> texts;
    if (index == kNoValue) {
      return texts;
    }
    const auto take = [&](const std::vector<Index>& items) {
      for (const Index item : items) {
        texts.insert(pickle_.at(item).text);
      }
    };
    const Value& value = pickle_.at(index);
    take(value.items);
    if (value.args != kNoValue) {
      for (const Index argument : pickle_.at(value.args).items) {
        take(pickle_.at(argument).items);
      }
    }
    return texts;
  }

  void addTensor(Index index, const std::string& path) {
    auto read = pickle::readTensor(pickle_, index);
    if (read) {
      addTensor(*read, path);
      return;
    }
    CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
    tensor.name = path;
    tensor.spec.hasShape = false;
    tensor.problem = read.error().text();
  }

  void addTensor(const pickle::SavedTensor& saved, const std::string& path) {
    CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
    tensor.name = path;
    tensor.spec = saved.spec;
    tensor.form = saved.form;
    tensor.isParameter = saved.isParameter;
    tensor.problem = pickle::checkExtent(saved);
    if (saved.storage) {
      addStorage(tensor, *saved.storage);
    }
  }

  void addStorage(CheckpointTensor& tensor, const pickle::StorageRef& storage) {
    tensor.storage = storage.key;
    const std::int64_t item =
        storage.dtype == DType::Unknown ? 1 : std::max<std::int64_t>(itemSize(storage.dtype), 1);
    if (storage.count < 0 || __builtin_mul_overflow(storage.count, item, &tensor.storageBytes)) {
      tensor.storageBytes = -1;
      tensor.problem = fmt::format("its storage claims {} elements", storage.count);
      return;
    }
    const auto held = sizeOf_(storage.key);
    if (!held || !tensor.problem.empty() || storage.location == "meta") {
      return;
    }
    if (*held < 0) {
      tensor.problem =
          fmt::format("the file has no record for its storage '{:.40}'", printable(storage.key));
    } else if (*held < tensor.storageBytes) {
      tensor.problem =
          fmt::format("its storage claims {} bytes, the file has {}", tensor.storageBytes, *held);
    }
  }

  const Pickle& pickle_;
  const StorageSize& sizeOf_;
  const TensorsById& byId_;
  Checkpoint checkpoint_;
  std::size_t visits_ = 0;
  std::unordered_set<Index> open_;
};

}  // namespace

Result<Checkpoint> collect(const Pickle& pickle, const StorageSize& sizeOf,
                           const TensorsById& byId) {
  return Collector(pickle, sizeOf, byId).run();
}

}  // namespace neuroncheck::scanner

// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/collect.h"

#include <algorithm>
#include <set>
#include <unordered_map>
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
/// Longer than any parameter's name; a longer key is shown by its start.
constexpr std::size_t kLongestKey = 200;
constexpr std::size_t kLongestPath = 4096;
/// A pickle can refer to one object from many places: what it leads to may be exponentially more
/// than it holds. Real ones share a few objects a few times. Steps: one for each reference that is
/// looked at, kStepsPerVisit for each object, whose path is written.
constexpr std::size_t kStepsPerVisit = 16;
constexpr std::size_t kStepsPerValue = 64;
constexpr std::size_t kFreeSteps = 200'000;
constexpr std::size_t kMostSteps = 64'000'000;
/// A dict of more entries is searched once only.
constexpr std::size_t kWideDict = 64;

class Collector {
 public:
  Collector(const Pickle& pickle, const StorageSize& sizeOf, const TensorsById& byId,
            std::size_t maxMemory)
      : pickle_(pickle),
        sizeOf_(sizeOf),
        byId_(byId),
        memoryLeft_(maxMemory),
        stepsLeft_(std::min(
            kMostSteps, kFreeSteps + kStepsPerValue * (pickle.values.size() + pickle.references))) {
  }

  Result<Checkpoint> run() {
    checkpoint_.top = classOf(pickle_.root);
    for (const std::string_view global : pickle_.globals) {
      NEURONCHECK_TRY_VOID(take(sizeof(PickleGlobal) + global.size()));
      checkpoint_.globals.push_back({.name = std::string(global), .risk = riskOf(global)});
    }
    NEURONCHECK_TRY_VOID(walk(pickle_.root, "", 0));
    return std::move(checkpoint_);
  }

 private:
  Result<void> step(std::size_t count) {
    if (count > stepsLeft_) {
      return inputError("the pickle refers to its own objects too often to be a checkpoint");
    }
    stepsLeft_ -= count;
    return {};
  }
  Result<void> take(std::size_t bytes) {
    if (bytes > memoryLeft_) {
      return inputError("what the pickle describes takes far more memory than its own bytes");
    }
    memoryLeft_ -= bytes;
    return {};
  }

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
    if (path.size() > kLongestPath) {
      return inputError(
          fmt::format("the name '{:.120}...' has {} bytes", printable(path), path.size()));
    }
    const Value& value = pickle_.at(index);
    NEURONCHECK_TRY_VOID(step(kStepsPerVisit + value.items.size() + value.pairs.size()));
    if (pickle::isTensorCall(pickle_, index)) {
      return addTensor(index, path);
    }
    if (value.kind == Kind::Persistent) {
      const auto found = byId_.find(pickle_.at(value.args).text);
      return found == byId_.end() ? Result<void>() : addTensor(found->second, path);
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
        return value.text.size() <= kLongestKey
                   ? std::string(value.text)
                   : std::string(value.text.substr(0, kLongestKey)) + "...";
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
  [[nodiscard]] const Value* moduleState(const Value& value) {
    const bool object = value.kind == Kind::Object || value.kind == Kind::Call;
    if (!object || value.state == kNoValue) {
      return nullptr;
    }
    const Value& state = pickle_.at(value.state);
    if (state.kind != Kind::Dict) {
      return nullptr;
    }
    const auto known = wide_.find(value.state);
    const bool module = known != wide_.end() ? known->second
                                             : find(state, "_modules") != kNoValue &&
                                                   find(state, "_parameters") != kNoValue;
    if (state.pairs.size() > kWideDict) {
      wide_.try_emplace(value.state, module);
    }
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
    // Its attributes are searched for those that nn.Module has.
    NEURONCHECK_TRY_VOID(step(4 * state.pairs.size()));
    NEURONCHECK_TRY_VOID(
        take(sizeof(CheckpointModule) + path.size() + pickle_.calleeOf(module).size()));
    checkpoint_.modules.push_back(
        {.path = path, .className = std::string(pickle_.calleeOf(module))});
    for (const std::string_view op : impliedOperators(pickle_.calleeOf(module))) {
      ++checkpoint_.impliedOps[std::string(op)];
    }
    NEURONCHECK_TRY(const std::set<std::string_view> hidden,
                    textsOf(find(state, "_non_persistent_buffers_set")));
    for (const std::string_view part : {"_parameters", "_buffers"}) {
      const Index tensors = find(state, part);
      if (tensors == kNoValue) {
        continue;
      }
      const std::vector<Index>& pairs = pickle_.at(tensors).pairs;
      NEURONCHECK_TRY_VOID(step(pairs.size()));
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        const std::string_view name = pickle_.at(pairs[i]).text;
        if (pickle::isTensorCall(pickle_, pairs[i + 1]) && !hidden.contains(name)) {
          NEURONCHECK_TRY_VOID(addTensor(pairs[i + 1], joined(path, keyText(pairs[i]))));
        }
      }
    }
    const std::vector<Index>& children = pickle_.at(find(state, "_modules")).pairs;
    NEURONCHECK_TRY_VOID(step(children.size()));
    return walkPairs(children, path, depth);
  }

  /// The members of a set of texts: made by EMPTY_SET, or by calling set() with a list.
  Result<std::set<std::string_view>> textsOf(Index index) {
    std::set<std::string_view> texts;
    if (index == kNoValue) {
      return texts;
    }
    const auto add = [&](const std::vector<Index>& items) -> Result<void> {
      NEURONCHECK_TRY_VOID(step(kStepsPerVisit * (items.size() + 1)));
      for (const Index item : items) {
        texts.insert(pickle_.at(item).text);
      }
      return {};
    };
    const Value& value = pickle_.at(index);
    NEURONCHECK_TRY_VOID(add(value.items));
    if (value.args != kNoValue) {
      for (const Index argument : pickle_.at(value.args).items) {
        NEURONCHECK_TRY_VOID(add(pickle_.at(argument).items));
      }
    }
    return texts;
  }

  Result<void> addTensor(Index index, const std::string& path) {
    auto read = pickle::readTensor(pickle_, index);
    if (read) {
      return addTensor(*read, path);
    }
    const std::string problem = read.error().text();
    NEURONCHECK_TRY_VOID(step(kStepsPerVisit));
    NEURONCHECK_TRY_VOID(take(sizeof(CheckpointTensor) + path.size() + problem.size()));
    CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
    tensor.name = path;
    tensor.spec.hasShape = false;
    tensor.problem = problem;
    return {};
  }

  Result<void> addTensor(const pickle::SavedTensor& saved, const std::string& path) {
    const std::size_t numbers = saved.spec.sizes.size() + saved.spec.strides.size();
    NEURONCHECK_TRY_VOID(step(kStepsPerVisit + numbers));
    NEURONCHECK_TRY_VOID(
        take(2 * sizeof(CheckpointTensor) + path.size() + numbers * sizeof(SymInt) +
             (saved.storage ? saved.storage->key.size() + saved.storage->location.size() : 0)));
    CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
    tensor.name = path;
    tensor.spec = saved.spec;
    tensor.form = saved.form;
    tensor.isParameter = saved.isParameter;
    tensor.problem = pickle::checkExtent(saved);
    if (saved.storage) {
      addStorage(tensor, *saved.storage);
    }
    return {};
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
  std::size_t memoryLeft_;
  std::size_t stepsLeft_;
  std::unordered_set<Index> open_;
  std::unordered_map<Index, bool> wide_;
};

}  // namespace

Result<Checkpoint> collect(const Pickle& pickle, const StorageSize& sizeOf, const TensorsById& byId,
                           std::size_t maxMemory) {
  return Collector(pickle, sizeOf, byId, maxMemory).run();
}

}  // namespace neuroncheck::scanner

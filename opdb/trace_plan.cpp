// SPDX-License-Identifier: Apache-2.0
#include "opdb/trace_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/case_spec.h"
#include "opdb/autocast.h"
#include "opdb/layouts.h"
#include "opdb/lookup.h"

namespace neuroncheck::opdb {
namespace {

/// Values for the symbols of one model.
class Sizes {
 public:
  explicit Sizes(const Model& model) : ranges_(model.ranges) {
    for (const GraphInput& input : model.inputs) {
      note(input.value);
    }
    for (const OpUse& use : model.uses) {
      for (const ArgValue& output : use.outputs) {
        note(output);
      }
    }
  }

  /// The value of an expression; nullopt when its form is not known.
  std::optional<std::int64_t> of(const SymExpr& expr) {
    return expr.evaluate([this](std::string_view symbol) { return std::optional(choose(symbol)); });
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [symbol, value] : chosen_) {
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", symbol, value);
    }
    return out;
  }

 private:
  void note(const ArgValue& value) {
    forEachTensor(value, [this](const TensorValue& tensor) {
      for (const SymInt& size : tensor.spec.sizes) {
        note(size);
      }
    });
    if (const auto* number = std::get_if<SymIntValue>(&value)) {
      note(number->value);
    }
  }
  void note(const SymInt& size) {
    if (size.isSymbolic() && size.hasHint && size.expr->kind() == SymExpr::Kind::Symbol) {
      hints_.try_emplace(size.expr->str(), size.value);
    }
  }

  /// The hint; else a small number that the range allows: not 0 and 1, which torch treats apart.
  std::int64_t choose(std::string_view symbol) {
    const auto [place, isNew] = chosen_.try_emplace(std::string(symbol), 2);
    if (!isNew) {
      return place->second;
    }
    if (const auto hint = hints_.find(place->first); hint != hints_.end()) {
      return place->second = hint->second;
    }
    if (const auto range = ranges_.find(place->first); range != ranges_.end()) {
      place->second = std::max(place->second, range->second.min.value_or(place->second));
      place->second = std::min(place->second, range->second.max.value_or(place->second));
    }
    return place->second;
  }

  const SymRanges& ranges_;
  std::map<std::string, std::int64_t> hints_;
  std::map<std::string, std::int64_t> chosen_;
};

/// Replaces symbols in the arguments of a use. False when one has no value.
class Concretise {
 public:
  explicit Concretise(Sizes& sizes) : sizes_(sizes) {}

  bool apply(OpUse& use) {
    return std::ranges::all_of(use.args,
                               [this](Argument& argument) { return value(argument.value); });
  }

 private:
  bool number(SymInt& size) {
    if (!size.isSymbolic()) {
      return true;
    }
    const auto chosen = sizes_.of(*size.expr);
    size = SymInt(chosen.value_or(0));
    return chosen.has_value();
  }

  bool tensor(TensorPtr& pointer) {
    if (!pointer || !pointer->spec.isSymbolic()) {
      return true;
    }
    // One object stays one: a case names an operand that is given twice.
    const auto [place, isNew] = tensors_.try_emplace(pointer.get());
    if (isNew) {
      TensorValue copy = *pointer;
      bool known = number(copy.spec.storageOffset);
      for (std::vector<SymInt>* list : {&copy.spec.sizes, &copy.spec.strides}) {
        for (SymInt& size : *list) {
          known = number(size) && known;
        }
      }
      place->second = known ? std::make_shared<const TensorValue>(std::move(copy)) : nullptr;
    }
    pointer = place->second;
    return pointer != nullptr;
  }

  bool value(ArgValue& argument) {
    if (auto* one = std::get_if<TensorPtr>(&argument)) {
      return tensor(*one);
    }
    if (auto* list = std::get_if<TensorList>(&argument)) {
      return std::ranges::all_of(list->items, [this](TensorPtr& item) { return tensor(item); });
    }
    if (auto* scalar = std::get_if<SymIntValue>(&argument)) {
      return number(scalar->value);
    }
    if (auto* numbers = std::get_if<std::vector<SymIntValue>>(&argument)) {
      return std::ranges::all_of(*numbers,
                                 [this](SymIntValue& item) { return number(item.value); });
    }
    return true;
  }

  Sizes& sizes_;
  std::map<const TensorValue*, TensorPtr> tensors_;
};

bool isRegistered(SupportStatus status) {
  return status == SupportStatus::Native || status == SupportStatus::Partial ||
         status == SupportStatus::CpuFallback;
}

/// Groups whose operators ask a device for nothing, whatever the release.
bool asksForNothing(OpGroup group) {
  return group == OpGroup::Guard || group == OpGroup::Symbolic || group == OpGroup::Constant ||
         group == OpGroup::NoDeviceWork;
}

}  // namespace

std::vector<std::string> registeredOperators(const Database& database, const Target& target) {
  const ReleaseOrder releases(database, target);
  using Rank = std::tuple<Nearness, std::int64_t>;
  std::map<std::string, std::pair<Rank, bool>> best;
  for (const SupportRow& row : database.allSupport()) {
    if (row.product != target.product || row.scope != RowScope::Overload ||
        row.status == SupportStatus::Unknown ||
        !rowApplies(row, ExecutionMode::Eager, target.chip)) {
      continue;
    }
    const Standing standing = releases.standing(row.release);
    if (standing.nearness == Nearness::NeverAsks) {
      continue;
    }
    const Rank rank(standing.nearness, -standing.order);
    const auto [place, isNew] = best.try_emplace(row.op, rank, isRegistered(row.status));
    if (!isNew && rank < place->second.first) {
      place->second = {rank, isRegistered(row.status)};
    }
  }
  std::vector<std::string> out;
  out.reserve(best.size());
  for (const auto& [op, known] : best) {
    if (known.second) {
      out.push_back(op);
    }
  }
  return out;
}

std::vector<NotChecked> openInTrace(const Model& model, const ModelTrace& trace) {
  std::map<std::string, std::int64_t> reasons;
  std::int64_t traced = 0;
  for (const OpUse& use : model.uses) {
    const TracedCase* result = trace.of(use.id);
    if (result != nullptr && result->notTraced.empty()) {
      ++traced;
    } else if (result != nullptr) {
      ++reasons[result->notTraced];
    } else if (!asksForNothing(use.group)) {
      ++reasons[trace.whyNoCase.at(use.id)];
    }
  }
  std::vector<NotChecked> open;
  open.reserve(reasons.size() + 1);
  for (const auto& [reason, count] : reasons) {
    open.push_back({.what = fmt::format("a trace of {} {}", count, count == 1 ? "use" : "uses"),
                    .why = reason,
                    .how = "the catalogue's expansions answer for them, as without --trace"});
  }
  if (traced > 0) {
    open.push_back({.what = "what traced operators call for other values and sizes",
                    .why = fmt::format("{} {} dispatched once on zeros{}", traced,
                                       traced == 1 ? "use was" : "uses were",
                                       trace.sizes.empty() ? "" : ", at " + trace.sizes),
                    .how = ""});
  }
  return open;
}

ModelTrace planTrace(const Model& model, const Database& database) {
  ModelTrace plan;
  Sizes sizes(model);
  const std::vector<AutocastRegion> regions = autocastRegions(model);
  const Layouts layouts(model, database);
  std::map<std::string, std::size_t> known;
  for (const OpUse& use : model.uses) {
    plan.caseOfUse.emplace_back();
    std::string& why = plan.whyNoCase.emplace_back();
    if (asksForNothing(use.group)) {
      why = "it asks the device for nothing";
      continue;
    }
    if (use.group == OpGroup::Collective) {
      why = "what a collective asks depends on the process group of the backend";
      continue;
    }
    if (layouts.withoutForeign(use)) {
      why = "the strides of an operand in the file were chosen by kernels of another device";
      continue;
    }
    OpUse asked = asAutocastRunsIt(use, regions).value_or(use);
    const OpInfo* info = database.find(use.op);
    const auto spec = Concretise(sizes).apply(asked)
                          ? caseOf(asked, info != nullptr ? &info->schema : nullptr)
                          : std::nullopt;
    if (!spec) {
      why = "an argument is not known before the model runs";
      continue;
    }
    const auto [place, isNew] = known.try_emplace(spec->str(), plan.cases.size());
    if (isNew) {
      plan.cases.push_back(place->first);
    }
    plan.caseOfUse.back() = place->second;
  }
  plan.sizes = sizes.text();
  return plan;
}

}  // namespace neuroncheck::opdb

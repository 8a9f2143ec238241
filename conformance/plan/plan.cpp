// SPDX-License-Identifier: Apache-2.0
#include "conformance/plan/plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace neuroncheck::conformance {
namespace {

/// Whether a use makes the device do something that a case can show. Views share memory, which is
/// checked too; metadata, checks and symbols are no work.
bool reachesDevice(OpGroup group) {
  switch (group) {
    case OpGroup::Compute:
    case OpGroup::View:
    case OpGroup::ViewOrCopy:
    case OpGroup::Factory:
    case OpGroup::Copy:
    case OpGroup::Random:
      return true;
    default:
      return false;
  }
}

class Planner {
 public:
  PlannedCase& add(CaseSpec spec) {
    std::string text = spec.str();
    const auto [place, isNew] = places_.try_emplace(text, plan_.cases.size());
    if (isNew) {
      PlannedCase& fresh = plan_.cases.emplace_back();
      fresh.id = spec.id();
      fresh.spec = std::move(spec);
      fresh.text = std::move(text);
    }
    return plan_.cases[place->second];
  }

  void addUse(const OpUse& use, const std::string& model) {
    if (!reachesDevice(use.group)) {
      return;
    }
    auto spec = caseOf(use);
    if (!spec) {
      ++open_[use.op.str()];
      return;
    }
    PlannedCase& planned = add(*std::move(spec));
    ++planned.uses;
    if (std::ranges::find(planned.models, model) == planned.models.end()) {
      planned.models.push_back(model);
    }
  }

  Plan take() {
    for (const auto& [op, count] : open_) {
      plan_.notChecked.push_back(
          {.what = fmt::format("{} ({} {})", op, count, count == 1 ? "use" : "uses"),
           .why = "a size, a shape or an argument is not known, so there is no case to run",
           .how = "export with fixed shapes, or give --input-shape"});
    }
    return std::move(plan_);
  }

 private:
  Plan plan_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::int64_t> open_;
};

}  // namespace

Outcome outcomeOf(const PlannedCase& planned) {
  Outcome out;
  out.id = planned.id;
  out.text = planned.text;
  out.op = planned.spec.steps.back().op.str();
  out.uses = planned.uses;
  out.models = planned.models;
  return out;
}

Plan planOf(const RunRecord& record) {
  Planner planner;
  for (const InputResult& input : record.inputs) {
    for (const ModelAssessment& judged : input.assessment.models) {
      const Model* model = modelOf(input, judged);
      for (std::size_t i = 0; model != nullptr && i < model->uses.size(); ++i) {
        planner.addUse(model->uses[i], modelLabel(input, judged));
      }
    }
  }
  return planner.take();
}

Result<Plan> planOfText(std::string_view text) {
  Planner planner;
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view words = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!words.empty() && (words.back() == '\r' || words.back() == ' ')) {
      words.remove_suffix(1);
    }
    if (words.empty() || words.front() == '#') {
      continue;
    }
    auto spec = CaseSpec::parse(words);
    if (!spec) {
      return tl::unexpected(std::move(spec).error().within(fmt::format("line {}", line)));
    }
    planner.add(*std::move(spec));
  }
  return planner.take();
}

}  // namespace neuroncheck::conformance

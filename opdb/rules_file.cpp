// SPDX-License-Identifier: Apache-2.0
// Findings about the file itself, from the reader's notes and from what it found.
#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "opdb/rules.h"
#include "opdb/rules_table.h"

namespace neuroncheck::opdb {
namespace {

/// The newest export schema this program was written against (torch 2.13.0).
constexpr std::int64_t kSchemaMajor = 8;
constexpr std::int64_t kSchemaMinor = 20;
/// Rule of a note whose id this version does not know.
constexpr std::string_view kOther = "NC109";

class FileFindings {
 public:
  explicit FileFindings(const Inventory& inventory) : inventory_(inventory) {}

  std::vector<Finding> take() {
    for (const FileNote& note : inventory_.notes) {
      add(note.rule, note.message, note.record);
    }
    compiledBeside();
    for (const Model& model : inventory_.models) {
      weightless(model);
      newerSchema(model);
    }
    std::vector<Finding> out;
    out.reserve(findings_.size());
    for (auto& [id, finding] : findings_) {
      out.push_back(std::move(finding));
    }
    std::ranges::stable_sort(
        out, [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    return out;
  }

 private:
  [[nodiscard]] bool noted(std::string_view id) const {
    return std::ranges::any_of(inventory_.notes,
                               [id](const FileNote& note) { return note.rule == id; });
  }

  void add(std::string_view wanted, std::string_view message, std::string_view record,
           std::string_view model = {}) {
    const auto rules = builtInRules();
    const auto known =
        std::ranges::find_if(rules, [wanted](const RuleInfo& rule) { return rule.id == wanted; });
    const bool ours = known != rules.end() && wanted.starts_with("NC1");
    const RuleInfo& info = ours ? *known : ruleInfo(kOther);
    const auto [found, isNew] = findings_.try_emplace(std::string(info.id));
    Finding& finding = found->second;
    if (isNew) {
      finding.rule = info.id;
      finding.severity = info.severity;
      finding.title = info.title;
      finding.remedy = info.remedy;
      finding.message = message;
    } else if (finding.message.find(message) == std::string::npos && finding.places.size() < 8) {
      finding.message += fmt::format(" {}", message);
    }
    FindingPlace place;
    place.model = model;
    place.node = record;
    place.detail = message;
    finding.places.push_back(std::move(place));
  }

  void compiledBeside() {
    if (inventory_.models.empty() || noted("NC103")) {
      return;
    }
    for (const std::string& compiled : inventory_.compiledModels) {
      add("NC103", fmt::format("The package also holds '{}' compiled by AOTInductor.", compiled),
          compiled);
    }
  }

  void weightless(const Model& model) {
    const bool empty =
        !model.stored.empty() && std::ranges::all_of(model.stored, [](const StoredTensor& stored) {
          // A tensor without elements has an empty record in every file.
          return stored.recordBytes <= 0 && stored.spec.elementCount() != 0;
        });
    if (empty && !noted("NC106")) {
      add("NC106", fmt::format("Model '{}' has no weights in the file.", model.name), {},
          model.name);
    }
  }

  void newerSchema(const Model& model) {
    const bool newer = model.schemaMajor > kSchemaMajor ||
                       (model.schemaMajor == kSchemaMajor && model.schemaMinor > kSchemaMinor);
    if (newer && !noted("NC105")) {
      add("NC105",
          fmt::format("Model '{}' has export schema {}.{}; this program knows {}.{}.", model.name,
                      model.schemaMajor, model.schemaMinor, kSchemaMajor, kSchemaMinor),
          {}, model.name);
    }
  }

  const Inventory& inventory_;
  std::map<std::string, Finding> findings_;
};

}  // namespace

std::vector<Finding> fileFindings(const Inventory& inventory) {
  return FileFindings(inventory).take();
}

}  // namespace neuroncheck::opdb

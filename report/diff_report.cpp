// SPDX-License-Identifier: Apache-2.0
#include "report/diff_report.h"

#include <ostream>
#include <string>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/inventory_json.h"
#include "core/run_json.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kCasesShown = 3;

Json toJson(const OpDelta& delta) {
  return Json{{"op", delta.op},
              {"before", delta.before},
              {"after", delta.after},
              {"claim_before", delta.before == 0 ? Json(nullptr) : Json(name(delta.claimBefore))},
              {"claim_after", delta.after == 0 ? Json(nullptr) : Json(name(delta.claimAfter))},
              {"only_before", delta.onlyBefore},
              {"only_after", delta.onlyAfter}};
}

Json toJson(const std::vector<OpDelta>& deltas) {
  Json list = Json::array();
  for (const OpDelta& delta : deltas) {
    list.push_back(toJson(delta));
  }
  return list;
}

Json toJson(const ModelDiff& diff) {
  return Json{{"before",
               {{"model", diff.before},
                {"producer", diff.producerBefore},
                {"dialect", diff.dialectBefore},
                {"verdict", name(diff.verdictBefore)}}},
              {"after",
               {{"model", diff.after},
                {"producer", diff.producerAfter},
                {"dialect", diff.dialectAfter},
                {"verdict", name(diff.verdictAfter)}}},
              {"same", diff.same()},
              {"gained", toJson(diff.gained)},
              {"lost", toJson(diff.lost)},
              {"changed", toJson(diff.changed)},
              {"findings_gained", diff.findingsGained},
              {"findings_lost", diff.findingsLost}};
}

void writeCases(const std::vector<std::string>& cases, char mark, std::ostream& out) {
  for (std::size_t i = 0; i < cases.size() && i < kCasesShown; ++i) {
    fmt::print(out, "      {} {}\n", mark, printable(cases[i]));
  }
  if (cases.size() > kCasesShown) {
    fmt::print(out, "      {} and {} more\n", mark, cases.size() - kCasesShown);
  }
}

void writeDeltas(const char* title, const std::vector<OpDelta>& deltas, std::ostream& out) {
  if (deltas.empty()) {
    return;
  }
  fmt::print(out, "\n  {} ({})\n", title, deltas.size());
  for (const OpDelta& delta : deltas) {
    const std::string claims = delta.before == 0  ? std::string(name(delta.claimAfter))
                               : delta.after == 0 ? std::string(name(delta.claimBefore))
                                                  : fmt::format("{} -> {}", name(delta.claimBefore),
                                                                name(delta.claimAfter));
    fmt::print(out, "    {:<44} {:>4} -> {:<4} {}\n", printable(delta.op), delta.before,
               delta.after, claims);
    if (delta.before != 0 && delta.after != 0) {
      writeCases(delta.onlyBefore, '-', out);
      writeCases(delta.onlyAfter, '+', out);
    }
  }
}

void writeTerminal(const ModelDiff& diff, std::ostream& out) {
  fmt::print(out, "- {}  ({}, {}): {}\n", printable(diff.before), printable(diff.producerBefore),
             printable(diff.dialectBefore), name(diff.verdictBefore));
  fmt::print(out, "+ {}  ({}, {}): {}\n", printable(diff.after), printable(diff.producerAfter),
             printable(diff.dialectAfter), name(diff.verdictAfter));
  if (diff.same()) {
    fmt::print(out, "\n  no difference in operators, cases, claims or findings\n");
    return;
  }
  writeDeltas("operators gained", diff.gained, out);
  writeDeltas("operators lost", diff.lost, out);
  writeDeltas("operators changed", diff.changed, out);
  for (const std::string& finding : diff.findingsGained) {
    fmt::print(out, "\n  finding gained: {}", printable(finding));
  }
  for (const std::string& finding : diff.findingsLost) {
    fmt::print(out, "\n  finding lost:   {}", printable(finding));
  }
  fmt::print(out, "\n");
}

void writeMarkdown(const ModelDiff& diff, std::ostream& out) {
  fmt::print(out, "### {} → {}\n\n", markdown(diff.before), markdown(diff.after));
  fmt::print(out, "Verdict **{}** → **{}**. Dialect {} → {}.\n\n", name(diff.verdictBefore),
             name(diff.verdictAfter), markdown(diff.dialectBefore), markdown(diff.dialectAfter));
  fmt::print(out,
             "| change | operator | before | after | claim before | claim after "
             "|\n|---|---|---|---|---|---|\n");
  const auto rows = [&out](const char* change, const std::vector<OpDelta>& deltas) {
    for (const OpDelta& delta : deltas) {
      fmt::print(out, "| {} | {} | {} | {} | {} | {} |\n", change, markdown(delta.op), delta.before,
                 delta.after, delta.before == 0 ? "-" : name(delta.claimBefore),
                 delta.after == 0 ? "-" : name(delta.claimAfter));
    }
  };
  rows("gained", diff.gained);
  rows("lost", diff.lost);
  rows("changed", diff.changed);
  for (const std::string& finding : diff.findingsGained) {
    fmt::print(out, "\n- finding gained: {}", markdown(finding));
  }
  for (const std::string& finding : diff.findingsLost) {
    fmt::print(out, "\n- finding lost: {}", markdown(finding));
  }
  fmt::print(out, "\n");
}

}  // namespace

Result<void> writeDiff(const std::vector<ModelDiff>& diffs, const Target& target,
                       std::string_view format, std::ostream& out) {
  if (format == "json") {
    Json document{{"schema", "neuron-check/diff/1"},
                  {"target", neuroncheck::toJson(target)},
                  {"diffs", Json::array()}};
    for (const ModelDiff& diff : diffs) {
      document["diffs"].push_back(toJson(diff));
    }
    out << dumpJson(document, 1) << '\n';
    return {};
  }
  if (format != "terminal" && format != "md") {
    return fail(ErrorCode::Usage,
                fmt::format("--format '{}': the diff formats are terminal, json and md", format));
  }
  for (const ModelDiff& diff : diffs) {
    format == "md" ? writeMarkdown(diff, out) : writeTerminal(diff, out);
  }
  return {};
}

}  // namespace neuroncheck::report

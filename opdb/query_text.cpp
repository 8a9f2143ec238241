// SPDX-License-Identifier: Apache-2.0
#include "opdb/query_text.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

std::string conditionOf(const SupportRow& row) {
  std::string text;
  if (!row.dtypes.empty()) {
    text += fmt::format(" for {}", row.dtypes);
  }
  if (!row.chip.empty()) {
    text += fmt::format(" on {}", row.chip);
  }
  if (!row.predicate.empty()) {
    text += fmt::format(" where {}", row.predicate);
  }
  if (row.otherwise) {
    text += fmt::format(", else {}", name(*row.otherwise));
  }
  return text;
}

std::string ageOf(const DatedRow& dated) {
  if (dated.row.observed.empty()) {
    return "no date";
  }
  return dated.ageDays < 0 ? dated.row.observed
                           : fmt::format("{}, {} days old", dated.row.observed, dated.ageDays);
}

std::string rowText(const DatedRow& dated) {
  const SupportRow& row = dated.row;
  std::string out = fmt::format("    {} {} {}: {}{}\n", row.product, row.release, row.mode,
                                name(row.status), conditionOf(row));
  out += fmt::format("      evidence: {}, {} confidence, {}: {}\n", row.evidence,
                     neuroncheck::name(row.confidence), ageOf(dated), row.source);
  if (row.scope == RowScope::Packet) {
    out += fmt::format("      said of all overloads of {}\n", row.op);
  }
  const std::pair<std::string_view, const std::string&> notes[] = {
      {"the vendor's own test", row.vendorTest}, {"path", row.pathNote}, {"note", row.note}};
  for (const auto& [label, note] : notes) {
    if (!note.empty()) {
      out += fmt::format("      {}: {}\n", label, note);
    }
  }
  return out;
}

std::string expansionText(const std::vector<ExpansionNode>& nodes, int depth) {
  std::string out;
  for (const ExpansionNode& node : nodes) {
    const ExpansionRow& row = node.row;
    if (row.child.empty()) {
      out += fmt::format("    {:{}}calls nothing\n", "", depth * 2);
      continue;
    }
    out += fmt::format("    {:{}}{}{}", "", depth * 2, row.child,
                       row.times == "1" ? "" : " x" + row.times);
    if (!row.always && row.condition.empty()) {
      out += row.onlyIf.empty() ? ", sometimes"
                                : fmt::format(", sometimes, only where {}", row.onlyIf);
    } else if (!row.always) {
      out += fmt::format(", where {}", row.condition);
    }
    out += row.plumbing ? " (allocation or metadata)" : "";
    out += row.truncated ? " (recorded up to an error)" : "";
    out += node.cut ? " ...\n" : "\n";
    out += expansionText(node.children, depth + 1);
  }
  return out;
}

std::string_view dispatchText(DispatchClass dispatchClass) {
  switch (dispatchClass) {
    case DispatchClass::Unknown:
      return "not known";
    case DispatchClass::CompositeImplicit:
      return "composite: torch decomposes it before the backend";
    case DispatchClass::CompositeExplicit:
      return "one default kernel for all backends";
    case DispatchClass::CompositeNonFunctional:
      return "structured: the backend's out variant decides";
    case DispatchClass::Kernel:
      return "needs a kernel of the backend, else the CPU fallback";
  }
  return "not known";
}

std::string factsText(const OpDetails& details) {
  const OpInfo& info = details.info;
  std::string out =
      fmt::format("{}\n  {} ({})\n", details.op.str(), info.schema.text, details.catalogue);
  out += fmt::format("  dispatch: {}\n", dispatchText(info.dispatchClass));
  if (info.structuredTwin) {
    out += fmt::format("  structured twin: {}\n", info.structuredTwin->str());
  }
  out += fmt::format("  CPU kernel for the fallback: {}\n", info.cpuKernel ? "yes" : "no");
  if (info.throwsOnly) {
    out += "  its default kernel only raises\n";
  }
  if (info.view != ViewClass::None) {
    out += fmt::format("  view class: {}\n", name(info.view));
  }
  if (!info.tags.empty()) {
    out += fmt::format("  tags: {}\n", fmt::join(info.tags, ", "));
  }
  return out;
}

std::string detailsText(const OpDetails& details) {
  std::string out = factsText(details);
  out += details.rows.empty() ? "  support: nothing stated\n" : "  support:\n";
  for (const DatedRow& row : details.rows) {
    out += rowText(row);
  }
  if (!details.otherProducts.empty()) {
    out += "  other products (these rows never answer here):\n";
    for (const DatedRow& row : details.otherProducts) {
      out += rowText(row);
    }
  }
  if (!details.expansion.empty()) {
    out += "  calls, where the release has no kernel of its own:\n" +
           expansionText(details.expansion, 0);
  }
  if (!details.composites.empty()) {
    std::vector<std::string> names;
    names.reserve(details.composites.size());
    for (const OpName& op : details.composites) {
      names.push_back(op.str());
    }
    out += fmt::format("  called by: {}\n", fmt::join(names, ", "));
  }
  std::vector<std::string> general;
  for (const CompilerRule& rule : details.rules) {
    if (rule.targets == std::vector<std::string>{"*"}) {
      general.push_back(fmt::format("{} ({})", rule.code, rule.title));
      continue;
    }
    out += fmt::format("  rule {} ({} {}): {}, where {}\n", rule.code, rule.product, rule.release,
                       rule.title, rule.predicate);
  }
  if (!general.empty()) {
    out += fmt::format("  rules on every operator: {}\n", fmt::join(general, ", "));
  }
  for (const FeatureRow& feature : details.features) {
    out += fmt::format("  feature {} ({}, {}): {}: {}\n", feature.id, feature.release, feature.mode,
                       name(feature.status), feature.message);
  }
  return out;
}

}  // namespace

std::string text(const std::vector<OpSummary>& ops) {
  std::string out;
  for (const OpSummary& summary : ops) {
    std::vector<std::string> rows;
    rows.reserve(summary.rows.size());
    for (const SupportRow* row : summary.rows) {
      rows.push_back(fmt::format("{} {}: {}", row->release, row->mode, name(row->status)));
    }
    out += fmt::format("{}  {}\n", summary.op.str(),
                       rows.empty() ? "nothing stated" : fmt::format("{}", fmt::join(rows, "; ")));
  }
  out += fmt::format("{} operator{}\n", ops.size(), ops.size() == 1 ? "" : "s");
  return out;
}

std::string text(const std::vector<OpDetails>& ops) {
  std::string out;
  for (const OpDetails& details : ops) {
    out += out.empty() ? "" : "\n";
    out += detailsText(details);
  }
  return out;
}

std::string text(const std::vector<SupportChange>& changes) {
  std::string out;
  std::map<ChangeKind, std::size_t> counts;
  for (const SupportChange& change : changes) {
    if (++counts[change.kind] == 1) {
      out += fmt::format("{}\n", name(change.kind));
    }
    const std::string_view before =
        change.before.empty() ? "nothing stated" : std::string_view(change.before);
    const std::string_view after =
        change.after.empty() ? "nothing stated" : std::string_view(change.after);
    out += fmt::format("  {}{}: {} -> {}\n", change.op,
                       change.scope == RowScope::Packet ? " (all overloads)" : "", before, after);
  }
  std::vector<std::string> totals;
  totals.reserve(counts.size());
  for (const auto& [kind, count] : counts) {
    totals.push_back(fmt::format("{} {}", count, name(kind)));
  }
  out += totals.empty() ? "no difference\n" : fmt::format("{}\n", fmt::join(totals, ", "));
  return out;
}

}  // namespace neuroncheck::opdb

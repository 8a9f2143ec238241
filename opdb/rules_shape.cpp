// SPDX-License-Identifier: Apache-2.0
// Symbolic dimensions: refused under torch.compile, one compile per size in eager mode. One finding
// per symbol, with every place it touches and what fixing it would change.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "opdb/rules_run.h"
#include "opdb/rules_symbols.h"

namespace neuroncheck::opdb {
namespace {

/// Symbols that get a finding of their own; files with more are no models anyone wrote.
constexpr std::size_t kMaxSymbolFindings = 64;

/// Places of all symbols together; one use of a hostile file can depend on many symbols.
constexpr std::size_t kMaxPlaces = 200'000;

struct Touched {
  std::vector<const OpUse*> uses;
  std::int64_t alone = 0;                                   ///< uses that depend on no other symbol
  std::vector<std::pair<std::string, std::string>> inputs;  ///< graph input, what of it
};

bool counts(const RuleRun& run, const OpUse& use) {
  // A view compiles nothing in eager mode; a compiled graph holds it like any other node.
  return touchesDevice(use.group) || (!run.eager() && use.group == OpGroup::View);
}

std::vector<Touched> collect(RuleRun& run, SymbolTable& table) {
  std::vector<Touched> touched;
  const auto at = [&touched](std::uint32_t id) -> Touched& {
    if (touched.size() <= id) {
      touched.resize(id + 1);
    }
    return touched[id];
  };
  for (const GraphInput& input : run.model().inputs) {
    std::set<std::uint32_t> ids;
    table.collect(input.value, ids);
    for (const std::uint32_t id : ids) {
      const auto* tensor = std::get_if<TensorPtr>(&input.value);
      at(id).inputs.emplace_back(input.name, tensor != nullptr && *tensor != nullptr
                                                 ? run.tensorText(**tensor)
                                                 : std::string("a number"));
    }
  }
  for (const OpUse& use : run.model().uses) {
    if (!counts(run, use)) {
      continue;
    }
    std::set<std::uint32_t> ids;
    for (const Argument& argument : use.args) {
      table.collect(argument.value, ids);
    }
    for (const ArgValue& output : use.outputs) {
      table.collect(output, ids);
    }
    for (const std::uint32_t id : ids) {
      at(id).uses.push_back(&use);
      at(id).alone += ids.size() == 1 ? 1 : 0;
    }
  }
  return touched;
}

/// Powers of two that cover lo..hi, as buckets one pads to.
std::int64_t buckets(std::int64_t lo, std::int64_t hi) {
  const auto power = [](std::int64_t value) {
    return static_cast<std::int64_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1)) - 1));
  };
  return power(hi) - power(lo) + 1;
}

std::string rangeText(const RuleRun& run, const std::string& symbol) {
  const auto found = run.model().ranges.find(symbol);
  if (found == run.model().ranges.end() || !found->second.max) {
    const std::int64_t lo = found == run.model().ranges.end() ? 0 : found->second.min.value_or(0);
    return fmt::format("has no upper bound ({} and more): the number of sizes is not limited", lo);
  }
  const std::int64_t lo = std::max<std::int64_t>(found->second.min.value_or(0), 0);
  const std::int64_t hi = *found->second.max;
  if (hi < lo) {
    return "has an empty range";
  }
  return fmt::format("ranges over {}..{}: {}, or {} when padded to powers of two", lo, hi,
                     counted(hi - lo + 1, "size", "distinct sizes"),
                     counted(buckets(lo, hi), "bucket", "buckets"));
}

std::string inputsText(const Touched& touched) {
  constexpr std::size_t kMaxInputs = 4;
  std::string out;
  for (std::size_t i = 0; i < touched.inputs.size() && i < kMaxInputs; ++i) {
    out += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", touched.inputs[i].first,
                       touched.inputs[i].second);
  }
  if (touched.inputs.size() > kMaxInputs) {
    out += fmt::format(" and {} more", touched.inputs.size() - kMaxInputs);
  }
  return out;
}

std::string messageFor(const RuleRun& run, const std::string& symbol, const Touched& touched) {
  const auto uses = static_cast<std::int64_t>(touched.uses.size());
  std::string out = fmt::format("{} {}", symbol, rangeText(run, symbol));
  if (!touched.inputs.empty()) {
    out += fmt::format(" (inputs {})", inputsText(touched));
  }
  if (uses == 0) {
    return out + ". No operator depends on it.";
  }
  out += fmt::format(". {} depend{} on it, the first is {}",
                     counted(uses, "operator use", "operator uses"), uses == 1 ? "s" : "",
                     whereText(*touched.uses.front()));
  out += run.eager() ? "; each is compiled once per size. "
                     : "; torch.compile refuses the graph, or compiles it again for each size. ";
  out += fmt::format("Fixed to one size, {} of them become{} concrete{}.", touched.alone,
                     touched.alone == 1 ? "s" : "",
                     touched.alone < uses ? "; the others depend on other sizes too" : "");
  return out;
}

/// What the rows say of symbolic sizes in this mode: evidence and severity. nullopt when they say
/// nothing.
struct Basis {
  Severity severity = Severity::Note;
  std::vector<std::string> evidence;
  std::string suffix;
};

std::optional<Basis> basisOf(RuleRun& run) {
  Basis basis;
  const auto answer = run.feature(run.eager() ? "dynamic-shapes-eager" : "dynamic-shapes");
  if (answer) {
    basis.severity = capped(severityOf(answer->row->status), answer->standing);
    basis.evidence.push_back(answer->evidence);
    basis.suffix = answer->row->message;
  }
  if (!run.eager()) {
    const auto& rules = run.data().rules;
    const auto found = std::ranges::find_if(rules, [](const CompilerRule& rule) {
      const RuleInfo* info = ruleOfCode(rule.code);
      return info != nullptr && info->id == "NC301";
    });
    if (found != rules.end()) {
      const bool names = run.release() != nullptr && !run.release()->compiler.empty();
      const bool exact = names && run.target().releaseKnown &&
                         run.release()->compiler == found->product + " " + found->release;
      basis.severity = std::max(basis.severity, names ? Severity::Error : Severity::Warning);
      basis.evidence.push_back(run.addEvidence(Evidence{.id = "rule:" + found->code,
                                                        .kind = found->evidence,
                                                        .source = found->source,
                                                        .product = found->product,
                                                        .release = found->release,
                                                        .observed = {},
                                                        .confidence = found->confidence,
                                                        .stale = !exact,
                                                        .status = "unsupported",
                                                        .note = found->title}));
      basis.suffix += fmt::format("{}{}", basis.suffix.empty() ? "" : "; ", found->title);
    }
  }
  return basis.evidence.empty() ? std::nullopt : std::optional(std::move(basis));
}

void report(RuleRun& run, const std::string& symbol, const Touched& touched, const Basis& basis,
            std::size_t& placesLeft) {
  const std::string_view rule = run.eager() ? "NC302" : "NC301";
  Finding& finding = run.finding(rule, symbol);
  finding.severity = basis.severity;
  finding.message = messageFor(run, symbol, touched) + " " + basis.suffix + ".";
  finding.evidence = basis.evidence;
  for (const auto& [input, what] : touched.inputs) {
    finding.places.push_back(run.place(input, fmt::format("the input is {}", what)));
  }
  for (const OpUse* use : touched.uses) {
    if (placesLeft == 0) {
      finding.message += " Not all places are listed.";
      break;
    }
    --placesLeft;
    finding.places.push_back(run.place(*use, fmt::format("depends on {}", symbol)));
  }
}

}  // namespace

void runShapeRules(RuleRun& run) {
  SymbolTable table;
  const std::vector<Touched> touched = collect(run, table);
  std::optional<Basis> basis;
  std::size_t reported = 0;
  std::size_t placesLeft = kMaxPlaces;
  for (std::uint32_t id = 0; id < touched.size(); ++id) {
    const Touched& one = touched[id];
    const bool idle = one.uses.empty() && (run.eager() || one.inputs.empty());
    // Sizes that depend on data have a rule of their own, at the operator that makes them; no
    // operator makes those of an input.
    if ((table.unbacked(id) && one.inputs.empty()) || idle) {
      continue;
    }
    if (!basis) {
      basis = basisOf(run);
      if (!basis) {
        run.notChecked("symbolic sizes", "the database has no row on dynamic shapes for this mode",
                       "export with fixed sizes, or try it on the device");
        return;
      }
    }
    if (reported++ == kMaxSymbolFindings) {
      run.notChecked(fmt::format("symbols after the first {}", kMaxSymbolFindings),
                     "the model has more symbolic sizes than are listed one by one",
                     "export with fewer dynamic dimensions");
      return;
    }
    report(run, table.name(id), one, *basis, placesLeft);
  }
}

}  // namespace neuroncheck::opdb

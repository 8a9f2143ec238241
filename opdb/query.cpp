// SPDX-License-Identifier: Apache-2.0
#include "opdb/query.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/import_names.h"
#include "opdb/import_row.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxNodes = 500;
constexpr std::size_t kMaxSuggestions = 8;

bool matches(const SupportRow& row, const OpFilter& filter) {
  const bool mode = filter.mode.empty() || row.mode == filter.mode || row.mode == "any";
  return mode && (filter.release.empty() || row.release == filter.release) &&
         (!filter.status || row.status == *filter.status);
}

/// Expands a composite level by level; an operator that was expanded above is named, not repeated.
class Expander {
 public:
  explicit Expander(const Database& database) : database_(database) {}

  std::vector<ExpansionNode> expand(const OpName& op, int depth = 0) {
    std::vector<ExpansionNode> nodes;
    seen_.insert(op);
    for (const ExpansionRow& row : database_.expansions(op)) {
      ExpansionNode node{.row = row, .children = {}, .cut = false};
      const auto child = OpName::parse(row.child);
      ++count_;
      if (child && !database_.expansions(*child).empty()) {
        node.cut = depth + 1 >= kMaxDepth || count_ >= kMaxNodes || seen_.contains(*child);
        if (!node.cut) {
          node.children = expand(*child, depth + 1);
        }
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  const Database& database_;
  std::set<OpName> seen_;
  std::size_t count_ = 0;
};

bool names(const CompilerRule& rule, const OpName& op) {
  return std::ranges::any_of(rule.targets, [&](const std::string& target) {
    return target == "*" || target == op.str() ||
           (rule.scope == RowScope::Packet &&
            (target == op.packet() || target == functionalPacket(op)));
  });
}

bool isNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The base name as a whole word within the feature's description.
bool names(const FeatureRow& feature, const OpName& op) {
  for (std::size_t at = feature.appliesTo.find(op.base); at != std::string::npos;
       at = feature.appliesTo.find(op.base, at + 1)) {
    const std::size_t end = at + op.base.size();
    const bool begins = at == 0 || !isNamePart(feature.appliesTo[at - 1]);
    if (begins && (end == feature.appliesTo.size() || !isNamePart(feature.appliesTo[end]))) {
      return true;
    }
  }
  return false;
}

std::vector<DatedRow> datedRows(const Database& database, const OpName& op,
                                std::string_view product, std::string_view today) {
  std::map<std::string, std::int64_t> orders;
  for (const Release& release : database.releases(product)) {
    orders[release.name] = release.order;
  }
  std::vector<DatedRow> rows;
  for (const SupportRow& row : database.support(op, product)) {
    rows.push_back({row, daysBetween(row.observed, today)});
  }
  std::ranges::sort(rows, {}, [&](const DatedRow& dated) {
    return std::pair(-orders[dated.row.release], dated.row.id);
  });
  return rows;
}

/// Number of single-character edits between two short names.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    previous[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> current(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
    }
    previous = std::move(current);
  }
  return previous[b.size()];
}

std::vector<std::string> nearNames(const Database& database, std::string_view wanted) {
  std::string base(wanted.substr(0, 64));
  if (const auto parsed = OpName::parse(base)) {
    base = parsed->base;
  }
  std::set<std::pair<std::size_t, std::string>> ranked;
  for (const OpName& op : database.operatorNames()) {
    const std::size_t distance = editDistance(op.base, base);
    const bool contains = base.size() >= 3 && op.base.find(base) != std::string::npos;
    if (distance <= 2 || contains) {
      ranked.emplace(distance, op.packet());
    }
  }
  std::vector<std::string> near;
  for (const auto& [distance, packet] : ranked) {
    if (near.size() < kMaxSuggestions && std::ranges::find(near, packet) == near.end()) {
      near.push_back(packet);
    }
  }
  return near;
}

OpDetails detailsOf(const Database& database, const OpName& op, const OpInfo& info,
                    std::string_view product, std::string_view today) {
  OpDetails details{.op = op,
                    .info = info,
                    .catalogue = database.catalogueVersion(),
                    .rows = datedRows(database, op, product, today),
                    .otherProducts = {},
                    .expansion = Expander(database).expand(op),
                    .composites = database.composites(op),
                    .rules = {},
                    .features = {}};
  for (const std::string& other : database.products()) {
    if (other != product) {
      std::ranges::move(datedRows(database, op, other, today),
                        std::back_inserter(details.otherProducts));
    }
  }
  std::ranges::copy_if(database.rules(product), std::back_inserter(details.rules),
                       [&](const CompilerRule& rule) { return names(rule, op); });
  std::ranges::copy_if(database.features(product), std::back_inserter(details.features),
                       [&](const FeatureRow& feature) { return names(feature, op); });
  return details;
}

}  // namespace

std::int64_t daysBetween(std::string_view from, std::string_view to) {
  const auto days = [](std::string_view text) -> std::optional<std::chrono::sys_days> {
    if (text.empty() || !isDateOrEmpty(text)) {
      return std::nullopt;
    }
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    const char* const digits = text.data();
    const char* const end = digits + text.size();
    std::from_chars(digits, end, year);       // ends at the first '-'
    std::from_chars(digits + 5, end, month);  // at the second
    std::from_chars(digits + 8, end, day);
    return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) /
                                 std::chrono::day(day));
  };
  const auto begin = days(from);
  const auto end = days(to);
  return begin && end ? (*end - *begin).count() : -1;
}

std::vector<OpSummary> listOps(const Database& database, const OpFilter& filter) {
  std::vector<OpSummary> result;
  const std::string wanted = lowered(filter.text);
  for (const OpName& op : database.operatorNames()) {
    if (!wanted.empty() && lowered(op.str()).find(wanted) == std::string::npos) {
      continue;
    }
    OpSummary summary{.op = op, .info = nullptr, .rows = {}};
    for (const SupportRow& row : database.support(op, filter.product)) {
      if (matches(row, filter)) {
        summary.rows.push_back(&row);
      }
    }
    if (!summary.rows.empty() || (filter.withoutRows && !filter.status)) {
      summary.info = database.find(op);
      result.push_back(std::move(summary));
    }
  }
  return result;
}

Result<std::vector<OpDetails>> showOp(const Database& database, std::string_view name,
                                      std::string_view product, std::string_view today) {
  const auto match = OperatorNames(database).resolve(name);
  if (!match) {
    const std::vector<std::string> near = nearNames(database, trimmed(name));
    return fail(ErrorCode::Nothing,
                near.empty()
                    ? match.error().message
                    : fmt::format("{} (near: {})", match.error().message, fmt::join(near, ", ")));
  }
  std::vector<OpName> ops = database.overloads(match->op);
  if (match->scope == RowScope::Overload) {
    ops = {OpName::parse(match->op).value()};
  }
  std::vector<OpDetails> result;
  for (const OpName& op : ops) {
    if (const OpInfo* info = database.find(op); info != nullptr) {
      result.push_back(detailsOf(database, op, *info, product, today));
    }
  }
  return result;
}

}  // namespace neuroncheck::opdb

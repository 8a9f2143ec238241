// SPDX-License-Identifier: Apache-2.0
#include "opdb/diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

/// Everything one release says of one operator: texts for people, and whether any of it is device
/// support.
struct Statement {
  std::set<std::string> texts;
  bool onDevice = false;

  std::string text() const { return fmt::format("{}", fmt::join(texts, "; ")); }
};
using Key = std::pair<std::string, RowScope>;
using Statements = std::map<Key, Statement>;

bool isOnDevice(SupportStatus status) {
  return status == SupportStatus::Native || status == SupportStatus::Decomposed ||
         status == SupportStatus::Partial;
}

std::string describe(const SupportRow& row) {
  std::string text(name(row.status));
  if (!row.dtypes.empty()) {
    text += fmt::format(" for {}", row.dtypes);
  }
  if (!row.chip.empty()) {
    text += fmt::format(" on {}", row.chip);
  }
  if (!row.predicate.empty()) {
    text += fmt::format(" where {}", row.predicate);
    if (row.otherwise) {
      text += fmt::format(", else {}", name(*row.otherwise));
    }
  }
  return text;
}

void add(Statements& statements, Key key, const SupportRow& row, std::string text) {
  Statement& statement = statements[std::move(key)];
  statement.texts.insert(std::move(text));
  statement.onDevice = statement.onDevice || isOnDevice(row.status);
}

ChangeKind kindOf(const Statement* before, const Statement* after, bool beforeComplete,
                  bool afterComplete) {
  if (before == nullptr) {
    return after->onDevice && beforeComplete ? ChangeKind::Gained : ChangeKind::NewlyStated;
  }
  if (after == nullptr) {
    return before->onDevice && afterComplete ? ChangeKind::Lost : ChangeKind::NoLongerStated;
  }
  if (before->onDevice == after->onDevice) {
    return ChangeKind::Changed;
  }
  return after->onDevice ? ChangeKind::Gained : ChangeKind::Lost;
}

std::vector<SupportChange> compare(const Statements& before, const Statements& after,
                                   bool beforeComplete, bool afterComplete) {
  std::set<Key> keys;
  std::ranges::transform(before, std::inserter(keys, keys.end()), &Statements::value_type::first);
  std::ranges::transform(after, std::inserter(keys, keys.end()), &Statements::value_type::first);
  std::vector<SupportChange> changes;
  for (const Key& key : keys) {
    const auto find = [&](const Statements& statements) {
      const auto found = statements.find(key);
      return found == statements.end() ? nullptr : &found->second;
    };
    const Statement* old = find(before);
    const Statement* now = find(after);
    if (old != nullptr && now != nullptr && old->texts == now->texts) {
      continue;
    }
    changes.push_back({kindOf(old, now, beforeComplete, afterComplete), key.first, key.second,
                       old == nullptr ? std::string() : old->text(),
                       now == nullptr ? std::string() : now->text()});
  }
  std::ranges::sort(changes, {}, [](const SupportChange& change) {
    return std::tuple<ChangeKind, std::string_view, RowScope>(change.kind, change.op, change.scope);
  });
  return changes;
}

}  // namespace

std::string_view name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Gained:
      return "gained";
    case ChangeKind::Lost:
      return "lost";
    case ChangeKind::Changed:
      return "changed";
    case ChangeKind::NewlyStated:
      return "newly stated";
    case ChangeKind::NoLongerStated:
      return "no longer stated";
  }
  return "changed";
}

Result<std::vector<SupportChange>> diffReleases(const Database& database, std::string_view product,
                                                std::string_view before, std::string_view after,
                                                std::string_view mode) {
  const std::vector<Release> releases = database.releases(product);
  const auto find = [&](std::string_view wanted) -> Result<Release> {
    const auto found = std::ranges::find(releases, wanted, &Release::name);
    if (found != releases.end()) {
      return *found;
    }
    std::vector<std::string> known;
    std::ranges::transform(releases, std::back_inserter(known), &Release::name);
    return fail(ErrorCode::Usage, fmt::format("the database has no release {} of {} (it has: {})",
                                              wanted, product, fmt::join(known, ", ")));
  };
  NEURONCHECK_TRY(const Release old, find(before));
  NEURONCHECK_TRY(const Release now, find(after));
  Statements oldStatements;
  Statements newStatements;
  for (const SupportRow& row : database.allSupport()) {
    const bool ofMode = row.mode == mode || row.mode == "any";
    if (row.product != product || !ofMode || row.status == SupportStatus::Unknown) {
      continue;
    }
    if (row.release == old.name) {
      add(oldStatements, {row.op, row.scope}, row, describe(row));
    }
    if (row.release == now.name) {
      add(newStatements, {row.op, row.scope}, row, describe(row));
    }
  }
  return compare(oldStatements, newStatements, old.registrationsComplete,
                 now.registrationsComplete);
}

std::vector<SupportChange> diffDatabases(const Database& before, const Database& after,
                                         std::string_view product) {
  const auto statements = [&](const Database& database) {
    Statements result;
    for (const SupportRow& row : database.allSupport()) {
      if (row.product == product) {
        add(result, {row.op, row.scope}, row,
            fmt::format("{} {}: {} ({})", row.release, row.mode, describe(row), row.source));
      }
    }
    return result;
  };
  return compare(statements(before), statements(after), false, false);
}

}  // namespace neuroncheck::opdb

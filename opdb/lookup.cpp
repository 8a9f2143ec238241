// SPDX-License-Identifier: Apache-2.0
#include "opdb/lookup.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace neuroncheck::opdb {

std::optional<VersionNumbers> VersionNumbers::parse(std::string_view text) {
  VersionNumbers version;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) {
      break;
    }
    version.numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '.') {
      break;
    }
    text.remove_prefix(1);
  }
  if (version.numbers.empty()) {
    return std::nullopt;
  }
  version.suffix = !text.empty();
  return version;
}

std::strong_ordering VersionNumbers::operator<=>(const VersionNumbers& other) const {
  const std::size_t count = std::max(numbers.size(), other.numbers.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t mine = i < numbers.size() ? numbers[i] : 0;
    const std::int64_t its = i < other.numbers.size() ? other.numbers[i] : 0;
    if (mine != its) {
      return mine <=> its;
    }
  }
  return static_cast<int>(other.suffix) <=> static_cast<int>(suffix);
}

ReleaseOrder::ReleaseOrder(const Database& database, const Target& target)
    : releases_(database.releases(target.product)), known_(target.releaseKnown) {
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    if (releases_[i].name == target.answeringRelease) {
      answering_ = i;
    }
  }
}

const Release* ReleaseOrder::answering() const {
  return answering_ ? &releases_[*answering_] : nullptr;
}

const Release* ReleaseOrder::find(std::string_view release) const {
  const auto found = std::ranges::find(releases_, release, &Release::name);
  return found == releases_.end() ? nullptr : &*found;
}

Standing ReleaseOrder::standing(std::string_view release) const {
  const Release* asked = answering();
  const Release* found = find(release);
  if (asked == nullptr || found == nullptr) {
    return {};
  }
  Standing standing{.nearness = Nearness::Older, .order = found->order, .stale = true};
  if (found == asked) {
    standing.nearness = Nearness::Exact;
    standing.stale = !known_;
  } else if (!asked->sdk.empty() && found->sdk == asked->sdk) {
    standing.nearness = Nearness::SameSdk;
    standing.stale = !known_;
  } else if (found->order > asked->order) {
    standing.nearness = Nearness::NeverAsks;
  }
  return standing;
}

bool ReleaseOrder::absenceDecides() const {
  const Release* asked = answering();
  return asked != nullptr && known_ && asked->registrationsComplete;
}

const Release* ReleaseOrder::olderComplete() const {
  const Release* best = nullptr;
  const Release* asked = answering();
  if (asked == nullptr) {
    return nullptr;
  }
  for (const Release& release : releases_) {
    const bool older = release.order < asked->order || (!known_ && release.order == asked->order);
    if (release.registrationsComplete && older &&
        (best == nullptr || release.order > best->order)) {
      best = &release;
    }
  }
  return best;
}

std::vector<std::string_view> splitWords(std::string_view text) {
  constexpr std::string_view kSeparators = "|, ";
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(kSeparators);
    if (start == std::string_view::npos) {
      break;
    }
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    words.push_back(word);
    text.remove_prefix(word.size());
  }
  return words;
}

bool rowApplies(const SupportRow& row, ExecutionMode mode, std::string_view chip) {
  if (row.scope == RowScope::Feature) {
    return false;
  }
  // An empty mode makes no statement about either; it must not answer for both.
  if (row.mode != "any" && row.mode != name(mode)) {
    return false;
  }
  const auto chips = splitWords(row.chip);
  return chips.empty() || std::ranges::find(chips, chip) != chips.end();
}

int evidenceRank(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, int>, 5> kRanks = {{{"measured-by-user", 4},
                                                                       {"measured", 5},
                                                                       {"documented-by-source", 2},
                                                                       {"documented", 3},
                                                                       {"reported-by-user", 1}}};
  for (const auto& [word, rank] : kRanks) {
    if (kind.starts_with(word)) {
      return rank;
    }
  }
  return 0;
}

std::optional<OpName> functionalForm(const OpName& op) {
  if (op.base.size() < 2 || !op.base.ends_with('_') || op.base.ends_with("__")) {
    return std::nullopt;
  }
  OpName functional = op;
  functional.base.pop_back();
  return functional;
}

}  // namespace neuroncheck::opdb

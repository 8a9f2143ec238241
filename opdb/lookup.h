// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The numbers of a release name ("2.13.3.0", "0.1.0-pre", "2.32 beta 3"). Missing numbers count as
/// 0; a name with a suffix ("-pre", " beta 3") is older than the same numbers without one.
struct VersionNumbers {
  std::vector<std::int64_t> numbers;
  bool suffix = false;

  /// nullopt when the text does not start with a number.
  [[nodiscard]] static std::optional<VersionNumbers> parse(std::string_view text);
  [[nodiscard]] std::strong_ordering operator<=>(const VersionNumbers& other) const;
  [[nodiscard]] bool operator==(const VersionNumbers& other) const {
    return (*this <=> other) == 0;
  }
};

/// How near the release of a row is to the one that is asked for; smaller answers first.
enum class Nearness : std::uint8_t {
  Exact,      ///< the answering release itself
  SameSdk,    ///< another release of the same SDK
  Older,      ///< stale
  NeverAsks,  ///< newer than the target, or not a release of the product: never answers
};

struct Standing {
  Nearness nearness = Nearness::NeverAsks;
  std::int64_t order = 0;
  bool stale = true;
};

/// The releases of one product as one target sees them (docs/claims.md, rules 1 and 2).
class ReleaseOrder {
 public:
  ReleaseOrder(const Database& database, const Target& target);

  [[nodiscard]] Standing standing(std::string_view release) const;
  /// The release whose rows answer first; null when the database has no release of the product.
  [[nodiscard]] const Release* answering() const;
  [[nodiscard]] const Release* find(std::string_view release) const;
  /// A missing row of the target means "not registered": only for a release known to be complete,
  /// and only for itself.
  [[nodiscard]] bool absenceDecides() const;
  /// The newest older release with a complete list, which a missing row can be quoted from; null
  /// when there is none. For a target the database does not know this may be the answering release
  /// itself.
  [[nodiscard]] const Release* olderComplete() const;

 private:
  std::vector<Release> releases_;
  std::optional<std::size_t> answering_;
  bool known_ = true;
};

/// Whether a row speaks of this mode and chip. `chip` may list several, separated by '|', ',' or
/// blanks.
[[nodiscard]] bool rowApplies(const SupportRow& row, ExecutionMode mode, std::string_view chip);

/// Splits "a|b, c" into words.
[[nodiscard]] std::vector<std::string_view> splitWords(std::string_view text);

/// Weight of an Evidence::kind among rows of one release: measured before documented before read
/// from source.
[[nodiscard]] int evidenceRank(std::string_view kind);

/// "aten::add_" -> "aten::add"; nullopt for a name that is not of an in-place form
/// ("aten::__and__").
[[nodiscard]] std::optional<OpName> functionalForm(const OpName& op);

}  // namespace neuroncheck::opdb

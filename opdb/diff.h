// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// What became of an operator's statement. A missing statement is a loss or gain only against a
/// release whose registrations are complete; otherwise it is only said, or no longer said.
enum class ChangeKind : std::uint8_t { Gained, Lost, Changed, NewlyStated, NoLongerStated };
[[nodiscard]] std::string_view name(ChangeKind kind);

struct SupportChange {
  ChangeKind kind = ChangeKind::Changed;
  std::string op;
  RowScope scope = RowScope::Overload;
  std::string before;  ///< "native", "native where dtype(self) in floats"; empty: nothing stated
  std::string after;
  bool operator==(const SupportChange&) const = default;
};

/// Compares the statements of two releases of one product for a mode (rows of mode any count for
/// both). Fails with Usage for a release the database does not have, naming those it has.
[[nodiscard]] Result<std::vector<SupportChange>> diffReleases(const Database& database,
                                                              std::string_view product,
                                                              std::string_view before,
                                                              std::string_view after,
                                                              std::string_view mode);

/// Compares all support rows of a product in two databases. `op` is followed by release and mode in
/// the texts.
[[nodiscard]] std::vector<SupportChange> diffDatabases(const Database& before,
                                                       const Database& after,
                                                       std::string_view product);

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// Understands the ways operators are written in tables: "aten::add.Tensor", "aten.add.Tensor",
/// "torch.ops.aten.add.default", "aten::add", "torch.add", "torch.Tensor.add_",
/// "torch.nn.functional.gelu", "torch.linalg.inv", "add", "add.Tensor".
class OperatorNames {
 public:
  /// `database` must outlive this.
  explicit OperatorNames(const Database& database);

  struct Match {
    std::string op;
    RowScope scope = RowScope::Packet;
    bool operator==(const Match&) const = default;
  };
  /// A name with an overload means that overload, any other all overloads. Fails with Usage: "no
  /// such operator", or an ambiguous name with its meanings.
  [[nodiscard]] Result<Match> resolve(std::string_view text) const;
  /// The names of one cell: parts between ',' and ';' and ' / ', without argument lists.
  [[nodiscard]] static std::vector<std::string> split(std::string_view cell);

 private:
  [[nodiscard]] std::vector<Match> lookUp(const std::string& qualified) const;
  [[nodiscard]] std::vector<Match> bare(const std::string& name) const;

  const Database& database_;
  std::map<std::string, std::set<std::string>, std::less<>>
      namespacesOf_;  ///< base name -> namespaces
};

}  // namespace neuroncheck::opdb

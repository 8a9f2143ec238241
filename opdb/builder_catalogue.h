// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/schema.h"
#include "opdb/database.h"
#include "opdb/sqlite/writer.h"
#include "opdb/table.h"

namespace neuroncheck::opdb {

/// A catalogue held in memory while a database is built; everything else is checked against it.
class CatalogueTable : public SchemaSource {
 public:
  [[nodiscard]] const OpInfo* find(const OpName& name) const override;
  [[nodiscard]] std::vector<OpName> overloads(std::string_view packet) const override;
  /// False when the operator is there already.
  bool add(OpName name, OpInfo info);

 private:
  std::map<OpName, OpInfo> ops_;
};

/// One line of ops.jsonl. Adds the operator to `catalogue` and gives its record. Fails with Usage
/// and the reason.
[[nodiscard]] Result<sqlite::OpRecord> readOperator(std::string_view line,
                                                    CatalogueTable& catalogue);
/// One line of expansions.jsonl, checked against the catalogue. A condition or only_if outside the
/// grammar is dropped and told in `note`, which must be empty before; a row of an operator outside
/// the catalogue fails with ErrorCode::Nothing.
[[nodiscard]] Result<ExpansionRow> readExpansion(std::string_view line,
                                                 const CatalogueTable& catalogue,
                                                 std::string& note);

/// A whole file as text; Input when it cannot be read or is larger than 256 MiB.
[[nodiscard]] Result<std::string> readTextFile(const std::string& path);

}  // namespace neuroncheck::opdb

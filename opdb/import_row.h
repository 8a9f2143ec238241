// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/schema.h"
#include "opdb/database.h"
#include "opdb/table.h"

namespace neuroncheck::opdb {

/// Fields of one data row by column name (lower case, '-' and ' ' as '_'); a column that is absent
/// is absent here.
using RowFields = std::map<std::string, std::string, std::less<>>;

/// The rows of a table as fields, in order, beside their line numbers.
struct FieldRow {
  std::size_t line = 0;
  RowFields fields;
};
[[nodiscard]] std::vector<FieldRow> fieldRows(const Table& table);
/// The field, or an empty text.
[[nodiscard]] std::string field(const RowFields& fields, std::string_view column);

/// The rows of our own data files (docs/database.md lists the columns), checked against the
/// catalogue. Each fails with Usage and a reason complete in itself: an unknown word, an operator
/// or argument the catalogue lacks, a predicate that does not parse, a simulated device, dtypes
/// without one of floating point (beside such a one the others are left out).
[[nodiscard]] Result<SupportRow> supportRowOf(const RowFields& fields,
                                              const SchemaSource& catalogue);
[[nodiscard]] Result<Release> releaseOf(const RowFields& fields);
[[nodiscard]] Result<CompilerRule> compilerRuleOf(const RowFields& fields,
                                                  const SchemaSource& catalogue);
/// `product` receives the row's product ("torch-neuronx" without such a column).
[[nodiscard]] Result<FeatureRow> featureOf(const RowFields& fields, std::string& product);

/// Dtype words separated by ',', '|', ';' or a space -> torch's names joined by '|'. Common
/// spellings (fp32, bf16, half) are understood; "", "-", "all", "any" mean no statement. Fails
/// naming the word.
[[nodiscard]] Result<std::string> dtypeList(std::string_view text);
/// Those of a dtypeList() that are of floating point, or those that are not.
[[nodiscard]] std::string dtypesOf(std::string_view list, bool floating);
/// That a support row may rest on evidence of this kind. Fails with Usage, listing the kinds.
[[nodiscard]] Result<void> checkEvidenceKind(std::string_view kind);
/// "2026-10-20", or an empty text.
[[nodiscard]] bool isDateOrEmpty(std::string_view text);
/// Parses the predicate against the operator: for packet scope it must fit at least one overload or
/// in-place form.
[[nodiscard]] Result<void> checkPredicate(std::string_view predicate, std::string_view op,
                                          RowScope scope, const SchemaSource& catalogue);
/// That the catalogue has the overload, or any overload of the packet.
[[nodiscard]] Result<void> checkOperator(std::string_view op, RowScope scope,
                                         const SchemaSource& catalogue);

}  // namespace neuroncheck::opdb

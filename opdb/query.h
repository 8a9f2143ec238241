// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

// What the `db` commands show. Plain data; query_text.h renders it.

/// Which operators `db list` shows.
struct OpFilter {
  std::string text = {};  ///< part of the name; empty: all
  std::string product = "torch-neuronx";
  std::string release = {};  ///< empty: all
  std::string mode = {};     ///< eager | compile (rows of mode any match both); empty: all
  std::optional<SupportStatus> status = {};  ///< only operators with such a row
  bool withoutRows = false;                  ///< also operators nothing is stated of
};
struct OpSummary {
  OpName op;
  const OpInfo* info = nullptr;         ///< lives as long as the database
  std::vector<const SupportRow*> rows;  ///< those that match; live as long as the database
};
/// Operators in order of name.
[[nodiscard]] std::vector<OpSummary> listOps(const Database& database, const OpFilter& filter);

/// A support row with the days between its observation and the day asked about; -1 without a date.
struct DatedRow {
  SupportRow row;
  std::int64_t ageDays = -1;
};
/// A composite's children, to the leaves.
struct ExpansionNode {
  ExpansionRow row;
  std::vector<ExpansionNode> children;
  bool cut = false;  ///< deeper levels exist and are not shown (shown above, or too deep)
};
struct OpDetails {
  OpName op;
  OpInfo info;
  std::string catalogue;       ///< "torch 2.13.0"
  std::vector<DatedRow> rows;  ///< of the product, newest release first
  std::vector<DatedRow>
      otherProducts;  ///< shown for completeness: they never answer for the product
  std::vector<ExpansionNode> expansion;
  std::vector<OpName> composites;    ///< composites that call it
  std::vector<CompilerRule> rules;   ///< that name it (or every operator)
  std::vector<FeatureRow> features;  ///< whose description names it
};
/// `name` is an overload ("aten::add.Tensor"), a packet ("aten::gelu": all its overloads), or any
/// form that tables use. `today` is an ISO date. Fails with Nothing, naming near names, when the
/// catalogue has no such operator.
[[nodiscard]] Result<std::vector<OpDetails>> showOp(const Database& database, std::string_view name,
                                                    std::string_view product,
                                                    std::string_view today);

/// Days from one ISO date to another; -1 when either is no date.
[[nodiscard]] std::int64_t daysBetween(std::string_view from, std::string_view to);

}  // namespace neuroncheck::opdb

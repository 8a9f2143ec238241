// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/trace.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// Answers "what does this release do with this use" by the lookup rules of docs/claims.md. Keeps
/// parsed predicates and expansions between calls; equal uses are answered once.
class ClaimEngine {
 public:
  /// `database` must outlive the engine; `target` must come from resolveTarget; `today` is an ISO
  /// date.
  ClaimEngine(const Database& database, Target target, std::string today);
  ClaimEngine(const ClaimEngine&) = delete;
  ClaimEngine& operator=(const ClaimEngine&) = delete;
  ~ClaimEngine();

  [[nodiscard]] UseClaim claim(const OpUse& use);
  /// The same from what its case was seen to ask the device for; `traced.notTraced` must be empty.
  [[nodiscard]] UseClaim claim(const OpUse& use, const TracedCase& traced);
  /// Evidence of every claim given so far, by Evidence::id.
  [[nodiscard]] const std::map<std::string, Evidence>& evidence() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::runstore {

/// A case that two runs hold.
struct Duplicate {
  std::string id, text;
  CaseState kept = CaseState::NotRun;
  CaseState dropped = CaseState::NotRun;
  bool same = false;  ///< the outcomes do not differ but for the time they took
};

struct Merged {
  RunRecord record;
  std::vector<Duplicate> duplicates;
  std::vector<std::string> warnings;  ///< environments, tools or databases that differ
};

/// Two runs as one: outcomes in the order of operator and text, each case once. Of a case that both
/// hold an ended outcome wins over an unfinished one, then the worse state, then the smaller of all
/// fields, so that no order of merging changes what is kept; models that ask for it are joined and
/// the greater number of uses counts. Inputs are told apart by path and digest, the first stays.
/// merge(a, a) holds what a holds; merge(merge(a, b), c) equals merge(a, merge(b, c)). What differs
/// in the environment reads "mixed" and is a warning. Usage error that names the difference for
/// runs of another device, simulated or not, profile, seed or target: their outcomes answer other
/// questions.
[[nodiscard]] Result<Merged> merge(const RunRecord& a, const RunRecord& b);

/// The parts of "1/4, 3/4" that are not there, "2/4" and "4/4"; empty for a whole plan. Parts of
/// unlike counts are an entry of their own.
[[nodiscard]] std::vector<std::string> missingShards(const std::string& shard);

}  // namespace neuroncheck::runstore

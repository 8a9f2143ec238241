// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"

namespace neuroncheck {

/// One operator as two models use it.
struct OpDelta {
  std::string op;
  std::int64_t before = 0;  ///< uses in the first model
  std::int64_t after = 0;
  /// Cases (dtypes, shapes, scalars) of only one side; shown when the counts alone do not tell.
  std::vector<std::string> onlyBefore;
  std::vector<std::string> onlyAfter;
  Claim claimBefore =
      Claim::NoDeviceWork;  ///< worst claim of its uses; NoDeviceWork when it is absent
  Claim claimAfter = Claim::NoDeviceWork;
};

/// What changed between two models judged against one target.
struct ModelDiff {
  std::string before;  ///< "a.pt2" or "a.pt2: encoder"
  std::string after;
  std::string producerBefore, producerAfter;
  std::string dialectBefore, dialectAfter;
  Verdict verdictBefore = Verdict::Unknown;
  Verdict verdictAfter = Verdict::Unknown;
  std::vector<OpDelta> gained;              ///< operators only the second model uses
  std::vector<OpDelta> lost;                ///< operators only the first model uses
  std::vector<OpDelta> changed;             ///< in both, with other counts, cases or claims
  std::vector<std::string> findingsGained;  ///< "NC401 float64 tensors (3 places)"
  std::vector<std::string> findingsLost;

  [[nodiscard]] bool same() const;
};

/// Compares two models and their assessments. Operators are sorted by name.
[[nodiscard]] ModelDiff diffModels(const Model& before, const ModelAssessment& judgedBefore,
                                   const Model& after, const ModelAssessment& judgedAfter);

/// The arguments of a use that make its case: "f32[4,8], f32[8,8]; alpha=2". Equal texts are one
/// case.
[[nodiscard]] std::string caseText(const OpUse& use);

}  // namespace neuroncheck

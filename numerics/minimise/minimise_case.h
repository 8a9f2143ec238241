// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/case_spec.h"
#include "numerics/minimise/ddmin.h"

namespace neuroncheck::numerics {

/// A stage gives smaller forms of a case, the boldest first. It does not know whether they are
/// valid: one that the operator refuses is not interesting, and that is all.
struct CaseStage {
  std::string_view name;
  std::vector<CaseSpec> (*candidates)(const CaseSpec&);
};

/// In the order they are tried: graph, arguments, layout, dtype, shape.
[[nodiscard]] const std::vector<CaseStage>& caseStages();

/// The stages. Each is a pure function of the case.
/// Fewer steps: the sequence cut from its end, then each step whose result nobody uses left out.
[[nodiscard]] std::vector<CaseSpec> fewerSteps(const CaseSpec& spec);
/// Named arguments left out, then positional ones from the end, so that defaults stand; `!grad`
/// off.
[[nodiscard]] std::vector<CaseSpec> fewerArguments(const CaseSpec& spec);
/// Strides, offsets and shared storage removed: all at once, then one tensor at a time.
[[nodiscard]] std::vector<CaseSpec> plainLayouts(const CaseSpec& spec);
/// Every tensor of one dtype turned into a wider one of its kind, the widest first: a failure that
/// stays there is not one of rounding. Never to 64 bits, which the device narrows.
[[nodiscard]] std::vector<CaseSpec> widerDTypes(const CaseSpec& spec);
/// Sizes made smaller. Dimensions of one extent are taken to belong together (the k of a matrix
/// product), then one dimension of one tensor at a time; to 1, to half, to the remainder of a
/// 128-element tile, and by one. Literal values are cut with their tensor.
[[nodiscard]] std::vector<CaseSpec> smallerShapes(const CaseSpec& spec);

/// One accepted step.
struct MinimiseStep {
  std::string_view stage;
  std::string text;  ///< the case after it
};
struct MinimisedCase {
  CaseSpec spec;
  std::vector<MinimiseStep> trail;
  std::size_t tests = 0;
  bool complete = false;  ///< a fixed point was reached within the budget
};

/// Greedy to a fixed point: the first interesting candidate of a stage is taken, and its stage
/// begins anew; a case is never tested twice. `interesting` must mean "the same verdict and cause";
/// that it holds for `spec` itself is tested first, and a case it does not hold for comes back
/// unchanged with `complete` false.
[[nodiscard]] MinimisedCase minimiseCase(const CaseSpec& spec,
                                         const std::function<bool(const CaseSpec&)>& interesting,
                                         const MinimiseBudget& budget);

}  // namespace neuroncheck::numerics

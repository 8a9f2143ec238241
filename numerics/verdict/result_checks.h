// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "numerics/verdict/run_reader.h"

namespace neuroncheck::numerics::detail {

/// All that decides about one element.
struct Element {
  std::int64_t index = 0;
  double actual = 0, truth = 0, rounded = 0, expected = 0;
  Fault fault = Fault::None;
};

/// A hypothesis that is checked element by element.
class Check {
 public:
  Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  virtual ~Check() = default;
  virtual bool explains(const Element& element) = 0;
  /// How often it wants to see every element before it is asked; look() is called with the number
  /// of the turn.
  [[nodiscard]] virtual int turnsBefore() const { return 0; }
  virtual void look(int /*turn*/, const Element& /*element*/) {}
  /// Why it does not count although it explains every element; empty when it does.
  virtual std::string objection() { return {}; }
};

/// Errors that every element of a tensor suffers alike must be seen in many of them: one wrong
/// element is a fault, however wide the bound of a coarse arithmetic.
inline constexpr double kPrevalence = 0.1;
/// Share of the elements that are wrong.
[[nodiscard]] double wrongShare(const Judgement& judgement);
/// Says so where it is below `needed`; empty where not.
[[nodiscard]] std::string tooRare(double share, double needed);

/// The format of the hypotheses that say the output was rounded to a narrower one; nullopt for the
/// others.
[[nodiscard]] std::optional<Format> narrowedBy(HypothesisId id);

/// A hypothesis that the result alone can show; null where it cannot be this one. `reader` must
/// outlive the check.
[[nodiscard]] std::unique_ptr<Check> checkFor(HypothesisId id, const Judgement& judgement,
                                              const RunReader& reader, bool exact);

}  // namespace neuroncheck::numerics::detail

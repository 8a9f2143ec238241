// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "numerics/format/float_format.h"
#include "numerics/rules/op_rule.h"

namespace neuroncheck::numerics {

/// The arithmetic a result is declared to be made in. Trainium's engines accumulate in fp32 and
/// round once to the output (AWS Neuron: data types, rounding modes).
struct Arithmetic {
  Format output = Format::Float32;
  Format accumulator = Format::Float32;
  bool flushesSubnormals = false;     ///< results below the smallest normal number may be zero
  bool roundsStochastically = false;  ///< the output is one of two neighbours, by chance
  bool operator==(const Arithmetic&) const = default;
};
/// fp32 accumulation; fp64 for an fp64 output.
[[nodiscard]] Arithmetic declaredArithmetic(Format output);

/// How far a right result may lie from the truth H, by element. S is the magnitude companion of the
/// operator: what its sums are made of before anything cancels.
///
///   expected  B_exp = r u_t |H| + (c + lambda sqrt(k)) (u_acc S + eta_acc) + r eta_t
///   maximal   B_max = r u_t |H| + (2c + gamma_k) u_acc' S + 2 (c + k) eta_acc + r eta_t
///   gamma_k = k / (1 - k u);  eta: half the smallest subnormal, or the smallest normal if flushed
///
/// `expected` holds for any order of a rounding-to-nearest accumulation but with a probability
/// below 2k exp(-lambda^2/2) (Higham and Mary 2019; measured: docs/numerics-evidence.md); `maximal`
/// for every order, truncating accumulators too (u_acc' = 2 u_acc). A result beyond it is not
/// explained by any order of summation in the declared arithmetic. For class C the terms with c are
/// in ulps at H instead, and B_max of an output narrower than the accumulator has two ulps of the
/// output on top.
struct BoundModel {
  Arithmetic arithmetic;
  OpClass opClass = OpClass::Rounded;
  double length = 1;       ///< k
  double coefficient = 0;  ///< c; for class C in ulps of the accumulator at H
  int roundings = 1;       ///< r
  double lambda = 4;
  /// Every partial sum is a number of the accumulator (integer fills): order plays no part and the
  /// output is H rounded once.
  bool exactInAccumulator = false;

  [[nodiscard]] static BoundModel of(const OutputRule& rule, double length, Arithmetic arithmetic);
};

struct Bound {
  double expected = 0;
  double maximal = 0;
};

/// A BoundModel with its constants worked out.
class Bounder {
 public:
  explicit Bounder(const BoundModel& model);

  [[nodiscard]] Bound at(double truth, double magnitude) const;
  /// The same for a run. `expected` and `maximal` have the size of `truth`; where `magnitude` is
  /// empty, S = |H|. Bounds of a truth that is not finite are zero.
  void run(std::span<const double> truth, std::span<const double> magnitude,
           std::span<double> expected, std::span<double> maximal) const;
  /// B_exp of a value whose rounding alone counts: what an exact computation may be off.
  [[nodiscard]] double roundingAt(double truth) const;

 private:
  struct Line {  ///< a |H| + b S + g 2^floor(log2 |H|) + e
    double value = 0;
    double magnitude = 0;
    double binade = 0;
    double constant = 0;
  };
  static void runLines(Line e, Line m, std::size_t n, const double* truth, const double* magnitude,
                       double* expected, double* maximal);
  [[nodiscard]] static double evaluate(const Line& line, double truth, double magnitude);

  Line expected_;
  Line maximal_;
};

}  // namespace neuroncheck::numerics

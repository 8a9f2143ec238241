// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/plan/case_arguments.h"
#include "core/case_operands.h"
#include "core/case_spec.h"
#include "core/inventory_json.h"
#include "core/result.h"
#include "numerics/random/distribution.h"

namespace neuroncheck::conformance {

/// What a random operator draws, which decides how its results are judged.
enum class RandomKind : std::uint8_t {
  Sampler,        ///< values of one distribution, whose parameters are arguments
  Bernoulli,      ///< 0 or 1 with one probability, an argument
  BernoulliEach,  ///< 0 or 1 with a probability for each element
  Dropout,        ///< zeros among scaled inputs
  ChannelDropout,
  AlphaDropout,
  Permutation,
  Draws,       ///< multinomial
  LeakyNoise,  ///< rrelu: slopes of negative inputs
};

/// A random operator, with the names of the arguments its distribution has.
struct RandomOp {
  std::string_view base;  ///< of the functional and the in-place form
  RandomKind kind;
  numerics::DistributionKind distribution = numerics::DistributionKind::Uniform;
  std::string_view a{};  ///< empty: 0
  std::string_view b{};  ///< empty: 1

  /// Its results are random numbers and nothing else.
  [[nodiscard]] bool isPure() const {
    return kind == RandomKind::Sampler || kind == RandomKind::Bernoulli ||
           kind == RandomKind::Permutation || kind == RandomKind::Draws;
  }
};

/// Null for an operator that is not known to be random.
[[nodiscard]] const RandomOp* findRandomOp(const OpName& op);

/// A case with as many elements as a test of a distribution needs.
struct SampleCase {
  CaseSpec spec;
  /// For each operand the number of its first elements that are repeated throughout, so that all
  /// results are drawn alike; 0: it stays as it was filled.
  std::vector<std::int64_t> periods;
};

/// The same operator and arguments on at least `samples` results: sizes grow in their first
/// dimension, operands are contiguous. Input error that says why it cannot be made.
[[nodiscard]] Result<SampleCase> sampleCaseOf(const RandomOp& op, const CaseSpec& spec,
                                              const FunctionSchema* schema, std::int64_t samples);

/// Results of one case for several seeds of the generators, on the device under test.
struct Drawn {
  std::vector<Json> answers;            ///< of docs/worker-protocol.md, one for each seed
  std::vector<std::uint64_t> operands;  ///< where the storages of its root operands lie
};
using Draw = std::function<Result<Drawn>(const SampleCase&, std::span<const std::uint64_t> seeds)>;

}  // namespace neuroncheck::conformance

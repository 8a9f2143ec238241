// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/run_record.h"

namespace neuroncheck::runstore::testing {

/// An outcome with every field set, different for every `number`.
inline Outcome outcomeOf(int number, CaseState state = CaseState::Mismatch) {
  const std::string digits = std::to_string(number);
  OutputOutcome output;
  output.what = "output 0";
  output.state = state;
  output.cause = "bias";
  output.reason = "all too large by " + digits;
  output.rule = "F contraction, k = 512";
  output.elements = 64;
  output.wrong = number;
  output.maxAbs = 0.1 + number;
  output.maxRel = std::numeric_limits<double>::infinity();
  output.maxUlp = -0.0;
  output.maxRatio = std::bit_cast<double>(std::uint64_t{0xFFF8000000000123});
  output.worstIndex = 7;
  output.worstActual = -std::numeric_limits<double>::infinity();
  output.worstTruth = std::numeric_limits<double>::denorm_min();
  output.rtolNeeded = std::numeric_limits<double>::quiet_NaN();
  output.atolNeeded = -0.0;
  output.constant = -0.0;
  output.identicalToCpu = true;
  Outcome out;
  out.id = std::string(16 - digits.size(), '0') + digits;
  out.text = "aten::relu(f32[" + digits + "])";
  out.op = "aten::relu";
  out.state = state;
  out.stage = "judge";
  out.cause = "bias";
  out.message = "it's \"wrong\"\n\tü";
  out.attempts = {{.fill = "G3.0",
                   .seed = 0xFFFFFFFFFFFFFFF0 + static_cast<std::uint64_t>(number),
                   .state = state,
                   .outputs = {output, OutputOutcome{}}},
                  {.fill = "G1.2", .seed = 1, .state = CaseState::Pass, .outputs = {}}};
  out.fallbacks = {"aten::foo (dispatch table)"};
  out.dispatch = "composite";
  out.ending = "signal 11 (Segmentation fault)";
  out.stderrTail = "tail";
  out.notes = {"a", "b"};
  out.runs = 2;
  out.seconds = 1e-9 / 3;
  out.uses = 3;
  out.models = {"m.pt2", "n.pt2: enc"};
  return out;
}

inline RunRecord runOf(std::vector<Outcome> outcomes) {
  RunRecord record;
  record.tool = "neuron-check 0.1.0";
  record.started = "2026-12-01T00:00:00Z";
  record.finished = "2026-12-01T00:00:09Z";
  record.device = "sim";
  record.simulated = true;
  record.seed = 0xFEDCBA9876543210;
  record.profile = "0011223344556677";
  record.shard = "2/8";
  record.notRun = {{.what = "aten::x (1 use)", .why = "a size is not known", .how = "fix it"}};
  record.outcomes = std::move(outcomes);
  return record;
}

/// The same run before anything of it ran.
inline RunRecord plannedOf(RunRecord record) {
  record.finished.clear();
  for (Outcome& outcome : record.outcomes) {
    Outcome fresh;
    fresh.id = outcome.id;
    fresh.text = outcome.text;
    fresh.op = outcome.op;
    fresh.uses = outcome.uses;
    fresh.models = outcome.models;
    outcome = std::move(fresh);
  }
  return record;
}

/// Equality with the bits of the numbers: a NaN equals itself, zero and minus zero differ.
inline bool sameBits(const OutputOutcome& a, const OutputOutcome& b) {
  const auto bits = [](const OutputOutcome& output) {
    std::vector<std::uint64_t> out;
    for (const auto& each :
         {output.maxAbs, output.maxRel, output.maxUlp, output.maxRatio, output.constant}) {
      out.push_back(each ? 1 : 0);
      out.push_back(std::bit_cast<std::uint64_t>(each.value_or(0)));
    }
    for (const double each :
         {output.worstActual, output.worstTruth, output.rtolNeeded, output.atolNeeded}) {
      out.push_back(std::bit_cast<std::uint64_t>(each));
    }
    return out;
  };
  const auto plain = [](OutputOutcome output) {
    output.maxAbs = output.maxRel = output.maxUlp = output.maxRatio = output.constant =
        std::nullopt;
    output.worstActual = output.worstTruth = output.rtolNeeded = output.atolNeeded = 0;
    return output;
  };
  return bits(a) == bits(b) && plain(a) == plain(b);
}

inline bool sameBits(Outcome a, Outcome b) {
  if (a.attempts.size() != b.attempts.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.attempts.size(); ++i) {
    auto& left = a.attempts[i].outputs;
    auto& right = b.attempts[i].outputs;
    if (left.size() != right.size()) {
      return false;
    }
    for (std::size_t j = 0; j < left.size(); ++j) {
      if (!sameBits(left[j], right[j])) {
        return false;
      }
    }
    left.clear();
    right.clear();
  }
  return a == b;
}

inline bool sameBits(const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!sameBits(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace neuroncheck::runstore::testing

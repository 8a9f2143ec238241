// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/draw_samples.h"

#include <cstring>

#include <fmt/format.h>

namespace neuroncheck::conformance {
namespace {

constexpr std::uint64_t kAlignment = 64;

/// The first elements of a storage, repeated to its end.
void repeat(std::span<std::byte> storage, std::uint64_t period) {
  for (std::uint64_t at = period; period > 0 && at < storage.size(); at += period) {
    std::memcpy(storage.data() + at, storage.data(), std::min(period, storage.size() - at));
  }
}

Result<std::vector<std::uint64_t>> placeOperands(const DrawRoom& room, const SampleCase& sample,
                                                 const FunctionSchema* schema) {
  const CaseStep& step = sample.spec.steps.front();
  const OperandLayout layout = layoutOf(step);
  std::vector<std::uint64_t> offsets(layout.operands.size(), 0);
  std::uint64_t next = room.operandsBegin;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (!layout.isRoot(i)) {
      continue;
    }
    offsets[i] = next;
    if (layout.bytes[i] > room.operandsEnd - next) {
      return inputError("the operands of a sample do not fit");
    }
    next += (layout.bytes[i] + kAlignment - 1) / kAlignment * kAlignment;
  }
  const CaseArguments arguments(step, schema);
  const FillChoice choice{.fill = numerics::FillId::Normal};
  NEURONCHECK_TRY_VOID(
      fillOperands(arguments, step, layout, offsets, choice, room.seed, room.memory->bytes()));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto item = static_cast<std::uint64_t>(itemSize(layout.operands[i]->dtype));
    if (layout.isRoot(i) && sample.periods[i] > 0) {
      repeat(room.memory->bytes().subspan(offsets[i], layout.bytes[i]),
             static_cast<std::uint64_t>(sample.periods[i]) * item);
    }
  }
  return offsets;
}

}  // namespace

Result<Drawn> drawSamples(const DrawRoom& room, const SampleCase& sample,
                          const FunctionSchema* schema, std::span<const std::uint64_t> seeds) {
  Drawn out;
  NEURONCHECK_TRY(out.operands, placeOperands(room, sample, schema));
  Json cases = Json::array();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    cases.push_back({{"id", i},
                     {"case", sample.spec.str()},
                     {"operands", Json::array({out.operands})},
                     {"cotangents", Json::array({room.cotangents})},
                     {"seed", seeds[i]}});
  }
  const Json request{{"do", "run_cases"},
                     {"arena", room.memory->path()},
                     {"case_seconds", room.device->caseTime.count()},
                     {"begin", room.resultsBegin},
                     {"end", room.resultsEnd},
                     {"device", room.device->words},
                     {"profile", room.device->profile},
                     {"cases", std::move(cases)}};
  const auto patience = room.device->caseTime * static_cast<std::int64_t>(seeds.size() + 1) +
                        std::chrono::seconds(60);
  NEURONCHECK_TRY(const Json answer, (*room.ask)(request, patience));
  if (!answer.contains("cases")) {
    return inputError("a sample of it was not drawn");
  }
  for (const Json& one : answer.at("cases")) {
    if (!one.contains("outputs")) {
      const std::string why = one.contains("raised")
                                  ? one.at("raised").value("message", std::string())
                                  : answer.value("ended", std::string("no answer"));
      return inputError(
          fmt::format("a sample of it ({}) was not drawn: {}", sample.spec.str(), why));
    }
    out.answers.push_back(one);
  }
  return out;
}

}  // namespace neuroncheck::conformance

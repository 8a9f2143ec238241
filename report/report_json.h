// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "core/inventory_json.h"
#include "core/run_record.h"

/// The parts of "neuron-check/report/1" (docs/schemas/report-1.schema.json), shared by JSON and
/// JSON Lines.
namespace neuroncheck::report {

inline constexpr std::string_view kReportSchema = "neuron-check/report/1";

/// Everything before the inputs: schema, tool, command, started, environment, target, device.
[[nodiscard]] Json headerToJson(const RunRecord& record);
/// The verdict over all inputs, counts of uses by claim, the ranking of blockers, `finished`.
[[nodiscard]] Json footerToJson(const RunRecord& record);
[[nodiscard]] Json inputToJson(const InputResult& input);
[[nodiscard]] Json evidenceToJson(const Evidence& evidence);
/// Calls `visit` for each operator of each model: an inventory entry with its claims.
void forEachOperator(const RunRecord& record, const std::function<void(Json)>& visit);
void forEachFinding(const RunRecord& record, const std::function<void(Json)>& visit);
/// The outcome of each case that a run planned; none of a static scan.
void forEachOutcome(const RunRecord& record, const std::function<void(Json)>& visit);
/// What no static scan answers, and every rule that a graph cannot decide.
void forEachNotChecked(const RunRecord& record, const std::function<void(Json)>& visit);
/// Each statement of evidence once, by id.
[[nodiscard]] std::map<std::string, Evidence> evidenceOf(const RunRecord& record);

}  // namespace neuroncheck::report

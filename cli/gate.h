// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::cli {

/// The words of --fail-on that a static scan knows.
inline constexpr std::string_view kDefaultFailOn = "blocked,unknown,fallback,unconfirmed";

/// Parses "blocked,fallback,mismatch": words of a scan, and states of cases that are no pass.
/// `none` alone means: only report. Usage error for any other word.
[[nodiscard]] Result<std::set<std::string>> parseFailOn(std::string_view text);

/// The words that apply to one model: `blocked` when a use or a finding of severity error blocks
/// it, `fallback` when a use is computed on the CPU, `unknown` when a use is unknown or depends,
/// `unconfirmed` when device work rests on stale or low evidence. A blocked model that also falls
/// back has both words.
[[nodiscard]] std::set<std::string> wordsOf(const ModelAssessment& model);

/// The exit code of a static run: inputs that could not be read, nothing to check, gate words, in
/// the order of precedence.
[[nodiscard]] int exitCodeOf(const RunRecord& record, const std::set<std::string>& failOn);

/// The exit code of what was run on a device. With states among the words those are findings; with
/// other words every state that is no pass is; with no word none is. No outcome at all is nothing,
/// whatever the words.
[[nodiscard]] int exitCodeOfRun(const RunRecord& record, const std::set<std::string>& failOn);

}  // namespace neuroncheck::cli

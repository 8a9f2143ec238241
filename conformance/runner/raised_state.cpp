// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/raised_state.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace neuroncheck::conformance {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool hasAny(const std::string& text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

constexpr std::array<std::string_view, 5> kMemory{"out of memory", "bad_alloc", "oom",
                                                  "resource_exhausted", "cannot allocate memory"};
constexpr std::array<std::string_view, 7> kCompiler{"compil", "neuronx-cc", "ncc_", "lowering",
                                                    "hlo",    "stablehlo",  "neff"};
constexpr std::array<std::string_view, 5> kUnsupported{
    "not implemented", "not supported", "unsupported", "could not run '", "no kernel"};

}  // namespace

RaisedState stateOfRaised(std::string_view kind, std::string_view stage, std::string_view message) {
  if (kind == "argument") {
    return {CaseState::NotRun, std::string(stage)};
  }
  const std::string text = lower(message);
  if (kind == "out-of-memory" || hasAny(text, kMemory)) {
    return {CaseState::Oom, "out of memory"};
  }
  if (hasAny(text, kCompiler)) {
    return {CaseState::CompileError, "compiler"};
  }
  if (kind == "not-implemented" || hasAny(text, kUnsupported)) {
    return {CaseState::Unsupported, "refused"};
  }
  return {CaseState::RunError, std::string(stage)};
}

Ended stateOfEnding(std::string_view ending, std::string_view errors) {
  if (ending.starts_with("no answer in")) {
    return {CaseState::Timeout, "time"};
  }
  const std::string printed = lower(errors);
  if (hasAny(printed, kMemory)) {
    return {CaseState::Oom, "out of memory"};
  }
  if (ending.find("signal 9") != std::string_view::npos) {
    return {CaseState::Oom, "killed"};
  }
  return {CaseState::Crash, std::string(ending)};
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/mutation/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace neuroncheck::numerics::testing {
namespace {

const std::filesystem::path kFile =
    std::filesystem::path(NEURONCHECK_SOURCE_DIR) / "docs" / "numerics-evidence.md";

std::string fileText() {
  std::ifstream file(kFile, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Counts of a table; no-ops are not counted as faults.
struct Totals {
  std::size_t noOps = 0, faults = 0, missed = 0, weak = 0, degraded = 0, named = 0, unnamed = 0,
              wrongCause = 0, assertClose = 0, dynamoSame = 0, cosine = 0, errorRatio = 0;

  explicit Totals(std::span<const Outcome> outcomes) {
    for (const Outcome& o : outcomes) {
      if (o.noOp) {
        ++noOps;
        continue;
      }
      ++faults;
      missed += o.missed() ? 1 : 0;
      weak += o.state == CaseState::PassWeak ? 1 : 0;
      degraded += o.state == CaseState::Degraded ? 1 : 0;
      named += o.injected != HypothesisId::None && o.named == o.injected ? 1 : 0;
      unnamed +=
          !o.missed() && o.injected != HypothesisId::None && o.named == HypothesisId::None ? 1 : 0;
      wrongCause += o.wrongCause() ? 1 : 0;
      assertClose += o.assertClose ? 1 : 0;
      dynamoSame += o.dynamoSame ? 1 : 0;
      cosine += o.cosine ? 1 : 0;
      errorRatio += o.errorRatio ? 1 : 0;
    }
  }
};

std::string label(const Outcome& o) {
  return fmt::format("{}, {}, {}: {}", o.op, shortName(o.dtype), o.inputs, o.fault);
}

std::string floorText(const Outcome& o) {
  // In steps of ten, so that the last bit of a library function moves nothing.
  const bool weak = o.state == CaseState::PassWeak;
  const std::string_view what =
      o.floorIsRounding ? o.floorIsTable ? "two steps of the output" : "the rounding of the output"
      : weak            ? "what a truncating sum may do"
                        : "what the order of the sum may do";
  return fmt::format("at most {} % of {}", 10 * static_cast<int>(std::ceil(o.percentOfFloor / 10)),
                     what);
}

std::string_view yes(bool value) { return value ? "missed" : "seen"; }

}  // namespace

void expectEvidence(std::string_view section, const std::string& text) {
  const std::string begin = fmt::format("<!-- begin: {} -->\n", section);
  const std::string end = fmt::format("<!-- end: {} -->\n", section);
  std::string all = fileText();
  const auto from = all.find(begin);
  const auto to = all.find(end);
  ASSERT_NE(from, std::string::npos) << "no section " << section << " in " << kFile;
  ASSERT_NE(to, std::string::npos) << "no end of section " << section << " in " << kFile;
  const auto first = from + begin.size();
  if (const char* update =
          std::getenv("NEURONCHECK_UPDATE_EVIDENCE");  // NOLINT(concurrency-mt-unsafe)
      update != nullptr && std::string_view(update) == "1") {
    all.replace(first, to - first, text);
    std::ofstream(kFile, std::ios::binary) << all;
    return;
  }
  EXPECT_EQ(all.substr(first, to - first), text)
      << "docs/numerics-evidence.md says something else; NEURONCHECK_UPDATE_EVIDENCE=1 rewrites it";
}

std::string summaryText(std::span<const Outcome> faults, std::span<const Outcome> legal) {
  const Totals t(faults);
  const auto passed = std::ranges::count(legal, CaseState::Pass, &Outcome::state);
  const auto weak = std::ranges::count(legal, CaseState::PassWeak, &Outcome::state);
  std::string text = fmt::format(
      "{} faults, {} more that change no bit and are not counted. Missed: {}. Right results: {}, "
      "of "
      "them `pass` {}, `pass-weak` {}, refused {}.\n\n",
      t.faults, t.noOps, t.missed, legal.size(), passed, weak, std::ssize(legal) - passed - weak);
  text += fmt::format(
      "Of {} caught ones, `degraded` {}: with the cause that was injected {}, with another {}. "
      "Caught "
      "without the cause that was injected: {}.\n\n",
      t.faults - t.missed, t.degraded, t.named, t.wrongCause, t.unnamed);
  const auto refused = [&](bool Outcome::* passes) {
    return std::ranges::count_if(legal, [&](const Outcome& o) { return !(o.*passes); });
  };
  text += "| rule | faults missed | right results refused |\n|---|---|---|\n";
  text += fmt::format("| this library (`pass` or `pass-weak`) | {} | {} |\n", t.missed,
                      std::ssize(legal) - passed - weak);
  text += fmt::format("| `torch.testing.assert_close`, defaults | {} | {} |\n", t.assertClose,
                      refused(&Outcome::assertClose));
  text += fmt::format("| dynamo `same` | {} | {} |\n", t.dynamoSame, refused(&Outcome::dynamoSame));
  text += fmt::format("| cosine >= 0.99 | {} | {} |\n", t.cosine, refused(&Outcome::cosine));
  text += fmt::format("| R < 1.2 | {} | {} |\n\n", t.errorRatio, refused(&Outcome::errorRatio));
  for (const Outcome& o : faults) {
    if (!o.noOp && o.missed()) {
      text += fmt::format("- missed ({}): {}; the change is {}\n", name(o.state), label(o),
                          floorText(o));
    }
  }
  for (const Outcome& o : faults) {
    if (!o.noOp && o.wrongCause()) {
      text += fmt::format("- other cause: {}, named {}\n", label(o), o.cause);
    }
  }
  return text;
}

std::string tableText(std::span<const Outcome> faults) {
  std::string text =
      "| operator | dtype | inputs | fault | verdict | cause | assert_close | same | cosine | R |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Outcome& o : faults) {
    const bool cause = o.state == CaseState::Degraded || o.state == CaseState::PassWeak;
    if (o.noOp) {
      text += fmt::format("| {} | {} | {} | {} | changes nothing | | | | | |\n", o.op,
                          shortName(o.dtype), o.inputs, o.fault);
      continue;
    }
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", o.op,
                        shortName(o.dtype), o.inputs, o.fault, name(o.state), cause ? o.cause : "",
                        yes(o.assertClose), yes(o.dynamoSame), yes(o.cosine), yes(o.errorRatio));
  }
  return text;
}

void expectLegalPass(std::span<const Outcome> legal) {
  for (const Outcome& o : legal) {
    EXPECT_EQ(o.state, CaseState::Pass) << label(o) << ": " << o.reason;
  }
}

void expectCaught(std::span<const Outcome> faults) {
  const Totals totals(faults);
  EXPECT_GT(totals.faults, 0U);
  EXPECT_LE(totals.missed * 20, totals.faults) << "more than 5 % missed";
  for (const Outcome& o : faults) {
    if (!o.noOp && o.missed()) {
      EXPECT_LE(o.percentOfFloor, 100) << label(o) << " is missed above the noise floor";
    }
  }
}

}  // namespace neuroncheck::numerics::testing

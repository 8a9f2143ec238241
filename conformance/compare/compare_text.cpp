// SPDX-License-Identifier: Apache-2.0
#include "conformance/compare/compare_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::conformance {
namespace {

using numerics::Judgement;
using numerics::Metrics;
using numerics::RatioHistogram;

constexpr std::size_t kPlacesShown = 5;
constexpr std::size_t kNamesShown = 10;
constexpr int kBarWidth = 40;

std::string printable(const std::string& text) { return scanner::printable(text, 120); }
std::string sentence(const std::string& text) { return scanner::printable(text, 600); }

std::string number(double value) { return fmt::format("{:.4g}", value); }
std::string number(const std::optional<double>& value) {
  return value ? number(*value) : std::string("undefined");
}

std::string upper(std::string_view word) {
  std::string out(word);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::string position(std::int64_t index, const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(numerics::positionOf(index, sizes), ","));
}

/// The errors over their bounds, four binades a line; the line that starts at 1 is the first that
/// is wrong.
void writeHistogram(const RatioHistogram& ratios, std::ostream& out) {
  struct Band {
    const char* label;
    std::size_t from, to;  ///< bins, both included
  };
  static constexpr std::array<Band, 9> kBands = {{{"exact", 0, 0},
                                                  {"below 2^-12", 1, 36},
                                                  {"2^-12 .. 2^-8", 37, 40},
                                                  {"2^-8 .. 2^-4", 41, 44},
                                                  {"2^-4 .. 1/4", 45, 46},
                                                  {"1/4 .. 1", 47, 48},
                                                  {"1 .. 4", 49, 50},
                                                  {"4 .. 2^8", 51, 56},
                                                  {"beyond", 57, 65}}};
  const auto total = static_cast<double>(ratios.total());
  if (total == 0) {
    return;
  }
  fmt::print(out, "    error / bound\n");
  for (const Band& band : kBands) {
    std::int64_t count = 0;
    for (std::size_t bin = band.from; bin <= band.to; ++bin) {
      count += ratios.counts().at(bin);
    }
    if (count != 0) {
      const double share = static_cast<double>(count) / total;
      const int bar = std::max(1, static_cast<int>(std::lround(share * kBarWidth)));
      fmt::print(out, "      {:>14} {:>12} {}\n", band.label, count,
                 std::string(static_cast<std::size_t>(bar), band.from >= 49 ? '!' : '='));
    }
  }
}

void writePlaces(const TensorComparison& tensor, std::ostream& out) {
  const Judgement& j = tensor.judgement;
  for (const auto& place : j.integerPlaces) {
    if (&place - j.integerPlaces.data() >= static_cast<std::ptrdiff_t>(kPlacesShown)) {
      return;
    }
    fmt::print(out, "      {} got {}, truth {}\n", position(place.index, tensor.sizes),
               place.actual, place.truth);
  }
  if (!j.integerPlaces.empty()) {
    return;
  }
  for (std::size_t i = 0; i < j.metrics.worst.size() && i < kPlacesShown; ++i) {
    const numerics::Place& place = j.metrics.worst[i];
    fmt::print(out, "      {} got {:.9g}, truth {:.17g}, {}\n", position(place.index, tensor.sizes),
               place.actual, place.truth,
               std::isinf(place.ratio) ? std::string(name(place.fault))
                                       : fmt::format("{} x bound", number(place.ratio)));
  }
}

void writeNumbers(const Judgement& j, std::ostream& out) {
  const Metrics& m = j.metrics;
  fmt::print(out,
             "    max abs {}, max rel {}, max {} ulp, relative L2 {}, R {}, cosine {} (display)\n",
             number(m.maxAbs.value), number(m.maxRel.value), number(m.maxUlp.value),
             number(m.relativeL2()), number(m.errorRatio()), number(m.cosine()));
  fmt::print(out, "    would pass with rtol {} alone, atol {} alone, or {} x its bound\n",
             number(j.needed.rtolAlone), number(j.needed.atolAlone), number(j.needed.boundFactor));
}

void writeTensor(const TensorComparison& tensor, bool whole, const CompareReport& report,
                 std::ostream& out) {
  const Judgement& j = tensor.judgement;
  const std::string pairName = tensor.name == tensor.actualName
                                   ? printable(tensor.name)
                                   : printable(tensor.name) + " = " + printable(tensor.actualName);
  const bool says = !j.cause.empty() && j.cause != name(j.state);
  const std::string cause = says ? fmt::format(" ({})", j.cause) : "";
  fmt::print(out, "\n{}{}  {}{}{}{}\n", upper(name(j.state)), cause, pairName,
             tensor.actual.empty() ? "" : "  ", tensor.actual,
             tensor.expected == tensor.actual || tensor.expected.empty()
                 ? ""
                 : " against " + tensor.expected);
  fmt::print(out, "    {}\n", sentence(j.reason));
  if (report.allclose && j.allclosePasses) {
    fmt::print(out, "    allclose(rtol={}, atol={}): {}\n", number(report.allclose->rtol),
               number(report.allclose->atol), *j.allclosePasses ? "holds" : "fails");
  }
  if (!whole || j.metrics.count == 0) {
    return;
  }
  writePlaces(tensor, out);
  if (j.integerPlaces.empty()) {
    writeNumbers(j, out);
    writeHistogram(j.metrics.ratios, out);
  }
  for (const numerics::HypothesisTrial& trial : j.trials) {
    if (j.state == CaseState::Degraded && !trial.explainsAll) {
      continue;  // the one that explains everything stands above
    }
    fmt::print(out, "    tried {}: explains {} of {}{}\n", name(trial.id), trial.explained,
               trial.tried, trial.note.empty() ? "" : "; " + trial.note);
  }
  fmt::print(out, "    judged as {}\n", tensor.judgedAs);
  for (const std::string& note : j.notes) {
    fmt::print(out, "    note: {}\n", note);
  }
}

void writeNames(const char* title, const std::vector<std::string>& names, std::ostream& out) {
  if (names.empty()) {
    return;
  }
  fmt::print(out, "\n{}: {}\n", title, names.size());
  for (std::size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    fmt::print(out, "    {}\n", printable(names[i]));
  }
  if (names.size() > kNamesShown) {
    fmt::print(out, "    and {} more\n", names.size() - kNamesShown);
  }
}

}  // namespace

void writeCompareText(const CompareReport& report, int verbosity, std::ostream& out) {
  std::string counts;
  for (std::size_t s = 0; s < kCaseStateCount; ++s) {
    const auto state = static_cast<CaseState>(s);
    if (const std::size_t n = report.count(state); n != 0) {
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, name(state));
    }
  }
  fmt::print(out, "{}: {}\n", report.passes() ? "AGREES" : "DOES NOT AGREE", counts);
  fmt::print(out, "  EXPECTED {}\n  ACTUAL   {}\n", printable(report.expectedPath),
             printable(report.actualPath));
  for (const TensorComparison& tensor : report.tensors) {
    const bool passes = isPass(tensor.judgement.state);
    if (!passes || verbosity > 0 || tensor.judgement.state == CaseState::PassWeak) {
      writeTensor(tensor, !passes || verbosity > 0, report, out);
    }
  }
  writeNames("NOT COMPARED, only in ACTUAL (--map EXPECTED=ACTUAL pairs other names)",
             report.onlyInActual, out);
  if (report.filteredOut != 0) {
    fmt::print(out, "\nNOT COMPARED, left out by -k: {}\n", report.filteredOut);
  }
  if (report.stopped) {
    fmt::print(out, "\nINTERRUPTED: what is not listed was not compared\n");
  }
  if (!report.passes() && verbosity == 0) {
    fmt::print(out, "\n-v shows passing tensors too; --format json has every number.\n");
  }
}

}  // namespace neuroncheck::conformance

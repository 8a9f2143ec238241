// SPDX-License-Identifier: Apache-2.0
#include "report/run_diff_report.h"

#include <array>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/inventory_json.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

struct Part {
  const char* word;
  const char* title;
  const std::vector<CaseDelta>* deltas;
};

std::array<Part, 4> partsOf(const RunDiff& diff) {
  return {{{"changed", "another state", &diff.changed},
           {"gone", "no longer run", &diff.gone},
           {"new", "run for the first time", &diff.added},
           {"drifted", "the same state for other reasons", &diff.drifted}}};
}

Json toJson(const RunDiff& diff, bool simulated) {
  Json out = {{"schema", "neuron-check/run-diff/1"},
              {"simulated", simulated},
              {"unlike", diff.unlike},
              {"same", diff.same}};
  for (const Part& part : partsOf(diff)) {
    Json list = Json::array();
    for (const CaseDelta& delta : *part.deltas) {
      list.push_back({{"case_id", delta.id},
                      {"case", delta.text},
                      {"before", name(delta.before)},
                      {"after", name(delta.after)},
                      {"why", delta.why}});
    }
    out[part.word] = std::move(list);
  }
  return out;
}

void writeText(const RunDiff& diff, bool simulated, bool marked, std::ostream& out) {
  const auto text = [marked](std::string_view words) {
    return marked ? markdown(words) : printable(words);
  };
  if (simulated) {
    fmt::print(out, "{}A simulated device is compared: no hardware ran anything.\n",
               marked ? "- " : "");
  }
  for (const std::string& unlike : diff.unlike) {
    fmt::print(out, "{}warning: the runs are unlike in {}\n", marked ? "- " : "", text(unlike));
  }
  for (const Part& part : partsOf(diff)) {
    if (part.deltas->empty()) {
      continue;
    }
    fmt::print(out, "\n{}{}: {}\n", marked ? "### " : "",
               counted(part.deltas->size(), "case", "cases"), part.title);
    for (const CaseDelta& delta : *part.deltas) {
      fmt::print(out, "{}{} -> {}  {}\n", marked ? "- " : "  ", name(delta.before),
                 name(delta.after), text(delta.text));
      for (const std::string& why : delta.why) {
        fmt::print(out, "{}{}\n", marked ? "  - " : "      ", text(why));
      }
    }
  }
  fmt::print(out, "\n{} the same in both runs.\n", counted(diff.same, "case is", "cases are"));
}

}  // namespace

Result<void> writeRunDiff(const RunDiff& diff, bool simulated, std::string_view format,
                          std::ostream& out) {
  if (format == "json") {
    out << dumpJson(toJson(diff, simulated), 1) << '\n';
  } else if (format == "terminal" || format == "md") {
    writeText(diff, simulated, format == "md", out);
  } else {
    return fail(ErrorCode::Usage,
                fmt::format("--format '{}': a diff has terminal, json and md", format));
  }
  if (!out) {
    return fail(ErrorCode::Output, "the report could not be written");
  }
  return {};
}

}  // namespace neuroncheck::report

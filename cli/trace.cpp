// SPDX-License-Identifier: Apache-2.0
#include "cli/trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "opdb/trace_plan.h"

namespace neuroncheck::cli {
namespace {

// One request is answered as a whole: small enough that progress and interruption stay possible.
constexpr std::size_t kCasesAtOnce = 200;

/// One call that arrived. Its node is read as part of a model, which is the form the codec knows.
Result<std::vector<OpUse>> readArrivals(const Json& arrivals) {
  std::vector<OpUse> out;
  Model carrier;
  carrier.name = "trace";
  Inventory inventory;
  inventory.kind = FileKind::ExportedProgram;
  inventory.models.push_back(carrier);
  Json document = toJson(inventory);
  Json& model = document["models"]["trace"];
  std::uint32_t id = 0;
  for (const Json& arrival : arrivals) {
    Json node = arrival;
    const std::string target = node.at("target").get<std::string>();
    node.erase("target");
    node["id"] = id++;
    model[target.starts_with("aten::") ? "ops" : "custom_ops"].push_back(
        {{"target", target}, {"group", "compute"}, {"count", 1}, {"nodes", Json::array({node})}});
  }
  auto read = inventoryFromJson(document);
  if (!read) {
    return tl::unexpected(std::move(read).error());
  }
  return std::move(read->models.front().uses);
}

TracedCase readCase(const Json& answer) {
  TracedCase out;
  out.raised = answer.value("raised", "");
  out.raisedAt = answer.value("raised_at", "");
  out.notTraced = answer.value("not_traced", "");
  if (out.raised.empty() && out.notTraced.empty()) {
    auto arrivals = readArrivals(answer.value("arrivals", Json::array()));
    if (arrivals) {
      out.arrivals = *std::move(arrivals);
    } else {
      out.notTraced = "the answer cannot be read: " + arrivals.error().text();
    }
  }
  return out;
}

TracedCase notTraced(std::string why) {
  TracedCase out;
  out.notTraced = std::move(why);
  return out;
}

/// Results for the cases [first, last) of a plan. A worker that fails costs these cases only.
void dispatch(ModelTrace& trace, std::size_t first, std::size_t last, const Json& common,
              TorchClient& torch) {
  Json request = common;
  request["cases"] = Json::array();
  for (std::size_t i = first; i < last; ++i) {
    request["cases"].push_back({{"id", i}, {"case", trace.cases[i]}});
  }
  const auto answer = torch.ask(request);
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t place = i - first;
    if (!answer) {
      trace.results.push_back(notTraced(answer.error().text()));
      continue;
    }
    const Json& cases = answer->value("cases", Json::array());
    trace.results.push_back(place < cases.size() &&
                                    cases[place].value("id", -1) == static_cast<int>(i)
                                ? readCase(cases[place])
                                : notTraced("the worker left it out"));
  }
}

}  // namespace

Result<std::vector<ModelTrace>> traceModels(const Inventory& inventory, const Target& target,
                                            const opdb::Database& database,
                                            const std::vector<std::string>& libraries,
                                            TorchClient& torch) {
  NEURONCHECK_TRY([[maybe_unused]] const Json hello, torch.handshake());
  const Json common{{"do", "trace"},
                    {"native", opdb::registeredOperators(database, target)},
                    {"libraries", libraries}};
  std::vector<ModelTrace> traces;
  for (const Model& model : inventory.models) {
    ModelTrace trace = model.approximate ? ModelTrace{} : opdb::planTrace(model, database);
    for (std::size_t first = 0; first < trace.cases.size(); first += kCasesAtOnce) {
      dispatch(trace, first, std::min(trace.cases.size(), first + kCasesAtOnce), common, torch);
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace neuroncheck::cli

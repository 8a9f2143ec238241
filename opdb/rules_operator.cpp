// SPDX-License-Identifier: Apache-2.0
// Rules about single operators: custom ones, unknown ones, CPU-only paths, views by copy, caveats.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {
namespace {

/// Operators that only a graph made on the CPU contains (facts of the dispatcher of torch 2.13).
bool isCpuOnly(const OpName& op) {
  constexpr std::array<std::string_view, 5> kNames{
      "aten::_scaled_dot_product_flash_attention_for_cpu",
      "aten::_scaled_dot_product_flash_attention_for_cpu_backward", "aten::mkldnn_rnn_layer",
      "aten::mkldnn_rnn_layer_backward", "transformers::grouped_mm_fallback"};
  const std::string packet = op.packet();
  return std::ranges::find(kNames, packet) != kNames.end() || op.ns == "mkldnn" ||
         op.ns == "mkldnn_prepacked" || op.ns == "onednn";
}

bool isTorchs(std::string_view ns) { return ns == "aten" || ns == "prims"; }

bool isKnown(const RuleRun& run, const OpUse& use) {
  return use.inCatalogue || run.info(use) != nullptr;
}

void cpuPath(RuleRun& run, const OpUse& use) {
  Finding& finding = run.finding("NC111");
  finding.message =
      "These operators exist on the CPU only. The same model code takes another path on the "
      "device, whose operators are not in this file.";
  finding.places.push_back(run.place(use));
}

void unknownOperator(RuleRun& run, const OpUse& use) {
  const UseClaim* claim = run.claim(use);
  if (claim != nullptr && claim->claim != Claim::Unknown) {
    return;  // the database has a row for it
  }
  const std::string op = use.op.str();
  if (isTorchs(use.op.ns)) {
    Finding& finding = run.finding("NC205");
    finding.message = "The catalogue of this database does not have these operators.";
    finding.places.push_back(run.place(use));
    return;
  }
  Finding& finding = run.finding("NC204", op);
  finding.message = fmt::format(
      "Nothing in the database says that {} has a kernel for PrivateUse1; its schema and its "
      "implementation are not in the file.",
      op);
  finding.places.push_back(run.place(use));
}

void copiedView(RuleRun& run, const OpUse& use) {
  const UseClaim* claim = run.claim(use);
  if (claim == nullptr || claim->claim != Claim::CpuFallbackView) {
    return;
  }
  Finding& finding = run.finding("NC203");
  finding.message =
      "The backend has no kernel for these views, so the CPU fallback returns a copy: writes "
      "through the result do not reach the original tensor, without an error.";
  finding.places.push_back(run.place(use, withoutOp(claim->reason, use)));
}

void caveats(RuleRun& run, const OpUse& use) {
  const UseClaim* claim = run.claim(use);
  // What may be a view or a copy has a rule about cost (NC805).
  if (claim == nullptr || claim->caveats.empty() || claim->claim != Claim::Native ||
      use.group == OpGroup::ViewOrCopy) {
    return;
  }
  Finding& finding = run.finding("NC211");
  finding.message = "Registered is not tested: the rows of these operators carry a caveat.";
  std::string detail;
  for (const std::string& caveat : claim->caveats) {
    detail += (detail.empty() ? "" : "; ") + withoutOp(caveat, use);
  }
  finding.places.push_back(run.place(use, std::move(detail)));
  finding.evidence.insert(finding.evidence.end(), claim->evidence.begin(), claim->evidence.end());
}

void madeElsewhere(RuleRun& run) {
  std::vector<std::string> others;
  for (const std::string& device : run.model().madeOn) {
    const std::string type = device.substr(0, device.find(':'));
    if (type != "cpu" && type != "neuron" && type != "privateuseone" && type != "meta") {
      others.push_back(device);
    }
  }
  if (others.empty()) {
    return;
  }
  Finding& finding = run.finding("NC110");
  finding.message = fmt::format(
      "Tensors of this model are on {}: code that asks for the device type took the path of that "
      "device.",
      fmt::join(others, ", "));
}

}  // namespace

void runOperatorRules(RuleRun& run) {
  madeElsewhere(run);
  for (const OpUse& use : run.model().uses) {
    if (isCpuOnly(use.op)) {
      cpuPath(run, use);
    } else if (!isKnown(run, use)) {
      unknownOperator(run, use);
    }
    copiedView(run, use);
    caveats(run, use);
  }
}

}  // namespace neuroncheck::opdb

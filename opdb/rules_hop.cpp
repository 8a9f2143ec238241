// SPDX-License-Identifier: Apache-2.0
// Rules about higher-order operators: control flow, wrappers, delegates, kernels of other
// languages.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {
namespace {

bool oneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Named as unimplemented by the graph importer in the snapshot's own test specification.
bool isRefusedByImporter(std::string_view name) {
  return oneOf(name, {"cond", "map_impl", "invoke_subgraph", "auto_functionalized_v2",
                      "invoke_quant_packed", "run_and_save_rng_state", "while_loop_stack_output"});
}

/// Wrappers that vanish before a backend sees the graph, in both modes.
bool isTransparent(std::string_view name) {
  return oneOf(name, {"wrap_with_set_grad_enabled", "wrap_with_autocast", "wrap", "strict_mode",
                      "hints_wrapper", "tag_activation_checkpoint", "wrap_activation_checkpoint"});
}

/// Plain calls and loops in eager mode: the operators within are judged by themselves.
bool runsInEager(std::string_view name) {
  return oneOf(
      name, {"cond", "while_loop", "scan", "associative_scan", "map_impl", "map", "invoke_subgraph",
             "auto_functionalized", "auto_functionalized_v2", "invoke_quant_packed", "invoke_quant",
             "run_and_save_rng_state", "while_loop_stack_output", "with_effects", "out_dtype"});
}

bool isDelegate(std::string_view name) {
  return oneOf(name, {"executorch_call_delegate", "aoti_call_delegate", "run_const_graph"});
}

void autocast(RuleRun& run, const HigherOrderUse& use) {
  const std::string* device = nullptr;
  const SymBool* enabled = nullptr;
  for (const Argument& argument : use.args) {
    const auto* text = std::get_if<std::string>(&argument.value);
    const auto* flag = std::get_if<SymBool>(&argument.value);
    device = device == nullptr ? text : device;
    enabled = enabled == nullptr ? flag : enabled;
  }
  const bool off = enabled != nullptr && enabled->expr == nullptr && !enabled->value;
  if (device == nullptr || off || *device == "neuron" || *device == "privateuseone") {
    return;
  }
  Finding& finding = run.finding("NC512");
  finding.message =
      "The graph switches autocast on for another device. On the target it has no effect: "
      "operators compute in the wider type, and checks on the recorded type raise.";
  finding.places.push_back(run.place(use, fmt::format("autocast for '{}'", *device)));
}

void hostDecision(RuleRun& run, const HigherOrderUse& use) {
  const bool loop = use.name == "while_loop";
  const bool branch =
      use.name == "cond" && !use.args.empty() && tensorOf(&use.args.front()) != nullptr;
  if (!run.eager() || (!loop && !branch)) {
    return;
  }
  Finding& finding = run.finding("NC208");
  finding.message = "In eager mode the host reads the condition from the device before it goes on.";
  finding.places.push_back(
      run.place(use, loop ? "once per iteration" : "the predicate is a tensor"));
}

/// Custom operators hide behind auto_functionalized as an operator argument.
void hiddenOperators(RuleRun& run, const HigherOrderUse& use) {
  for (const Argument& argument : use.args) {
    const auto* reference = std::get_if<OperatorRef>(&argument.value);
    if (reference == nullptr) {
      continue;
    }
    std::optional<OpName> op = OpName::fromExportTarget(reference->target);
    op = op ? op : OpName::parse(reference->target);
    const bool known = op && run.data().schemas != nullptr &&
                       (run.data().schemas->find(*op) != nullptr ||
                        !run.data().schemas->overloads(op->packet()).empty());
    if (known) {
      continue;
    }
    const std::string target = op ? op->str() : reference->target;
    Finding& finding = run.finding("NC204", target);
    finding.message = fmt::format(
        "Nothing in the database says that {} has a kernel for PrivateUse1; its schema and its "
        "implementation are not in the file.",
        target);
    FindingPlace place = run.place(use, fmt::format("called by {}", use.name));
    place.op = target;
    finding.places.push_back(std::move(place));
  }
}

void refused(RuleRun& run, std::string_view rule, const HigherOrderUse& use, std::string message) {
  Finding& finding = run.finding(rule);
  finding.message = std::move(message);
  finding.places.push_back(run.place(use));
}

void classify(RuleRun& run, const HigherOrderUse& use) {
  if (use.name.starts_with("triton_kernel_wrapper")) {
    refused(run, "NC206", use,
            "The graph calls Triton kernels, whose source is not in the file; the device has no "
            "Triton.");
  } else if (isDelegate(use.name)) {
    refused(run, "NC210", use,
            "The graph calls code that was compiled for another backend; it holds no operators "
            "that could be judged.");
  } else if (!run.eager() && isRefusedByImporter(use.name)) {
    refused(run, "NC207", use,
            "The importer of torch.compile has no code for these higher-order operators "
            "(\"Higher-order operation '...' not implemented in the FxImporter\").");
  } else if (!isTransparent(use.name) && !(run.eager() && runsInEager(use.name))) {
    refused(run, "NC209", use,
            "Nothing is known of how the backend treats these higher-order operators.");
  }
}

}  // namespace

void runHigherOrderRules(RuleRun& run) {
  for (const HigherOrderUse& use : run.model().higherOrder) {
    if (use.name == "wrap_with_autocast") {
      autocast(run, use);
    }
    classify(run, use);
    hostDecision(run, use);
    hiddenOperators(run, use);
  }
}

}  // namespace neuroncheck::opdb

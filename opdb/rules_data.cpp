// SPDX-License-Identifier: Apache-2.0
// Results whose size depends on data, boolean indices, values that the host reads.
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "opdb/rules_host.h"
#include "opdb/rules_run.h"
#include "opdb/rules_symbols.h"

namespace neuroncheck::opdb {
namespace {

bool oneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Evidence and severity of what a compiled graph cannot hold: as strong as the row that refuses
/// dynamic shapes.
void asDynamicShape(RuleRun& run, Finding& finding) {
  if (run.eager()) {
    return;
  }
  if (const auto answer = run.feature("dynamic-shapes")) {
    finding.severity = capped(severityOf(answer->row->status), answer->standing);
    finding.evidence.push_back(answer->evidence);
  }
}

/// Where a size that depends on data comes from.
enum class SizeFrom : std::uint8_t {
  Result,  ///< the operator computes it, and the host waits for it
  Number,  ///< a number that the host has read before (item(), the size of an earlier result)
};

std::string sizeMessage(bool eager, SizeFrom from) {
  if (from == SizeFrom::Result) {
    return eager ? "The host waits for the size of these results, and every new size compiles the "
                   "operators behind them again."
                 : "The size of these results is known only when they are computed; a compiled "
                   "graph needs fixed sizes.";
  }
  return std::string(
             "These results take their size from a number that the host has read from the "
             "device before") +
         (eager ? ": every new one compiles the operators behind them again."
                : "; a compiled graph needs fixed sizes.");
}

void dataDependentSize(RuleRun& run, const OpUse& use, SizeFrom from) {
  const std::string_view key = from == SizeFrom::Number ? "number" : "";
  const bool isNew = !run.has("NC303", key);
  Finding& finding = run.finding("NC303", key);
  if (isNew) {
    finding.message = sizeMessage(run.eager(), from);
    if (from == SizeFrom::Number) {
      finding.remedy =
          "Keep the size fixed: take it from a Python number or an input, or compute the full size "
          "and mask what is not wanted with torch.where.";
    }
    asDynamicShape(run, finding);
  }
  std::string results;
  for (const ArgValue& output : use.outputs) {
    forEachTensor(output, [&](const TensorValue& tensor) {
      if (results.size() < kMaxDetail) {
        results += (results.empty() ? "" : ", ") + run.tensorText(tensor);
      }
    });
  }
  finding.places.push_back(run.place(use, "result " + results));
}

void booleanIndex(RuleRun& run, const OpUse& use) {
  const bool write = use.op.base.find("put") != std::string::npos;
  Finding& finding = run.finding("NC304", write ? "write" : "read");
  if (finding.places.empty()) {
    finding.message = write ? "A boolean index is turned into positions with nonzero first."
                            : "A boolean index makes a result whose size depends on data.";
    if (run.eager()) {
      finding.message += " The host waits for it.";
    } else {
      finding.message += write ? " torch.compile on the backend refuses boolean index_put."
                               : " A compiled graph needs fixed sizes.";
      if (write) {
        finding.severity = Severity::Error;
      } else {
        asDynamicShape(run, finding);
      }
    }
  }
  finding.places.push_back(run.place(use, write ? "written" : "read"));
}

void hostRead(RuleRun& run, const OpUse& use) {
  Finding& finding = run.finding("NC305");
  finding.message =
      run.eager()
          ? "The program reads a value back: the host waits until the device has computed it."
          : "The program reads a value back: the compiled graph is cut here.";
  finding.places.push_back(run.place(use, use.inLoop ? "in a loop" : ""));
}

bool hasTag(const RuleRun& run, const OpUse& use, std::string_view tag) {
  const OpInfo* info = run.info(use);
  return info != nullptr && info->hasTag(tag);
}

bool hasUnshapedResult(const OpUse& use) {
  bool unshaped = false;
  for (const ArgValue& output : use.outputs) {
    forEachTensor(output,
                  [&](const TensorValue& tensor) { unshaped = unshaped || !tensor.spec.hasShape; });
  }
  return unshaped;
}

/// Does a result tensor have an unbacked symbol that no argument has, or, when numbers do not
/// count, no tensor argument?
bool makesNewSize(const OpUse& use, SymbolTable& table, bool numbersCount) {
  std::set<std::uint32_t> after;
  for (const ArgValue& output : use.outputs) {
    forEachTensor(output, [&](const TensorValue& tensor) {
      for (const std::uint32_t id : table.of(tensor)) {
        if (table.unbacked(id)) {
          after.insert(id);
        }
      }
    });
  }
  if (after.empty()) {
    return false;
  }
  std::set<std::uint32_t> before;
  for (const Argument& argument : use.args) {
    if (numbersCount) {
      table.collect(argument.value, before);
    } else {
      forEachTensor(argument.value, [&](const TensorValue& tensor) {
        const SymbolTable::Ids& ids = table.of(tensor);
        before.insert(ids.begin(), ids.end());
      });
    }
  }
  return !std::ranges::includes(before, after);
}

/// Conversions of a tensor to a number are builtins of TorchScript's interpreter, and read it.
void implicitReads(RuleRun& run) {
  for (const auto& [builtin, count] : run.model().interpreterOps) {
    if (!oneOf(builtin, {"aten::Bool.Tensor", "aten::Int.Tensor", "aten::Float.Tensor",
                         "aten::Complex.Tensor", "aten::ScalarImplicit", "aten::IntImplicit",
                         "aten::FloatImplicit", "aten::ComplexImplicit"})) {
      continue;
    }
    Finding& finding = run.finding("NC305");
    finding.message =
        "The program reads a value back: the host waits until the device has computed it.";
    finding.places.push_back(run.place(builtin, fmt::format("{} in the method", count)));
  }
}

}  // namespace

bool hasBooleanIndex(const OpUse& use) {
  if (use.op.ns != "aten" ||
      !oneOf(functionalBase(use.op.base),
             {"index", "index_put", "_index_put_impl", "_unsafe_index", "_unsafe_index_put"})) {
    return false;
  }
  const Argument* indices = use.arg("indices");
  bool found = false;
  if (indices != nullptr) {
    forEachTensor(indices->value, [&](const TensorValue& tensor) {
      found = found || tensor.spec.dtype == DType::Bool || tensor.spec.dtype == DType::UInt8;
    });
  }
  return found;
}

HostWait hostWaitOf(const RuleRun& run, const OpUse& use, SymbolTable& table) {
  if (use.group == OpGroup::View) {
    return HostWait::None;
  }
  if (hasBooleanIndex(use)) {
    return HostWait::BooleanIndex;
  }
  const bool reads =
      hasTag(run, use, "data_dependent_output") ||
      (use.op.ns == "aten" && oneOf(use.op.base, {"item", "_local_scalar_dense", "equal",
                                                  "allclose", "is_nonzero", "_assert_async"}));
  if (reads) {
    return HostWait::Read;
  }
  const bool unknownSize = hasUnshapedResult(use) && hasTag(run, use, "dynamic_output_shape");
  return unknownSize || makesNewSize(use, table, true) ? HostWait::Size : HostWait::None;
}

void runDataDependentRules(RuleRun& run) {
  implicitReads(run);
  SymbolTable table;
  for (const OpUse& use : run.model().uses) {
    switch (hostWaitOf(run, use, table)) {
      case HostWait::None:
        if (makesNewSize(use, table, false)) {
          dataDependentSize(run, use, SizeFrom::Number);
        }
        break;
      case HostWait::Size:
        dataDependentSize(run, use, SizeFrom::Result);
        break;
      case HostWait::BooleanIndex:
        booleanIndex(run, use);
        break;
      case HostWait::Read:
        hostRead(run, use);
        break;
    }
  }
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
// What a run costs: memory, compiles, host waits, copies, slow paths.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "opdb/rules_host.h"
#include "opdb/rules_run.h"
#include "opdb/rules_symbols.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// HBM of one logical core, and the division it comes from (two physical cores are one logical one
/// on trn2 and trn3).
struct CoreMemory {
  std::int64_t bytes = 0;
  std::string_view derivation;
};
CoreMemory coreMemory(std::string_view chip) {
  if (chip == "trn1") {
    return {.bytes = 16 * kGiB, .derivation = "32 GiB per trn1 chip, 2 cores"};
  }
  if (chip == "trn3") {
    return {.bytes = 36 * kGiB, .derivation = "144 GiB per trn3 chip, 4 logical cores at LNC=2"};
  }
  return {.bytes = 24 * kGiB, .derivation = "96 GiB per trn2 chip, 4 logical cores at LNC=2"};
}

std::string bytesText(double bytes) {
  constexpr double kMiB = 1 << 20;
  constexpr auto kGib = static_cast<double>(kGiB);
  return bytes >= kGib ? fmt::format("{:.1f} GiB", bytes / kGib)
                       : fmt::format("{:.1f} MiB", bytes / kMiB);
}

/// Bytes are summed in double: a hostile file cannot overflow it, and no report needs the last
/// byte.
struct Weights {
  double all = 0;
  double parameters = 0;
  std::map<DType, double> byType;
  std::int64_t unknown = 0;
};

Weights weigh(const Model& model) {
  Weights weights;
  std::unordered_set<std::string> records;
  for (const StoredTensor& stored : model.stored) {
    // Tied weights share a record; a weightless file has one record for all, which tells nothing.
    if (stored.recordBytes > 0 && !stored.record.empty() && !records.insert(stored.record).second) {
      continue;
    }
    const std::optional<std::int64_t> own = stored.spec.byteCount();
    if (!own && stored.recordBytes <= 0) {
      ++weights.unknown;
      continue;
    }
    const auto bytes = static_cast<double>(stored.recordBytes > 0 ? stored.recordBytes : *own);
    weights.all += bytes;
    weights.parameters += stored.isParameter ? bytes : 0;
    weights.byType[stored.spec.dtype] += bytes;
  }
  return weights;
}

std::string typesText(const Weights& weights) {
  std::string out;
  for (const auto& [dtype, bytes] : weights.byType) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", bytesText(bytes), name(dtype));
  }
  return out;
}

void memory(RuleRun& run) {
  const Weights weights = weigh(run.model());
  if (run.model().stored.empty()) {
    return;
  }
  const CoreMemory core = coreMemory(run.target().chip);
  const auto limit = static_cast<double>(core.bytes);
  const std::string room =
      fmt::format("one logical core has {} ({})", bytesText(limit), core.derivation);
  // Gradients have the weights' type, AdamW keeps two states of it: four times the parameters.
  const double training = weights.all + 3 * weights.parameters;
  if (weights.all > limit) {
    Finding& finding = run.finding("NC801");
    finding.message = fmt::format("Parameters and buffers take {} ({}); {}.",
                                  bytesText(weights.all), typesText(weights), room);
  } else if (training > limit) {
    Finding& finding = run.finding("NC802");
    finding.message = fmt::format(
        "If it were trained with AdamW: weights {}, gradients {}, optimiser state {}, together {}; "
        "{}. Activations come on top.",
        bytesText(weights.all), bytesText(weights.parameters), bytesText(2 * weights.parameters),
        bytesText(training), room);
  }
  if (weights.unknown != 0) {
    run.notChecked(
        counted(weights.unknown, "stored tensor of unknown size", "stored tensors of unknown size"),
        "the file does not state their sizes", "add the weights");
  }
  run.notChecked("memory of activations", "the file does not say what is live at once",
                 "run the model and read torch.neuron memory statistics");
}

/// Text of everything a compiled operator depends on. Tensors go by number, so that one huge tensor
/// costs once.
class CaseKeys {
 public:
  std::string key(const OpUse& use) {
    std::string out = use.op.str();
    for (const Argument& argument : use.args) {
      if (std::holds_alternative<Device>(argument.value)) {
        continue;
      }
      out += fmt::format(";{}=", argument.name);
      const std::size_t before = out.size();
      forEachTensor(argument.value,
                    [&](const TensorValue& tensor) { out += fmt::format("%{}", number(tensor)); });
      if (out.size() == before && !std::holds_alternative<TensorList>(argument.value)) {
        scalar(argument.value, out);
      }
    }
    return out;
  }

 private:
  void scalar(const ArgValue& value, std::string& out) {
    const auto add = [&](const SymInt& one) {
      out += one.isSymbolic() ? fmt::format("#{}", number(one.expr)) : one.str();
      out += ',';
    };
    if (const auto* one = std::get_if<SymIntValue>(&value)) {
      add(one->value);
    } else if (const auto* list = std::get_if<std::vector<SymIntValue>>(&value)) {
      for (const SymIntValue& each : *list) {
        add(each.value);
      }
    } else {
      out += text(value);
    }
  }

  std::size_t number(const SymExprPtr& expr) {
    const auto [found, isNew] = expressions_.try_emplace(expr.get(), 0);
    if (isNew) {
      found->second = specs_.try_emplace(expr->str(), specs_.size()).first->second;
    }
    return found->second;
  }

  std::size_t number(const TensorValue& tensor) {
    const auto [found, isNew] = numbers_.try_emplace(&tensor, 0);
    if (isNew) {
      std::string spec = tensor.spec.str();
      if (contiguity(tensor.spec) != true) {
        for (const SymInt& stride : tensor.spec.strides) {
          spec += "@" + stride.str();
        }
      }
      found->second = specs_.try_emplace(std::move(spec), specs_.size()).first->second;
    }
    return found->second;
  }

  std::unordered_map<const TensorValue*, std::size_t> numbers_;
  std::unordered_map<const SymExpr*, std::size_t> expressions_;
  std::unordered_map<std::string, std::size_t> specs_;
};

/// Is the use compiled for the device, as far as its claim says? So that the number is that of the
/// counts by claim.
bool isCompiled(const OpUse& use, const UseClaim* claim) {
  if (claim == nullptr) {
    return isDeviceWork(use.group);
  }
  return claim->claim == Claim::Native || claim->claim == Claim::Decomposed ||
         claim->claim == Claim::Unknown || claim->claim == Claim::Depends;
}

void compiles(RuleRun& run) {
  if (!run.eager()) {
    return;
  }
  CaseKeys keys;
  std::unordered_set<std::string> distinct;
  std::map<std::string, std::int64_t> byOperator;
  std::int64_t uses = 0;
  for (const OpUse& use : run.model().uses) {
    if (!isCompiled(use, run.claim(use))) {
      continue;
    }
    ++uses;
    if (distinct.insert(keys.key(use)).second) {
      ++byOperator[use.op.str()];
    }
  }
  if (uses == 0) {
    return;
  }
  std::vector<std::pair<std::int64_t, std::string>> most;
  most.reserve(byOperator.size());
  for (const auto& [op, count] : byOperator) {
    most.emplace_back(-count, op);
  }
  std::ranges::sort(most);
  most.resize(std::min<std::size_t>(most.size(), 3));
  std::string top;
  for (const auto& [count, op] : most) {
    top += fmt::format("{}{} {}", top.empty() ? "" : ", ", op, -count);
  }
  Finding& finding = run.finding("NC803");
  finding.message = fmt::format(
      "{} {} of operator, types, shapes and arguments ({}); eager mode compiles each once, and a "
      "composite once for each operator below it.",
      counted(uses, "use of device work makes", "uses of device work make"),
      counted(static_cast<std::int64_t>(distinct.size()), "distinct case", "distinct cases"), top);
}

void hostWaits(RuleRun& run) {
  SymbolTable table;
  std::int64_t reads = 0;
  std::int64_t sizes = 0;
  std::int64_t indices = 0;
  std::int64_t inLoops = 0;
  std::vector<FindingPlace> places;
  for (const OpUse& use : run.model().uses) {
    const HostWait wait = hostWaitOf(run, use, table);
    if (wait == HostWait::None) {
      continue;
    }
    reads += wait == HostWait::Read ? 1 : 0;
    sizes += wait == HostWait::Size ? 1 : 0;
    indices += wait == HostWait::BooleanIndex ? 1 : 0;
    inLoops += use.inLoop ? 1 : 0;
    places.push_back(run.place(use));
  }
  std::int64_t decisions = 0;
  if (run.has("NC208")) {
    const Finding& control = run.finding("NC208");
    decisions = static_cast<std::int64_t>(control.places.size());
    places.insert(places.end(), control.places.begin(), control.places.end());
  }
  if (places.empty()) {
    return;
  }
  Finding& finding = run.finding("NC804");
  finding.message = fmt::format(
      "The host waits for the device at {}: {} of a value, {} of a size, {} by boolean index, {} "
      "in "
      "control flow.",
      counted(static_cast<std::int64_t>(places.size()), "place", "places"),
      counted(reads, "read", "reads"), sizes, indices, decisions);
  if (inLoops != 0) {
    finding.message += fmt::format(" {} of them within loops, so once per iteration.", inLoops);
  }
  finding.places = std::move(places);
}

/// Does this view-or-copy operator copy? nullopt: the file does not tell.
std::optional<bool> copies(const OpUse& use) {
  const TensorValue* in = use.args.empty() ? nullptr : tensorOf(&use.args.front());
  const TensorValue* out = nullptr;
  if (use.outputs.size() == 1) {
    const auto* tensor = std::get_if<TensorPtr>(&use.outputs.front());
    out = tensor == nullptr ? nullptr : tensor->get();
  }
  if (in == nullptr || out == nullptr) {
    return std::nullopt;
  }
  if (in->spec.dtype != out->spec.dtype) {
    return true;
  }
  const std::string& base = use.op.base;
  if (base == "to" || base == "resolve_conj" || base == "resolve_neg" || base == "pin_memory" ||
      base.starts_with("_autocast")) {
    return boolOf(use.arg("copy")) == true;
  }
  const std::optional<bool> contiguous = contiguity(in->spec);
  return contiguous ? std::optional(!*contiguous) : std::nullopt;
}

void viewCopies(RuleRun& run) {
  std::int64_t unknown = 0;
  std::vector<FindingPlace> places;
  for (const OpUse& use : run.model().uses) {
    if (use.group != OpGroup::ViewOrCopy) {
      continue;
    }
    const std::optional<bool> copied = copies(use);
    unknown += copied ? 0 : 1;
    if (copied == true) {
      places.push_back(
          run.place(use, run.tensorDetail(use, [](const TensorSpec& /*spec*/) { return true; })));
    }
  }
  if (!places.empty()) {
    Finding& finding = run.finding("NC805");
    finding.message = fmt::format(
        "{} by another type or order of elements.",
        counted(static_cast<std::int64_t>(places.size()), "operator that could be a view copies",
                "operators that could be views copy"));
    finding.places = std::move(places);
  }
  if (unknown != 0) {
    run.notChecked(counted(unknown, "operator that may be a view or a copy",
                           "operators that may be views or copies"),
                   "strides are symbolic or absent", "export with fixed sizes");
  }
}

/// Why an attention misses the fast kernel; empty when it does not. `open` tells that a length is
/// not known.
std::string slowReason(const OpUse& use, bool& open) {
  std::string why;
  const auto add = [&why](std::string_view reason) {
    why += fmt::format("{}{}", why.empty() ? "" : ", ", reason);
  };
  const TensorValue* mask = tensorOf(use.arg("attn_mask"));
  mask = mask == nullptr ? tensorOf(use.arg("attn_bias")) : mask;
  if (mask != nullptr) {
    add("a mask is given");
  }
  const Argument* dropout = use.arg("dropout_p");
  const auto* rate = dropout == nullptr ? nullptr : std::get_if<SymFloat>(&dropout->value);
  if (rate != nullptr && rate->expr == nullptr && rate->value != 0) {
    add("dropout is not 0");
  }
  const auto size = [&](std::string_view name, std::size_t dim) -> std::optional<std::int64_t> {
    const TensorValue* tensor = tensorOf(use.arg(name));
    if (tensor == nullptr || tensor->spec.sizes.size() != 4 ||
        tensor->spec.sizes[dim].isSymbolic()) {
      open = true;
      return std::nullopt;
    }
    return tensor->spec.sizes[dim].value;
  };
  const std::optional<std::int64_t> queries = size("query", 2);
  const std::optional<std::int64_t> keys = size("key", 2);
  const std::optional<std::int64_t> width = size("query", 3);
  if ((queries && *queries % 512 != 0) || (keys && *keys % 512 != 0)) {
    add(fmt::format("lengths {} and {} are not multiples of 512",
                    queries ? std::to_string(*queries) : "?", keys ? std::to_string(*keys) : "?"));
  }
  if (width && *width > 128) {
    add(fmt::format("heads are {} wide", *width));
  }
  return why;
}

void slowAttention(RuleRun& run) {
  for (const OpUse& use : run.model().uses) {
    const bool attention =
        use.op.ns == "aten" && (use.op.base == "scaled_dot_product_attention" ||
                                use.op.base == "_scaled_dot_product_fused_attention_overrideable");
    const TensorValue* query = attention ? tensorOf(use.arg("query")) : nullptr;
    if (query == nullptr || !run.eager() || (query->spec.hasShape && query->spec.rank() != 4)) {
      continue;  // what is not 4-D never asks for the kernel
    }
    bool open = false;
    std::string why = slowReason(use, open);
    if (!why.empty()) {
      Finding& finding = run.finding("NC806");
      finding.message =
          "These attentions run on the device, but by the plain path instead of the fused kernel.";
      finding.places.push_back(run.place(use, std::move(why)));
    } else if (open) {
      run.notChecked(fmt::format("NC806 on {}", use.op.str()),
                     "the lengths of an attention are symbolic", "export with fixed sizes");
    }
  }
}

void expandedIndex(RuleRun& run) {
  for (const OpUse& use : run.model().uses) {
    const TensorValue* index =
        use.op.ns == "aten" && use.op.base == "gather" ? tensorOf(use.arg("index")) : nullptr;
    if (index == nullptr || index->spec.dtype != DType::Int64 ||
        index->spec.strides.size() != index->spec.sizes.size() ||
        index->spec.sizes.size() > kMaxRank) {
      continue;
    }
    bool expanded = false;
    for (std::size_t i = 0; i < index->spec.strides.size(); ++i) {
      const SymInt& stride = index->spec.strides[i];
      const SymInt& size = index->spec.sizes[i];
      const bool one = !size.isSymbolic() && size.value == 1;
      expanded = expanded || (!stride.isSymbolic() && stride.value == 0 && !one);
    }
    if (expanded) {
      Finding& finding = run.finding("NC808");
      finding.message =
          "The index is expanded with stride 0. As int64 it is converted and written out in full; "
          "int32 keeps the broadcast and was measured 76 to 731 times faster.";
      finding.places.push_back(run.place(use, fmt::format("index is {}", run.tensorText(*index))));
    }
  }
}

}  // namespace

void runCostRules(RuleRun& run) {
  memory(run);
  compiles(run);
  hostWaits(run);
  viewCopies(run);
  slowAttention(run);
  expandedIndex(run);
}

}  // namespace neuroncheck::opdb

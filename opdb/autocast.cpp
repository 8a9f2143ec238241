// SPDX-License-Identifier: Apache-2.0
#include "opdb/autocast.h"

#include <memory>
#include <set>
#include <utility>

#include "opdb/operands.h"

namespace neuroncheck::opdb {
namespace {

/// The innermost region a graph lies in; null when it lies in none.
const AutocastRegion* regionOf(const std::string& graph,
                               const std::vector<AutocastRegion>& regions) {
  const AutocastRegion* innermost = nullptr;
  for (const AutocastRegion& region : regions) {
    const bool inside = graph == region.graph || graph.starts_with(region.graph + "/");
    if (inside && (innermost == nullptr || region.graph.size() > innermost->graph.size())) {
      innermost = &region;
    }
  }
  return innermost;
}

TensorPtr cast(const TensorPtr& tensor, DType dtype) {
  if (tensor == nullptr || !isFloating(tensor->spec.dtype)) {
    return tensor;
  }
  TensorValue value = *tensor;
  value.spec.dtype = dtype;
  return std::make_shared<const TensorValue>(std::move(value));
}

}  // namespace

std::vector<AutocastRegion> autocastRegions(const Model& model) {
  std::vector<AutocastRegion> regions;
  for (const HigherOrderUse& use : model.higherOrder) {
    if (use.name.find("autocast") == std::string::npos) {
      continue;
    }
    // wrap_with_autocast(device_type, dtype, enabled, cache_enabled, graph, operands...):
    // torch/_higher_order_ops/wrap.py.
    AutocastRegion region{.graph = {}, .dtype = DType::BFloat16};
    std::optional<bool> enabled;
    for (const Argument& argument : use.args) {
      if (const auto* dtype = std::get_if<DType>(&argument.value)) {
        region.dtype = *dtype;
      } else if (const auto* flag = std::get_if<SymBool>(&argument.value);
                 flag != nullptr && !enabled) {
        enabled = flag->value;
      } else if (const auto* graph = std::get_if<GraphRef>(&argument.value);
                 graph != nullptr && region.graph.empty()) {
        region.graph = graph->path;
      }
    }
    if (enabled == false) {
      region.dtype.reset();
    }
    if (!region.graph.empty()) {
      regions.push_back(std::move(region));
    }
  }
  return regions;
}

std::optional<OpUse> asAutocastRunsIt(const OpUse& use,
                                      const std::vector<AutocastRegion>& regions) {
  const AutocastRegion* region = regionOf(use.graph, regions);
  if (region == nullptr || !region->dtype) {
    return std::nullopt;
  }
  std::set<DType> floats;
  for (const Argument& argument : use.args) {
    forEachTensor(argument.value, [&](const TensorValue& tensor) {
      if (isFloating(tensor.spec.dtype)) {
        floats.insert(tensor.spec.dtype);
      }
    });
  }
  if (floats.size() < 2) {
    return std::nullopt;
  }
  OpUse adjusted = use;
  replaceOperands(adjusted,
                  [region](const TensorPtr& tensor) { return cast(tensor, *region->dtype); });
  return adjusted;
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "numerics/minimise/minimise_case.h"

namespace neuroncheck::numerics {
namespace {

/// Every tensor of a case, lists included, in the order it is written.
template <typename Value, typename Use>
void eachTensorOf(Value& value, const Use& use) {
  if (auto* tensor = std::get_if<CaseTensor>(&value.value)) {
    use(*tensor);
  } else if (auto* list = std::get_if<CaseList>(&value.value)) {
    for (auto& item : list->items) {
      eachTensorOf(item, use);
    }
  }
}
template <typename Spec, typename Use>
void eachTensor(Spec& spec, const Use& use) {
  for (auto& step : spec.steps) {
    for (auto& argument : step.args) {
      eachTensorOf(argument.value, use);
    }
  }
}

std::size_t tensorCount(const CaseSpec& spec) {
  std::size_t count = 0;
  eachTensor(spec, [&](const CaseTensor&) { ++count; });
  return count;
}

/// The case with `change` made to every tensor `which` says yes to; unchanged ones are not added.
template <typename Which, typename Change>
void offer(const CaseSpec& spec, std::vector<CaseSpec>& out, const Which& which,
           const Change& change) {
  CaseSpec candidate = spec;
  std::size_t at = 0;
  eachTensor(candidate, [&](CaseTensor& tensor) {
    if (which(at++)) {
      change(tensor);
    }
  });
  if (!(candidate == spec)) {
    out.push_back(std::move(candidate));
  }
}

template <typename Use>
void eachResult(const CaseValue& value, const Use& use) {
  if (const auto* result = std::get_if<CaseResult>(&value.value)) {
    use(*result);
  } else if (const auto* list = std::get_if<CaseList>(&value.value)) {
    for (const CaseValue& item : list->items) {
      eachResult(item, use);
    }
  }
}
bool uses(const CaseStep& step, std::int64_t earlier) {
  bool used = false;
  for (const CaseArgument& argument : step.args) {
    eachResult(argument.value, [&](const CaseResult& r) { used = used || r.step == earlier; });
  }
  return used;
}
void renumber(CaseValue& value, std::int64_t removed) {
  if (auto* result = std::get_if<CaseResult>(&value.value)) {
    result->step -= result->step > removed ? 1 : 0;
  } else if (auto* list = std::get_if<CaseList>(&value.value)) {
    for (CaseValue& item : list->items) {
      renumber(item, removed);
    }
  }
}

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// Smaller extents worth a try, the boldest first.
std::vector<std::int64_t> smallerExtents(std::int64_t extent) {
  std::vector<std::int64_t> out;
  const auto add = [&](std::int64_t candidate) {
    if (candidate >= 1 && candidate < extent && std::ranges::find(out, candidate) == out.end()) {
      out.push_back(candidate);
    }
  };
  add(1);
  add(extent % 128);
  add(extent / 2);
  add(extent / 128 * 128);
  add(extent - 1);
  return out;
}

void resize(CaseTensor& tensor, std::size_t dimension, std::int64_t extent) {
  tensor.sizes[dimension] = extent;
  // Strides of the larger shape say nothing of the smaller one.
  tensor.strides.reset();
  if (tensor.literal) {
    const auto count = static_cast<std::size_t>(product(tensor.sizes));
    tensor.literal->resize(std::min(tensor.literal->size(), count));
    // An index beyond the new extent would be an error of ours, not of the device.
    for (double& value : *tensor.literal) {
      value = value >= static_cast<double>(extent) && isIntegral(tensor.dtype)
                  ? static_cast<double>(extent - 1)
                  : value;
    }
  }
}

/// 64-bit numbers are left out: the device narrows them, which is a failure of its own.
std::vector<DType> widerThan(DType dtype) {
  const auto after = [&](auto... ladder) {
    const std::vector<DType> all{ladder...};
    const auto found = std::ranges::find(all, dtype);
    return found == all.end() ? std::vector<DType>() : std::vector<DType>(all.begin(), found);
  };
  switch (kind(dtype)) {
    case DTypeKind::Float:
      return isFloat8(dtype)            ? std::vector<DType>{DType::Float32, DType::BFloat16}
             : dtype == DType::BFloat16 ? std::vector<DType>{DType::Float32}
                                        : after(DType::Float32, DType::Float16);
    case DTypeKind::SignedInt:
      return after(DType::Int32, DType::Int16, DType::Int8);
    case DTypeKind::Complex:
      return after(DType::Complex64, DType::Complex32);
    default:
      return {};
  }
}

}  // namespace

std::vector<CaseSpec> fewerSteps(const CaseSpec& spec) {
  std::vector<CaseSpec> out;
  for (std::size_t keep = 1; keep < spec.steps.size(); keep = keep * 2) {
    CaseSpec candidate = spec;
    candidate.steps.resize(keep);
    out.push_back(std::move(candidate));
  }
  for (std::size_t i = spec.steps.size(); i-- > 0 && spec.steps.size() > 1;) {
    const auto index = static_cast<std::int64_t>(i);
    if (std::ranges::any_of(spec.steps, [&](const CaseStep& s) { return uses(s, index); })) {
      continue;
    }
    CaseSpec candidate = spec;
    candidate.steps.erase(candidate.steps.begin() + index);
    for (CaseStep& step : candidate.steps) {
      for (CaseArgument& argument : step.args) {
        renumber(argument.value, index);
      }
    }
    out.push_back(std::move(candidate));
  }
  return out;
}

std::vector<CaseSpec> fewerArguments(const CaseSpec& spec) {
  std::vector<CaseSpec> out;
  if (spec.backward) {
    CaseSpec forward = spec;
    forward.backward = false;
    eachTensor(forward, [](CaseTensor& tensor) { tensor.grad = false; });
    out.push_back(std::move(forward));
  }
  for (std::size_t s = 0; s < spec.steps.size(); ++s) {
    const auto& args = spec.steps[s].args;
    for (std::size_t a = args.size(); a-- > 1;) {
      // A positional argument can go only when nothing positional stands behind it.
      const bool last = a + 1 == args.size() || !args[a + 1].name.empty();
      if (args[a].name.empty() && !last) {
        continue;
      }
      CaseSpec candidate = spec;
      auto& theirs = candidate.steps[s].args;
      theirs.erase(theirs.begin() + static_cast<std::ptrdiff_t>(a));
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

std::vector<CaseSpec> plainLayouts(const CaseSpec& spec) {
  std::vector<CaseSpec> out;
  const auto plain = [](CaseTensor& tensor) {
    tensor.strides.reset();
    tensor.offset = 0;
    tensor.alias.reset();
  };
  offer(spec, out, [](std::size_t) { return true; }, plain);
  const std::size_t count = tensorCount(spec);
  for (std::size_t i = 0; i < count && count > 1; ++i) {
    offer(spec, out, [&](std::size_t at) { return at == i; }, plain);
  }
  return out;
}

std::vector<CaseSpec> widerDTypes(const CaseSpec& spec) {
  std::vector<CaseSpec> out;
  std::set<DType> present;
  eachTensor(spec, [&](const CaseTensor& tensor) { present.insert(tensor.dtype); });
  for (const DType dtype : present) {
    for (const DType wider : widerThan(dtype)) {
      offer(
          spec, out, [](std::size_t) { return true; },
          [&](CaseTensor& tensor) { tensor.dtype = tensor.dtype == dtype ? wider : tensor.dtype; });
    }
  }
  return out;
}

std::vector<CaseSpec> smallerShapes(const CaseSpec& spec) {
  std::vector<CaseSpec> out;
  std::set<std::int64_t, std::greater<>> extents;
  eachTensor(spec, [&](const CaseTensor& tensor) {
    extents.insert(tensor.sizes.begin(), tensor.sizes.end());
  });
  const auto everywhere = [](std::size_t) { return true; };
  for (const std::int64_t extent : extents) {
    for (const std::int64_t smaller : smallerExtents(extent)) {
      offer(spec, out, everywhere, [&](CaseTensor& tensor) {
        for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
          if (tensor.sizes[d] == extent) {
            resize(tensor, d, smaller);
          }
        }
      });
    }
  }
  const std::size_t count = tensorCount(spec);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> sizes;
    std::size_t at = 0;
    eachTensor(spec, [&](const CaseTensor& tensor) {
      sizes = at++ == i ? tensor.sizes : std::move(sizes);
    });
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      for (const std::int64_t smaller : smallerExtents(sizes[d])) {
        offer(
            spec, out, [&](std::size_t place) { return place == i; },
            [&](CaseTensor& tensor) { resize(tensor, d, smaller); });
      }
    }
  }
  return out;
}

const std::vector<CaseStage>& caseStages() {
  static const std::vector<CaseStage> kStages = {{"steps", fewerSteps},
                                                 {"arguments", fewerArguments},
                                                 {"layout", plainLayouts},
                                                 {"dtype", widerDTypes},
                                                 {"shape", smallerShapes}};
  return kStages;
}

}  // namespace neuroncheck::numerics

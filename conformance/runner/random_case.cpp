// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/random_case.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace neuroncheck::conformance {
namespace {

using numerics::DistributionKind;

constexpr std::array kOps{
    RandomOp{"alpha_dropout", RandomKind::AlphaDropout},
    RandomOp{"bernoulli", RandomKind::Bernoulli},
    RandomOp{"binomial", RandomKind::Sampler, DistributionKind::Binomial, "count", "prob"},
    RandomOp{"cauchy", RandomKind::Sampler, DistributionKind::Cauchy, "median", "sigma"},
    RandomOp{"dropout", RandomKind::Dropout},
    RandomOp{"exponential", RandomKind::Sampler, DistributionKind::Exponential, "lambd", ""},
    RandomOp{"feature_dropout", RandomKind::ChannelDropout},
    RandomOp{"_fused_dropout", RandomKind::Dropout},
    RandomOp{"geometric", RandomKind::Sampler, DistributionKind::Geometric, "p", ""},
    RandomOp{"log_normal", RandomKind::Sampler, DistributionKind::LogNormal, "mean", "std"},
    RandomOp{"multinomial", RandomKind::Draws},
    RandomOp{"native_dropout", RandomKind::Dropout},
    RandomOp{"normal", RandomKind::Sampler, DistributionKind::Normal, "mean", "std"},
    RandomOp{"normal_functional", RandomKind::Sampler, DistributionKind::Normal, "mean", "std"},
    RandomOp{"poisson", RandomKind::Sampler, DistributionKind::Poisson, "self", ""},
    RandomOp{"rand", RandomKind::Sampler, DistributionKind::Uniform, "", ""},
    RandomOp{"rand_like", RandomKind::Sampler, DistributionKind::Uniform, "", ""},
    RandomOp{"randint", RandomKind::Sampler, DistributionKind::Integers, "low", "high"},
    RandomOp{"randint_like", RandomKind::Sampler, DistributionKind::Integers, "low", "high"},
    RandomOp{"randn", RandomKind::Sampler, DistributionKind::Normal, "", ""},
    RandomOp{"randn_like", RandomKind::Sampler, DistributionKind::Normal, "", ""},
    RandomOp{"random", RandomKind::Sampler, DistributionKind::Integers, "from", "to"},
    RandomOp{"randperm", RandomKind::Permutation},
    RandomOp{"rrelu", RandomKind::LeakyNoise},
    RandomOp{"rrelu_with_noise", RandomKind::LeakyNoise},
    RandomOp{"_standard_gamma", RandomKind::Sampler, DistributionKind::Gamma, "self", ""},
    RandomOp{"uniform", RandomKind::Sampler, DistributionKind::Uniform, "from", "to"},
};
constexpr RandomOp kEach{"bernoulli", RandomKind::BernoulliEach};

/// A case of more elements than this is not made: several of it lie in memory at a time.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

/// Largest integer up to which a dtype has every one.
std::int64_t lastInteger(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
      return 255;
    case DType::Int8:
      return 127;
    case DType::Int16:
      return 32767;
    case DType::BFloat16:
      return 256;
    case DType::Float16:
      return 2048;
    case DType::Float32:
      return std::int64_t{1} << 24;
    default:
      return std::numeric_limits<std::int32_t>::max();
  }
}

/// How many times as many rows are needed; 0 for what has no elements.
std::int64_t timesFor(std::int64_t elements, std::int64_t samples) {
  return elements == 0 ? 0 : (samples + elements - 1) / elements;
}

class Enlarged {
 public:
  Enlarged(const RandomOp& op, const CaseSpec& spec, const FunctionSchema* schema)
      : op_(op), arguments_(spec.steps.front(), schema) {
    out_.spec = spec;
    const OperandLayout layout = layoutOf(spec.steps.front());
    out_.periods.assign(layout.operands.size(), 0);
    if (!layout.operands.empty()) {
      first_ = *layout.operands.front();
    }
  }

  Result<SampleCase> make(std::int64_t samples) {
    if (op_.kind == RandomKind::Permutation) {
      NEURONCHECK_TRY_VOID(permutation(samples));
    } else if (op_.kind == RandomKind::Draws) {
      NEURONCHECK_TRY_VOID(rows(samples));
    } else {
      NEURONCHECK_TRY_VOID(elements(samples));
    }
    return std::move(out_);
  }

 private:
  CaseStep& step() { return out_.spec.steps.front(); }

  CaseValue* value(std::string_view name) {
    const CaseValue* found = arguments_.find(name);
    if (found == nullptr) {
      return nullptr;
    }
    // arguments_ looks at the original step, whose arguments are those of the copy.
    for (std::size_t i = 0; i < step().args.size(); ++i) {
      if (arguments_.argumentName(i) == name) {
        return &step().args[i].value;
      }
    }
    return nullptr;
  }

  template <typename Change>
  Result<void> eachTensor(CaseValue& value, std::size_t& operand, const Change& change) {
    if (auto* tensor = std::get_if<CaseTensor>(&value.value)) {
      NEURONCHECK_TRY_VOID(change(*tensor, operand));
      tensor->strides.reset();
      tensor->offset = 0;
      ++operand;
    } else if (auto* list = std::get_if<CaseList>(&value.value)) {
      for (CaseValue& item : list->items) {
        NEURONCHECK_TRY_VOID(eachTensor(item, operand, change));
      }
    }
    return {};
  }

  template <typename Change>
  Result<void> eachTensor(const Change& change) {
    std::size_t operand = 0;
    for (CaseArgument& argument : step().args) {
      NEURONCHECK_TRY_VOID(eachTensor(argument.value, operand, change));
    }
    return {};
  }

  Result<void> permutation(std::int64_t samples) {
    DType dtype = first_ ? first_->dtype : DType::Int64;
    if (CaseValue* given = value("dtype")) {
      const auto* named = std::get_if<DType>(&given->value);
      dtype = named == nullptr ? dtype : *named;
    }
    const std::int64_t own = arguments_.integer("n").value_or(0);
    const std::int64_t size = std::max(own, std::min(samples, lastInteger(dtype)));
    CaseValue* n = value("n");
    if (n == nullptr) {
      return inputError("the case does not say how many are permuted");
    }
    n->value = size;
    return eachTensor([&](CaseTensor& tensor, std::size_t) -> Result<void> {
      tensor.sizes = {size};
      return {};
    });
  }

  /// multinomial: more rows of the same weights.
  Result<void> rows(std::int64_t samples) {
    if (!first_ || first_->sizes.empty() || first_->sizes.back() == 0) {
      return inputError("there are no weights");
    }
    const std::int64_t categories = first_->sizes.back();
    const std::int64_t draws =
        std::max<std::int64_t>(1, arguments_.integer("num_samples").value_or(1));
    const bool replacement = arguments_.integer("replacement").value_or(0) != 0;
    const std::int64_t count = replacement ? (samples + draws - 1) / draws : samples;
    if (count * std::max(categories, draws) > kMostElements) {
      return inputError(fmt::format("{} draws of {} categories are too many", count, categories));
    }
    out_.periods.front() = categories;
    return eachTensor([&](CaseTensor& tensor, std::size_t operand) -> Result<void> {
      tensor.sizes = {count, operand == 0 ? categories : draws};
      return {};
    });
  }

  /// What an element is drawn for: of a dropout of channels, a channel.
  [[nodiscard]] std::int64_t counted(const std::vector<std::int64_t>& sizes) const {
    std::int64_t all = 1;
    const std::size_t ranks = op_.kind == RandomKind::ChannelDropout
                                  ? std::min<std::size_t>(2, sizes.size())
                                  : sizes.size();
    for (std::size_t i = 0; i < ranks; ++i) {
      all *= sizes[i];
    }
    return all;
  }

  Result<void> elements(std::int64_t samples) {
    std::vector<std::int64_t> sizes;
    CaseValue* list = value("size");
    if (list != nullptr) {
      const auto* items = std::get_if<CaseList>(&list->value);
      for (const CaseValue& item : items == nullptr ? std::vector<CaseValue>() : items->items) {
        sizes.push_back(std::get<std::int64_t>(item.value));
      }
    } else if (first_) {
      sizes = first_->sizes;
    } else {
      return inputError("nothing says how many numbers are drawn");
    }
    const std::int64_t times = timesFor(counted(sizes), samples);
    if (times == 0) {
      return inputError("a result without elements draws nothing");
    }
    std::vector<std::int64_t> larger = sizes;
    if (larger.empty()) {
      larger.push_back(times);
    } else {
      larger.front() *= times;
    }
    std::int64_t all = 1;
    for (const std::int64_t size : larger) {
      all *= size;
    }
    if (all > kMostElements) {
      return inputError("its channels are too large to draw as many as a test needs");
    }
    if (list != nullptr) {
      CaseList items;
      for (const std::int64_t size : larger) {
        items.items.push_back({size});
      }
      list->value = std::move(items);
    }
    return eachTensor([&](CaseTensor& tensor, std::size_t operand) -> Result<void> {
      const bool parameter = op_.kind == RandomKind::Sampler && isParameter(operand);
      if (tensor.sizes != sizes && elementsOf(tensor) != 1) {
        return inputError("its operands differ in size");
      }
      if (tensor.sizes == sizes) {
        tensor.sizes = larger;
        tensor.literal.reset();
      }
      out_.periods[operand] = parameter ? 1 : 0;
      return {};
    });
  }

  [[nodiscard]] bool isParameter(std::size_t operand) const {
    const std::string& name = arguments_.ofOperands()[operand];
    return !name.empty() && (name == op_.a || name == op_.b);
  }

  const RandomOp& op_;
  CaseArguments arguments_;
  SampleCase out_;
  std::optional<CaseTensor> first_;
};

}  // namespace

const RandomOp* findRandomOp(const OpName& op) {
  std::string_view base = op.base;
  if (base.ends_with('_')) {
    base.remove_suffix(1);
  }
  const auto* found = std::ranges::find(kOps, base, &RandomOp::base);
  if (op.ns != "aten" || found == kOps.end()) {
    return nullptr;
  }
  const bool inPlace = op.base.ends_with('_');
  const bool each = found->kind == RandomKind::Bernoulli &&
                    (op.overload.starts_with("Tensor") ||
                     (!inPlace && (op.overload.empty() || op.overload == "out")));
  return each ? &kEach : found;
}

Result<SampleCase> sampleCaseOf(const RandomOp& op, const CaseSpec& spec,
                                const FunctionSchema* schema, std::int64_t samples) {
  if (spec.steps.size() != 1) {
    return inputError("a sequence of operators is not drawn again");
  }
  return Enlarged(op, spec, schema).make(samples);
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include "conformance/plan/fills.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/case_parser.h"
#include "numerics/rules/op_rules.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::conformance {
namespace {

using numerics::FillId;
using numerics::OpClass;

bool hasReals(const CaseSpec& spec) {
  for (const CaseStep& step : spec.steps) {
    for (const CaseTensor* operand : layoutOf(step).operands) {
      if (isFloating(operand->dtype) || isComplex(operand->dtype)) {
        return true;
      }
    }
  }
  return false;
}

/// Numbers among the arguments that are no integers: with them no sum is exact.
bool hasRealNumbers(const CaseSpec& spec) {
  return std::ranges::any_of(spec.steps, [](const CaseStep& step) {
    return std::ranges::any_of(step.args, [](const CaseArgument& argument) {
      const auto* number = std::get_if<double>(&argument.value.value);
      return std::holds_alternative<std::complex<double>>(argument.value.value) ||
             (number != nullptr && *number != std::trunc(*number));
    });
  });
}

/// Elements [0, n) of a storage that no operand fills: reading one shows.
void poison(DType dtype, std::span<std::byte> storage) {
  const auto item = static_cast<std::size_t>(itemSize(dtype));
  const bool real = isFloating(dtype) || isComplex(dtype);
  if (dtype == DType::Bool || item == 0) {
    std::ranges::fill(storage, std::byte{0});
    return;
  }
  if (!real) {
    // The highest number of the width, whatever its sign: all ones but the sign bit.
    for (std::size_t i = 0; i < storage.size(); ++i) {
      storage[i] = (i + 1) % item == 0 ? std::byte{0x7F} : std::byte{0xFF};
    }
    return;
  }
  std::ranges::fill(storage, std::byte{0xFF});  // a NaN of every floating-point format
}

/// Copies row-major elements to the places of a strided tensor.
void scatter(const CaseTensor& tensor, std::span<const std::byte> values,
             std::span<std::byte> storage) {
  const auto item = static_cast<std::size_t>(itemSize(tensor.dtype));
  const std::vector<std::int64_t> strides = stridesOf(tensor);
  std::vector<std::int64_t> position(tensor.sizes.size(), 0);
  std::int64_t place = tensor.offset;
  for (std::size_t at = 0; at < values.size(); at += item) {
    std::memcpy(storage.data() + static_cast<std::size_t>(place) * item, values.data() + at, item);
    for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
      place += strides[d];
      if (++position[d] < tensor.sizes[d]) {
        break;
      }
      place -= strides[d] * tensor.sizes[d];
      position[d] = 0;
    }
  }
}

std::vector<std::byte> literalBytes(const CaseTensor& tensor) {
  const auto item = static_cast<std::size_t>(itemSize(tensor.dtype));
  std::vector<std::byte> out(tensor.literal->size() * item);
  for (std::size_t i = 0; i < tensor.literal->size(); ++i) {
    numerics::encodeElement(tensor.dtype, (*tensor.literal)[i], out.data() + i * item);
  }
  return out;
}

bool isDense(const CaseTensor& tensor) { return !tensor.strides && tensor.offset == 0; }

/// Fills the storage of one root operand.
class StorageFiller {
 public:
  StorageFiller(const CaseArguments& arguments, const OperandLayout& layout,
                const FillChoice& choice, std::uint64_t seed)
      : arguments_(arguments), layout_(layout), choice_(choice), seed_(seed) {}

  Result<void> fill(std::size_t root, std::string_view op, std::span<std::byte> storage) const {
    const CaseTensor& tensor = *layout_.operands[root];
    if (tensor.literal) {
      poison(tensor.dtype, storage);
      scatter(tensor, literalBytes(tensor), storage);
      return {};
    }
    numerics::FillRequest request = requestFor(root);
    NEURONCHECK_TRY(request.legality, legalityOf(op, root));
    request.op = std::string(op);
    // Another operand looks at the same storage in its own way: all of it has to have values.
    const bool shared = std::ranges::count(layout_.roots, root) > 1;
    if (shared && storage.size() > bytesOf(tensor)) {
      request.sizes = {static_cast<std::int64_t>(storage.size()) / itemSize(tensor.dtype)};
      request.legality.axis.reset();
    }
    NEURONCHECK_TRY(const numerics::Filler filler, make(request));
    if (request.sizes != tensor.sizes || isDense(tensor)) {
      filler.write(0, storage);
      return {};
    }
    poison(tensor.dtype, storage);
    scatter(tensor, filler.all(), storage);
    return {};
  }

 private:
  static std::uint64_t bytesOf(const CaseTensor& tensor) {
    return static_cast<std::uint64_t>(elementsOf(tensor) * itemSize(tensor.dtype));
  }

  numerics::FillRequest requestFor(std::size_t root) const {
    const CaseTensor& tensor = *layout_.operands[root];
    const bool real = isFloating(tensor.dtype) || isComplex(tensor.dtype);
    numerics::FillRequest request;
    request.fill = choice_.fill;
    request.variant = choice_.variant;
    request.dtype = tensor.dtype;
    request.sizes = tensor.sizes;
    request.seed = seed_;
    request.tensor = static_cast<std::uint32_t>(root);
    request.operands = static_cast<int>(std::max<std::size_t>(1, layout_.operands.size()));
    request.k = longest();
    request.outputLimit = request.accumulatorLimit;
    if (tensor.dtype == DType::Bool) {
      request.fill = FillId::BitPatterns;  // true and false
      request.variant = 0;
    } else if (!real && choice_.fill != FillId::PositionCodes &&
               choice_.fill != FillId::BitPatterns) {
      request.fill = FillId::DenseIntegers;
      request.variant = 0;
    }
    return request;
  }

  /// No sum of products has more terms than its smaller factor has elements, and one for a bias.
  std::int64_t longest() const {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const CaseTensor* operand : layout_.operands) {
      if (operand->sizes.size() > 1 && isFloating(operand->dtype)) {
        most = std::min(most, elementsOf(*operand));
      }
    }
    return most == std::numeric_limits<std::int64_t>::max() ? 1 : most + 1;
  }

  Result<numerics::Legality> legalityOf(std::string_view op, std::size_t root) const {
    const std::string& argument = arguments_.ofOperands()[root];
    const auto* rule = numerics::LegalityTable::builtIn().find(op, argument);
    const bool mask = layout_.operands[root]->dtype == DType::Bool && rule != nullptr &&
                      rule->kind != numerics::LegalityKind::Mask &&
                      rule->kind != numerics::LegalityKind::Masked;
    if (rule == nullptr || mask) {
      return numerics::Legality{};
    }
    auto legality = numerics::resolve(*rule, arguments_.facts());
    if (legality && argument == "indices") {
      indexOfDimension(root, *legality);
    }
    if (legality) {
      triangleAsAsked(*legality);
    }
    return legality ? std::move(legality)
                    : Result<numerics::Legality>(tl::unexpected(
                          std::move(legality).error().within("operand " + argument)));
  }

  /// The table has the triangle that is read by default; `upper` says which it is.
  void triangleAsAsked(numerics::Legality& legality) const {
    const auto upper = arguments_.integer("upper");
    if (upper && legality.kind == numerics::LegalityKind::UpperTriangular && *upper == 0) {
      legality.kind = numerics::LegalityKind::LowerTriangular;
    } else if (upper && legality.kind == numerics::LegalityKind::LowerTriangular && *upper != 0) {
      legality.kind = numerics::LegalityKind::UpperTriangular;
    }
  }

  /// Each tensor of `indices` addresses the dimension that is its place in the list.
  void indexOfDimension(std::size_t root, numerics::Legality& legality) const {
    const auto self = arguments_.sizes("self");
    const CaseValue* indices = arguments_.find("indices");
    const auto* list = indices == nullptr ? nullptr : std::get_if<CaseList>(&indices->value);
    for (std::size_t i = 0; self && list != nullptr && i < list->items.size(); ++i) {
      if (std::get_if<CaseTensor>(&list->items[i].value) == layout_.operands[root] &&
          i < self->size()) {
        legality.high = static_cast<double>((*self)[i]);
      }
    }
  }

  /// A fill that has no meaning for a dtype gives way to the plain ones, but for one whose
  /// exactness the judgement would rely on.
  Result<numerics::Filler> make(numerics::FillRequest request) const {
    auto filler = numerics::Filler::make(request);
    if (filler || choice_.exact) {
      return filler;
    }
    const bool real = isFloating(request.dtype) || isComplex(request.dtype);
    request.fill = real ? FillId::Normal : FillId::DenseIntegers;
    request.variant = 0;
    return numerics::Filler::make(std::move(request));
  }

  const CaseArguments& arguments_;
  const OperandLayout& layout_;
  const FillChoice& choice_;
  std::uint64_t seed_;
};

const FillChoice kIntegers{.fill = FillId::DenseIntegers};
const FillChoice kNormal{.fill = FillId::Normal};
const FillChoice kPositive{.fill = FillId::UniformPositive};
const FillChoice kSpecial{.fill = FillId::SpecialValues, .special = true};
const FillChoice kPatterns{.fill = FillId::BitPatterns, .variant = 1};
const FillChoice kCodes{.fill = FillId::PositionCodes};
const FillChoice kEdges{.fill = FillId::DomainEdges, .special = true};
const FillChoice kMean10{.fill = FillId::Cancellation,
                         .variant = static_cast<int>(numerics::CancellationVariant::Mean10)};

/// Of a case whose results alone are compared.
std::vector<FillChoice> fillsForward(const CaseSpec& spec, const numerics::OpRule* rule) {
  if (!hasReals(spec)) {
    return {kCodes, kIntegers};
  }
  const OpClass opClass =
      rule == nullptr || rule->outputs.empty() ? OpClass::Exact : rule->outputs.front().opClass;
  FillChoice integers = kIntegers;
  integers.exact = !hasRealNumbers(spec);
  switch (opClass) {
    case OpClass::Exact:
      return {kCodes, kPatterns};
    case OpClass::Rounded:
      return {kNormal, kSpecial};
    case OpClass::Elementary:
    case OpClass::Compound:
      return {kNormal, kEdges};
    case OpClass::Reduction:
      return {kNormal, kPositive, kMean10};
    case OpClass::Contraction:
      return {integers, kNormal, kPositive};
    case OpClass::Normalisation:
    case OpClass::Fused:
      return {kNormal, kMean10};
    case OpClass::Discontinuous:
      return {kNormal, kIntegers};
    case OpClass::Factorisation:
    case OpClass::Random:
      break;
  }
  return {kNormal};
}

}  // namespace

bool movesOnly(const CaseSpec& spec) {
  return std::all_of(spec.steps.begin(), spec.steps.end() - 1, [](const CaseStep& step) {
    const numerics::OpRule* rule = numerics::opRules().find(step.op);
    const bool casts = std::ranges::any_of(step.args, [](const CaseArgument& argument) {
      return std::holds_alternative<DType>(argument.value.value);
    });
    const bool makes = layoutOf(step).operands.empty();
    return rule != nullptr && (!casts || makes) &&
           std::ranges::all_of(rule->outputs, [](const numerics::OutputRule& output) {
             return output.opClass == OpClass::Exact &&
                    output.notComparable == numerics::NotComparable::No;
           });
  });
}

std::string FillChoice::str() const { return fmt::format("{}.{}", name(fill), variant); }

std::vector<FillChoice> fillsFor(const CaseSpec& spec, const numerics::OpRule* rule) {
  std::vector<FillChoice> out = fillsForward(spec, rule);
  if (spec.backward) {
    // A gradient at the edge of a domain is bounded by nothing that is known.
    std::erase_if(out, [](const FillChoice& choice) { return choice.special; });
  }
  return out;
}

Result<void> fillOperands(const CaseArguments& arguments, const CaseStep& step,
                          const OperandLayout& layout, std::span<const std::uint64_t> offsets,
                          const FillChoice& choice, std::uint64_t seed,
                          std::span<std::byte> memory) {
  const StorageFiller filler(arguments, layout, choice, seed);
  const std::string op = step.op.str();
  for (std::size_t i = 0; i < layout.operands.size(); ++i) {
    if (!layout.isRoot(i) || layout.bytes[i] == 0) {
      continue;
    }
    const std::span<std::byte> storage = memory.subspan(offsets[i], layout.bytes[i]);
    if (auto filled = filler.fill(i, op, storage); !filled) {
      return tl::unexpected(
          std::move(filled).error().within(fmt::format("operand {} of {}", i, op)));
    }
  }
  return {};
}

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/worker_reference.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace neuroncheck::conformance {
namespace {

using numerics::HypothesisId;
using numerics::Quantity;
using numerics::TensorView;

// Those that the reference worker evaluates (torch_host/casework/precision.h).
constexpr std::array kOfReals{HypothesisId::TFloat32Inputs, HypothesisId::BFloat16Inputs,
                              HypothesisId::Float16Inputs, HypothesisId::FlushSubnormalInputs};
constexpr std::array kOfIntegers{HypothesisId::IntegerThroughFloat32, HypothesisId::Int64AsInt32};

Result<TensorView> viewAt(std::uint64_t offset, DType dtype, std::vector<std::int64_t> sizes,
                          std::span<const std::byte> memory) {
  NEURONCHECK_TRY(const std::int64_t count, numerics::elementCount(sizes));
  const auto item = static_cast<std::uint64_t>(std::max<std::int64_t>(0, itemSize(dtype)));
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * item;
  if (offset > memory.size() || bytes > memory.size() - offset) {
    return inputError("a worker named memory that is not there");
  }
  return TensorView::contiguous(dtype, memory.subspan(offset, bytes), std::move(sizes));
}

}  // namespace

Result<TensorView> viewOf(const Json& entry, std::span<const std::byte> memory) {
  const auto dtype = parseDType(entry.value("dtype", std::string()));
  if (!dtype || !entry.contains("offset")) {
    return inputError("a worker's answer lacks a tensor");
  }
  return viewAt(entry.at("offset").get<std::uint64_t>(), *dtype,
                entry.at("sizes").get<std::vector<std::int64_t>>(), memory);
}

WorkerReference::WorkerReference(const AttemptEvidence& evidence, std::size_t output)
    : evidence_(evidence), output_(output) {
  const Json& entry = evidence.reference->at("outputs").at(output);
  build(entry, entry);
}

WorkerReference::WorkerReference(const AttemptEvidence& evidence, const Json& entry)
    : evidence_(evidence) {
  if (!entry.contains("truth")) {
    problem_ = "the reference gives no gradient in fp64";
    return;
  }
  const Json& same = entry.at("same");
  Json flat = entry;
  flat["truth"] = entry.at("truth").value("offset", Json());
  build(flat, same);
}

void WorkerReference::build(const Json& entry, const Json& same) {
  const auto cpu = viewOf(same, evidence_.memory);
  if (!cpu) {
    problem_ = cpu.error().text();
    return;
  }
  integers_ = isIntegral(cpu->dtype) || cpu->dtype == DType::Bool;
  if (entry.contains("truth")) {
    const DType wide = isComplex(cpu->dtype) ? DType::Complex128 : DType::Float64;
    auto truth = viewAt(entry.at("truth").get<std::uint64_t>(), wide, cpu->sizes, evidence_.memory);
    if (!truth) {
      problem_ = truth.error().text();
      return;
    }
    known_.emplace(*truth);
    known_->set({Quantity::CpuSameDType, {}}, *cpu);
  } else {
    known_.emplace(*cpu);
    if (!integers_) {
      known_->set({Quantity::CpuSameDType, {}}, *cpu);
    }
  }
  setPart(Quantity::Alternative, entry, "alternative", same);
  setPart(Quantity::Magnitude, entry, "magnitude", same);
  setPart(Quantity::UnstableMagnitude, entry, "unstable", same);
  setPart(Quantity::StoredMagnitude, entry, "stored", same);
}

void WorkerReference::setPart(Quantity what, const Json& entry, const char* key, const Json& same) {
  if (!entry.contains(key) || !entry.at(key).is_number()) {
    return;
  }
  auto sizes = same.at("sizes").get<std::vector<std::int64_t>>();
  if (isComplex(parseDType(same.at("dtype").get<std::string>()).value_or(DType::Unknown))) {
    sizes.push_back(2);
  }
  const auto view = viewAt(entry.at(key).get<std::uint64_t>(), DType::Float64, std::move(sizes),
                           evidence_.memory);
  if (view) {
    known_->set({what, {}}, *view);
  }
}

bool WorkerReference::offers(const numerics::Request& request) const {
  if (request.what != Quantity::HypothesisValue) {
    return known_->offers(request);
  }
  if (!output_ || !evidence_.explain) {
    return false;
  }
  const bool computed =
      integers_ ? std::ranges::find(kOfIntegers, request.hypothesis) != kOfIntegers.end()
                : std::ranges::find(kOfReals, request.hypothesis) != kOfReals.end();
  // An operator that cannot be computed under a hypothesis is not explained by it.
  return computed && (known_->offers(request) || ask(request.hypothesis).has_value());
}

Result<void> WorkerReference::ask(HypothesisId id) const {
  const numerics::Request request{Quantity::HypothesisValue, id};
  const std::string word(name(id));
  NEURONCHECK_TRY(const Json* answer, evidence_.explain(word));
  const Json& entry = answer->at("outputs").at(*output_);
  if (!entry.contains("hypotheses") || !entry.at("hypotheses").contains(word)) {
    return fail(ErrorCode::Internal, fmt::format("{} was not evaluated", word));
  }
  const Json& same = evidence_.reference->at("outputs").at(*output_);
  const DType dtype = parseDType(same.at("dtype").get<std::string>()).value_or(DType::Unknown);
  const DType wide = integers_          ? DType::Int64
                     : isComplex(dtype) ? DType::Complex128
                                        : DType::Float64;
  NEURONCHECK_TRY(const TensorView view,
                  viewAt(entry.at("hypotheses").at(word).get<std::uint64_t>(), wide,
                         same.at("sizes").get<std::vector<std::int64_t>>(), evidence_.memory));
  known_->set(request, view);
  return {};
}

Result<void> WorkerReference::evaluate(const numerics::Request& request, std::int64_t first,
                                       std::span<double> out) {
  return known_->evaluate(request, first, out);
}

Result<void> WorkerReference::evaluateIntegers(const numerics::Request& request, std::int64_t first,
                                               std::span<std::int64_t> out) {
  return known_->evaluateIntegers(request, first, out);
}

std::span<const std::byte> WorkerReference::truthBytes(DType dtype, std::int64_t first,
                                                       std::int64_t count) {
  return known_->truthBytes(dtype, first, count);
}

std::span<const std::byte> WorkerReference::storage() const { return known_->storage(); }

}  // namespace neuroncheck::conformance

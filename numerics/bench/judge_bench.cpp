// SPDX-License-Identifier: Apache-2.0
// A verdict over tensors in memory, by class and dtype, beside the plain copy that bounds it.
// `tools/compare/time_numerics.py` runs this and torch's own comparisons on the same data.
#include <cstring>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "numerics/verdict/judgement.h"
#include "numerics/verdict/tensor_reference.h"

namespace {

using namespace neuroncheck;            // NOLINT(google-build-using-namespace)
using namespace neuroncheck::numerics;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kElements = 1 << 23;

struct Pair {
  std::vector<std::byte> truth, actual;
};

/// N(0,1); the result differs by a last bit here and there, as two right machines do.
Pair makePair(DType truthDType, DType dtype, bool equal, double factor) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto wide = static_cast<std::size_t>(itemSize(truthDType));
  const auto item = static_cast<std::size_t>(itemSize(dtype));
  Pair pair{std::vector<std::byte>(kElements * wide), std::vector<std::byte>(kElements * item)};
  for (std::size_t i = 0; i < kElements; ++i) {
    const double value = normal(random);
    encodeElement(truthDType, value, pair.truth.data() + i * wide);
    double near = value;
    if (truthDType == dtype) {
      decodeRun(dtype, std::span(pair.truth).subspan(i * wide, wide), std::span(&near, 1));
    }
    near *= factor;
    encodeElement(dtype, equal || i % 3 != 0 ? near : near * (1 + 0x1p-24),
                  pair.actual.data() + i * item);
  }
  return pair;
}

void judgePair(benchmark::State& state, DType truthDType, DType dtype, OpClass opClass, bool equal,
               unsigned threads = 1, double factor = 1) {
  const Pair pair = makePair(truthDType, dtype, equal, factor);
  JudgeRequest request;
  request.actual = *TensorView::contiguous(dtype, pair.actual, {kElements});
  request.expected = {dtype, {kElements}, std::nullopt};
  request.rule.opClass = opClass;
  request.rule.coefficient = 4;
  request.threads = threads;
  request.length = opClass == OpClass::Contraction ? 2048 : 1;
  const TensorView truth = *TensorView::contiguous(truthDType, pair.truth, {kElements});
  CaseState seen = CaseState::NotRun;
  for (auto _ : state) {
    TensorReference reference(truth);
    seen = judge(request, reference).state;
  }
  state.SetLabel(std::string(name(seen)));
  state.SetBytesProcessed(state.iterations() * kElements * itemSize(dtype));
}

void copy(benchmark::State& state) {
  const std::vector<std::byte> from(kElements * 4, std::byte{1});
  std::vector<std::byte> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kElements * 4);
}

void compareBytes(benchmark::State& state) {
  const std::vector<std::byte> a(kElements * 4, std::byte{1});
  const std::vector<std::byte> b = a;
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::memcmp(a.data(), b.data(), a.size()));
  }
  state.SetBytesProcessed(state.iterations() * kElements * 4);
}

}  // namespace

// Bytes are those of the result.
BENCHMARK(copy);
BENCHMARK(compareBytes);
BENCHMARK_CAPTURE(judgePair, exact_f32, DType::Float32, DType::Float32, OpClass::Exact, true);
BENCHMARK_CAPTURE(judgePair, exact_bf16, DType::BFloat16, DType::BFloat16, OpClass::Exact, true);
BENCHMARK_CAPTURE(judgePair, full_f32, DType::Float32, DType::Float32, OpClass::Elementary, false);
BENCHMARK_CAPTURE(judgePair, full_f32_truth_f64, DType::Float64, DType::Float32,
                  OpClass::Contraction, true);
BENCHMARK_CAPTURE(judgePair, full_bf16_truth_f64, DType::Float64, DType::BFloat16,
                  OpClass::Elementary, true);
BENCHMARK_CAPTURE(judgePair, full_f32_two_threads, DType::Float32, DType::Float32,
                  OpClass::Elementary, false, 2)
    ->UseRealTime();
BENCHMARK_CAPTURE(judgePair, exact_f32_two_threads, DType::Float32, DType::Float32, OpClass::Exact,
                  true, 2)
    ->UseRealTime();
// Every result is a percent off: the pass, and then each hypothesis that might explain it.
BENCHMARK_CAPTURE(judgePair, failing_f32, DType::Float64, DType::Float32, OpClass::Contraction,
                  false, 1, 1.01);

BENCHMARK_MAIN();

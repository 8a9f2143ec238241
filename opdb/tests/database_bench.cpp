// SPDX-License-Identifier: Apache-2.0
// Cost of the operator database: opening it, the first look-up of an operator, and a repeated one.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "opdb/database.h"

namespace neuroncheck::opdb {
namespace {

void openDatabase(benchmark::State& state) {
  for (auto _ : state) {
    const auto database = Database::open(NEURONCHECK_TEST_DATABASE);
    if (!database) {
      state.SkipWithError(database.error().text().c_str());
      break;
    }
    benchmark::DoNotOptimize(database->catalogueVersion());
  }
}
BENCHMARK(openDatabase)->Unit(benchmark::kMicrosecond);

/// Every operator once on a fresh connection: the time is per operator.
void firstLookUp(benchmark::State& state) {
  const auto names = Database::open(NEURONCHECK_TEST_DATABASE)->operatorNames();
  for (auto _ : state) {
    state.PauseTiming();
    const auto database = Database::open(NEURONCHECK_TEST_DATABASE);
    state.ResumeTiming();
    for (const OpName& name : names) {
      benchmark::DoNotOptimize(database->find(name));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(names.size()) * state.iterations());
}
BENCHMARK(firstLookUp)->Unit(benchmark::kMillisecond);

void repeatedLookUp(benchmark::State& state) {
  const auto database = Database::open(NEURONCHECK_TEST_DATABASE);
  const OpName name{"aten", "convolution", ""};
  for (auto _ : state) {
    benchmark::DoNotOptimize(database->find(name));
  }
}
BENCHMARK(repeatedLookUp)->Unit(benchmark::kNanosecond);

void supportOfEveryOperator(benchmark::State& state) {
  const auto names = Database::open(NEURONCHECK_TEST_DATABASE)->operatorNames();
  for (auto _ : state) {
    state.PauseTiming();
    const auto database = Database::open(NEURONCHECK_TEST_DATABASE);
    state.ResumeTiming();
    for (const OpName& name : names) {
      benchmark::DoNotOptimize(database->support(name, "torch-neuronx").size());
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(names.size()) * state.iterations());
}
BENCHMARK(supportOfEveryOperator)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace neuroncheck::opdb

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0
// JSON bytes of an exported program -> Model, against parsing the same bytes and doing nothing with
// them. The file is the first argument that is no flag, else NEURONCHECK_BENCH_MODEL, else a
// fixture.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <nlohmann/json.hpp>

#include "scanner/archive/byte_source.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/pt2/model_reader.h"
#include "scanner/pt2/program_archive.h"
#include "scanner/tests/small_catalogue.h"

namespace {

using neuroncheck::scanner::PaddedBytes;
namespace scanner = neuroncheck::scanner;

neuroncheck::Result<PaddedBytes> load(const std::string& path) {
  NEURONCHECK_TRY(std::shared_ptr<const scanner::ByteSource> source, scanner::openFile(path));
  NEURONCHECK_TRY(scanner::ZipArchive zip, scanner::ZipArchive::open(std::move(source)));
  const scanner::RootedArchive archive(std::move(zip));
  const auto contents = scanner::pt2::contentsOf(archive);
  if (contents.programs.empty()) {
    return neuroncheck::inputError(path + " holds no exported program");
  }
  NEURONCHECK_TRY(auto record,
                  archive.zip().read(contents.programs.front().record, std::uint64_t{1} << 30));
  return std::move(record.bytes);
}

void count(benchmark::State& state, const PaddedBytes& json) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(json.size()));
}

/// A new parser each time, as a program that reads one file has.
void simdjsonDom(benchmark::State& state, const PaddedBytes& json) {
  for (auto _ : state) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(reinterpret_cast<const std::uint8_t*>(json.data()), json.size(), false)
            .get(root) != simdjson::SUCCESS) {
      state.SkipWithError("simdjson refuses the JSON");
    }
    benchmark::DoNotOptimize(root);
  }
  count(state, json);
}

void nlohmannDom(benchmark::State& state, const PaddedBytes& json) {
  for (auto _ : state) {
    auto root = nlohmann::json::parse(json.view(), nullptr, false);
    benchmark::DoNotOptimize(root);
  }
  count(state, json);
}

void readModel(benchmark::State& state, const PaddedBytes& json) {
  const scanner::testing::SmallCatalogue catalogue;
  for (auto _ : state) {
    auto model = scanner::pt2::readModel(json, "model", catalogue, {});
    if (!model) {
      state.SkipWithError("the model cannot be read");
      break;
    }
    benchmark::DoNotOptimize(model->uses.data());
    state.PauseTiming();  // what becomes of the model is not part of reading it
    model = neuroncheck::inputError("");
    state.ResumeTiming();
  }
  count(state, json);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const char* fromEnvironment =
      std::getenv("NEURONCHECK_BENCH_MODEL");  // NOLINT(concurrency-mt-unsafe)
  const std::string path = argc > 1                     ? argv[1]
                           : fromEnvironment != nullptr ? fromEnvironment
                                                        : NEURONCHECK_SOURCE_DIR
                               "/datasets/models/decoder.pt2";
  const auto json = load(path);
  if (!json) {
    std::cerr << json.error().text() << '\n';
    return 2;
  }
  benchmark::AddCustomContext("model", path);
  benchmark::AddCustomContext("json_bytes", std::to_string(json->size()));
  benchmark::RegisterBenchmark("simdjson DOM parse", simdjsonDom, std::cref(*json));
  benchmark::RegisterBenchmark("nlohmann DOM parse", nlohmannDom, std::cref(*json));
  benchmark::RegisterBenchmark("readModel", readModel, std::cref(*json));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

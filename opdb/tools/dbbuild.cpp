// SPDX-License-Identifier: Apache-2.0
// Makes the operator database from the data files at build time; docs/database.md describes the
// files.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "opdb/builder.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Makes the operator database from its data files.");
  neuroncheck::opdb::BuildInputs inputs;
  std::string out;
  app.add_option("--catalogue-version", inputs.catalogueVersion, "such as 'torch 2.13.0'")
      ->required();
  app.add_option("--ops", inputs.ops, "ops.jsonl")->required();
  app.add_option("--expansions", inputs.expansions, "expansions.jsonl");
  app.add_option("--releases", inputs.releases, "releases.csv")->required();
  app.add_option("--support", inputs.support, "support-matrix.csv");
  app.add_option("--features", inputs.features, "features.csv");
  app.add_option("--rules", inputs.rules, "compiler-rules.csv");
  app.add_option("-o,--output", out, "the database")->required();
  CLI11_PARSE(app, argc, argv);

  const auto built = neuroncheck::opdb::buildDatabase(inputs, out);
  if (!built) {
    fmt::print(stderr, "neuron-check-dbbuild: {}\n", built.error().text());
    return 1;
  }
  if (!built->notes.empty()) {
    fmt::print("{} expansions changed or left out, the first: {}\n", built->notes.size(),
               built->notes.front());
  }
  for (const std::string& problem : built->problems) {
    fmt::print(stderr, "neuron-check-dbbuild: {}\n", problem);
  }
  fmt::print(
      "{}: {} operators, {} expansions, {} releases, {} support rows, {} features, {} rules\n", out,
      built->ops, built->expansions, built->releases, built->support, built->features,
      built->rules);
  if (!built->problems.empty()) {
    std::remove(out.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    std::fputs("neuron-check-dbbuild: ", stderr);
    std::fputs(exception.what(), stderr);
    std::fputs("\n", stderr);
    return 1;
  }
}

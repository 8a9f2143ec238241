// SPDX-License-Identifier: Apache-2.0
// Writes the JSON of every sample record into a folder, for the schema check.
#include <fstream>
#include <iostream>

#include "core/inventory_json.h"
#include "report/reporter.h"
#include "report/tests/sample_records.h"

int main(int argc, char** argv) {
  using namespace neuroncheck;
  if (argc != 2) {
    std::cerr << "usage: report_samples FOLDER\n";
    return 2;
  }
  for (const report::samples::Named& sample : report::samples::all()) {
    const std::string base = std::string(argv[1]) + "/" + sample.name;
    std::ofstream out(base + ".report.json");
    if (const auto written = (*report::makeReporter("json", {}))->write(sample.record, out);
        !written) {
      std::cerr << written.error().text() << '\n';
      return 1;
    }
    std::vector<Inventory> inventories;
    for (const InputResult& input : sample.record.inputs) {
      inventories.push_back(input.inventory);
    }
    std::ofstream(base + ".inventory.json") << dumpJson(inventoryDocument(inventories), 1) << '\n';
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes as the JSON of an exported program, and as a payload config.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scanner/archive/bytes.h"
#include "scanner/pt2/model_reader.h"
#include "scanner/pt2/payload_config.h"
#include "scanner/tests/small_catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neuroncheck::scanner;
  static const testing::SmallCatalogue kCatalogue;
  const Limits limits{.maxDepth = 128};
  const PaddedBytes json(std::string_view(reinterpret_cast<const char*>(data), size));
  const auto model = pt2::readModel(json, "model", kCatalogue, limits);
  if (model) {
    for (std::size_t i = 0; i < model->uses.size(); ++i) {
      if (model->uses[i].id != i) {
        __builtin_trap();
      }
    }
  } else if (model.error().message.empty()) {
    __builtin_trap();
  }
  const auto config = pt2::readPayloadConfig(json, "data/weights/", limits);
  if (config && config->pickled.size() != config->tensors.size()) {
    __builtin_trap();
  }
  return 0;
}

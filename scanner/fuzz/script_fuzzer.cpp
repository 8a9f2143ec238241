// SPDX-License-Identifier: Apache-2.0
// Any bytes as source text of a TorchScript archive, and as the inventory that a worker answers
// with: the child that made it has run code of the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/inventory_json.h"
#include "scanner/torchscript/source_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neuroncheck;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const scanner::SourceCall& call : scanner::findCalls(bytes)) {
    if (call.op.find("::") == std::string::npos || call.line < 1) {
      __builtin_trap();
    }
  }
  const Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded()) {
    return 0;
  }
  const auto inventory = inventoryFromJson(json);
  // What is refused must say why, and what is read must be writable and read back.
  if (!inventory ? inventory.error().message.empty() : !inventoryFromJson(toJson(*inventory))) {
    __builtin_trap();
  }
  return 0;
}

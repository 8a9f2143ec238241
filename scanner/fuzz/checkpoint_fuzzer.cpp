// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pickle, a torch.save stream, its tar and a safetensors file: read symbolically,
// every tensor named and measured.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "scanner/archive/byte_source.h"
#include "scanner/checkpoint/describe.h"
#include "scanner/checkpoint/safetensors.h"
#include "scanner/checkpoint/torch_save.h"

namespace {

using neuroncheck::Checkpoint;
using neuroncheck::Result;

/// What is read must be describable, and what is refused must say why.
void look(const Result<Checkpoint>& checkpoint) {
  if (!checkpoint) {
    if (checkpoint.error().message.empty()) {
      __builtin_trap();
    }
    return;
  }
  const std::string text = neuroncheck::scanner::describe(*checkpoint);
  const auto notes = neuroncheck::scanner::notesOf(*checkpoint);
  for (const neuroncheck::PickleGlobal& global : checkpoint->globals) {
    if (global.risk == neuroncheck::GlobalRisk::Command && notes.empty()) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neuroncheck::scanner;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = memorySource(bytes);
  const CheckpointLimits limits{.maxPickleBytes = std::uint64_t{1} << 20};
  look(readSavedStream(*source, limits));
  if (size > 262 && bytes.substr(257, 5) == "ustar") {
    look(readSavedTar(*source, limits));
  }
  if (size > 8 && bytes[8] == '{') {
    look(readSafetensors(*source));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::scanner {

/// What a walk over the opcodes of one pickle shows. Nothing is built or resolved: an opcode is
/// only stepped over.
struct PickleWalk {
  bool valid = false;             ///< every opcode was known and STOP was reached
  std::size_t size = 0;           ///< bytes walked, STOP included
  std::string firstGlobal;        ///< "collections.OrderedDict"; empty when the pickle names none
  bool startsWithGlobal = false;  ///< the outermost object is built from `firstGlobal`
  std::vector<std::string> globals;  ///< distinct, in order, at most 64
  std::uint64_t persistentIds = 0;   ///< storages referred to: one per tensor of torch.save
  bool modulePickle = false;         ///< keys of an nn.Module's state occur
};

[[nodiscard]] PickleWalk walkPickle(std::string_view bytes);

}  // namespace neuroncheck::scanner

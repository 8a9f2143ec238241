// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opdb/rules_run.h"
#include "opdb/rules_symbols.h"

namespace neuroncheck::opdb {

/// Why the host waits for the device at a use.
enum class HostWait : std::uint8_t {
  None,
  Size,          ///< the size of a result depends on data
  BooleanIndex,  ///< a boolean index becomes positions first
  Read,          ///< a value is read back
};
[[nodiscard]] HostWait hostWaitOf(const RuleRun& run, const OpUse& use, SymbolTable& table);
/// index, index_put and their forms with a bool or uint8 index tensor.
[[nodiscard]] bool hasBooleanIndex(const OpUse& use);

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include "core/assessment.h"

#include "core/enum_table.h"

namespace neuroncheck {

std::string_view name(ExecutionMode mode) {
  static constexpr EnumWords<2> kModes{"eager", "compile"};
  return enumWord(kModes, mode);
}

}  // namespace neuroncheck

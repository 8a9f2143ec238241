// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint.h"

#include "core/enum_table.h"

namespace neuroncheck {
namespace {

constexpr EnumWords<4> kRisks{"data", "module", "foreign", "command"};

}  // namespace

std::string_view name(GlobalRisk risk) { return enumWord(kRisks, risk); }
std::optional<GlobalRisk> parseGlobalRisk(std::string_view text) {
  return enumOf<GlobalRisk>(kRisks, text);
}

bool Checkpoint::weightsOnlyLoadable() const {
  for (const PickleGlobal& global : globals) {
    if (global.risk != GlobalRisk::Data) {
      return false;
    }
  }
  return true;
}

}  // namespace neuroncheck

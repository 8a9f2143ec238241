// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/inventory.h"
#include "core/schema.h"

namespace neuroncheck::scanner::pt2 {

/// What an operator alone says of the group of its uses; some depend on the operands of the use.
struct GroupRule {
  enum class Kind : std::uint8_t {
    Fixed,    ///< `group`
    Dropout,  ///< no device work when `train` is false, else `group`
    To,       ///< a copy when dtype or device change or `copy` is true, else a view or a copy
    FactoryOrFixed,  ///< a factory when no tensor goes in and one comes out, else `group`
  };
  Kind kind = Kind::Fixed;
  OpGroup group = OpGroup::Compute;
};

/// Collective, guard and symbolic operators by name, random, views, copies and factories by what
/// the catalogue says of them, dropout in eval as no device work. `info` is null for an operator
/// the catalogue lacks; then only names and operands decide. The rule in words: scanner/README.md.
[[nodiscard]] GroupRule groupRule(const OpName& op, const OpInfo* info);
[[nodiscard]] OpGroup applyRule(const GroupRule& rule, const OpUse& use);

/// Both in one.
[[nodiscard]] OpGroup groupOf(const OpUse& use, const OpInfo* info);

}  // namespace neuroncheck::scanner::pt2

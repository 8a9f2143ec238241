// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/inventory.h"
#include "core/schema.h"

namespace neuroncheck::scanner::pt2 {

/// Collective, guard and symbolic operators by name, random, views, copies and factories by what
/// the catalogue says of them, dropout in eval as no device work. `info` is null for an operator
/// the catalogue lacks; then only names and operands decide. The rule in words: scanner/README.md.
[[nodiscard]] OpGroup groupOf(const OpUse& use, const OpInfo* info);

}  // namespace neuroncheck::scanner::pt2

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "core/inventory.h"

namespace neuroncheck::opdb {

/// Puts `replace(tensor)` in the place of each tensor among the arguments of a use, also those of
/// lists; null list elements are passed on.
template <typename Replace>
void replaceOperands(OpUse& use, const Replace& replace) {
  for (Argument& argument : use.args) {
    if (auto* tensor = std::get_if<TensorPtr>(&argument.value)) {
      *tensor = replace(*tensor);
    } else if (auto* list = std::get_if<TensorList>(&argument.value)) {
      for (TensorPtr& item : list->items) {
        item = replace(item);
      }
    }
  }
}

}  // namespace neuroncheck::opdb

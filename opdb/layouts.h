// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/inventory.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// Tensors of a model whose strides in the file are a choice of the kernels that made it: an
/// attention kernel of the CPU returns its result transposed, a CPU convolution hands channels_last
/// on. The device may lay them out otherwise, so such strides decide nothing, nor do those of a
/// view of them. Strides of graph inputs, parameters and views of those are the model's own; a
/// result that the file has contiguous is taken to be contiguous on every device.
class Layouts {
 public:
  Layouts(const Model& model, const Database& database);

  /// The use with such strides left out; nullopt when it has none.
  [[nodiscard]] std::optional<OpUse> withoutForeign(const OpUse& use) const;

 private:
  [[nodiscard]] bool hasForeign(const OpUse& use) const;
  void add(const OpUse& use, const OpInfo* info);

  std::unordered_set<const TensorValue*> foreign_;
};

}  // namespace neuroncheck::opdb

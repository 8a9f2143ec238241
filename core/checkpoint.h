// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor_spec.h"

namespace neuroncheck {

/// What loading a name that a pickle asks for would do.
enum class GlobalRisk : std::uint8_t {
  Data,    ///< a container, dtype, storage or rebuild function: torch.load(weights_only=True) takes
           ///< it
  Module,  ///< a class of torch.nn: its code is torch's, the object is no tensor
  Foreign,  ///< a class or function of other code: its source is needed, and it runs when loaded
  Command,  ///< runs commands, reads files or evaluates text: nothing a checkpoint needs
};
[[nodiscard]] std::string_view name(GlobalRisk risk);
[[nodiscard]] std::optional<GlobalRisk> parseGlobalRisk(std::string_view text);

struct PickleGlobal {
  std::string name;  ///< "collections.OrderedDict"
  GlobalRisk risk = GlobalRisk::Foreign;
};

/// A tensor of a checkpoint under the name that leads to it ("model.layers.0.weight",
/// "optimizer.state[3].exp_avg").
struct CheckpointTensor {
  std::string name;
  TensorSpec spec;
  std::string form;                ///< "", quantized, sparse, nested, meta, subclass
  std::string storage;             ///< key of its storage, shared by tensors that share memory
  std::int64_t storageBytes = -1;  ///< bytes of that storage as claimed; -1 when there is none
  bool isParameter = false;        ///< saved as a torch.nn.Parameter
  std::string problem;             ///< why it cannot be as described; empty when it can
};

/// One module of a pickled model.
struct CheckpointModule {
  std::string path;       ///< "" for the model itself
  std::string className;  ///< "torch.nn.modules.linear.Linear"
};

/// What a file without a program holds: tensors, and the names a pickle asks for. Nothing of it was
/// loaded.
struct Checkpoint {
  std::string top;  ///< class of the outermost object: "dict", "OrderedDict", "my.Model"
  std::vector<CheckpointTensor> tensors;  ///< in file order
  std::vector<PickleGlobal> globals;      ///< sorted by name
  std::vector<CheckpointModule> modules;  ///< of a pickled module, parents first
  /// Operator packets that the torch.nn classes among them call, with the number of such modules:
  /// an approximation, which leaves out whatever the model's own code does.
  std::map<std::string, std::int64_t> impliedOps;
  std::map<std::string, std::string> metadata;  ///< what the file says of itself, as texts

  /// Whether torch.load(weights_only=True) would take every name the pickle asks for.
  [[nodiscard]] bool weightsOnlyLoadable() const;
};

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint.h"
#include "core/inventory.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/checkpoint/torch_save.h"

namespace neuroncheck::scanner {

/// What the pickles within an archive ask for. Beside their graph, exported programs hold sample
/// inputs, constants and some weights as files of torch.save or as bare pickles, and
/// torch.export.load runs them (torch/export/pt2_archive/_package.py of torch 2.13); packages and
/// TorchScript archives hold pickles too. Only the pickles are read, never the tensors behind them.
class RecordPickles {
 public:
  explicit RecordPickles(const RootedArchive& archive) : archive_(archive) {
    limits_.maxPickleBytes = std::uint64_t{64} << 20;
  }

  /// Reads one record: a torch.save file of any age, or a bare pickle. All of them together stay
  /// within the limits; a record beyond them is one that cannot be read.
  void look(std::size_t index);
  /// Every record whose name ends in ".pkl".
  void lookAtAll();

  /// NC112 for each record that asks for commands; with `all` also NC114 for code that is not in
  /// the file, and NC109 for a pickle that cannot be read.
  [[nodiscard]] std::vector<FileNote> notes(bool all) const;
  /// All names found.
  [[nodiscard]] std::set<std::string> names() const;

 private:
  struct Look {
    std::string record;
    std::vector<PickleGlobal> globals;
    std::string problem;
  };
  [[nodiscard]] Result<std::vector<std::string>> namesIn(std::size_t index);
  [[nodiscard]] Result<std::vector<std::string>> namesInZip(std::shared_ptr<const ByteSource> zip);
  [[nodiscard]] Result<std::vector<std::string>> namesInStream(const ByteSource& source);

  const RootedArchive& archive_;
  CheckpointLimits limits_;
  std::vector<Look> looks_;
};

}  // namespace neuroncheck::scanner

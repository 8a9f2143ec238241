// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/inventory.h"

namespace neuroncheck::scanner {

/// "Tensors: 12 float32, 2 int64; 1.2 MB" and, each on a line of its own, what is wrong with them
/// and what the pickle asks for beyond data. Empty when there is nothing to say.
[[nodiscard]] std::string describe(const Checkpoint& checkpoint);

/// The findings about a checkpoint's file: NC112 names that run commands, NC113 tensors that cannot
/// be as described, NC114 names of code that is not in the file.
[[nodiscard]] std::vector<FileNote> notesOf(const Checkpoint& checkpoint);

/// NC112 and NC114 of these names, which `subject` ("The pickle") asks for.
[[nodiscard]] std::vector<FileNote> globalNotes(const std::vector<PickleGlobal>& globals,
                                                std::string_view subject);

/// The checkpoint as a model without operators, so that rules on stored tensors can look at it.
[[nodiscard]] Model weightsModel(const Checkpoint& checkpoint);

}  // namespace neuroncheck::scanner

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_host/casework/execution.h"
#include "torch_host/sandbox/isolated.h"

namespace neuroncheck::casework {

/// The jobs of a request, in its order; a case that cannot be read has its answer already.
struct Batch {
  std::vector<Job> jobs;
  nlohmann::json answers = nlohmann::json::array();  ///< one for each case: {"id": ...}
};
[[nodiscard]] Batch batchOf(const nlohmann::json& request);

/// What became of a piece of work that raised.
struct Raised {
  std::string message;
  std::string kind;  ///< "not-implemented", "out-of-memory", "argument" or "error"
};
/// Runs `body` and says how it raised; nullopt when it came to its end.
[[nodiscard]] std::optional<Raised> raisedBy(const std::function<Result<void>()>& body);
/// One stage of a case; false when it raised, which `answer` then says with the stage's name.
[[nodiscard]] bool runStage(nlohmann::json& answer, std::string_view stage,
                            const std::function<Result<void>()>& body);

/// One case in the child: its answer. `last` is set when the child must not go on.
using RunOne = std::function<nlohmann::json(const Job& job, bool& last)>;

/// Runs the jobs of a batch in one forked child and fills the answers it gave. A batch that does
/// not come to its end says so: `{"ended": why, "culprit": index of the case that ran, "stderr":
/// text}`, and cases after it have no answer. `begin` runs in the child before the first case.
void runBatch(Batch& batch, const sandbox::Bounds& bounds, const std::function<void()>& begin,
              const RunOne& one, nlohmann::json& answer);

/// dtype, sizes, strides and the place of the elements of a tensor; "absent" for an undefined one.
[[nodiscard]] Result<nlohmann::json> stored(const at::Tensor& tensor, Arena& arena);

}  // namespace neuroncheck::casework

// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/batch.h"

#include <c10/util/Exception.h>

#include <new>

#include <fmt/format.h>

#include "torch_host/torchscript/vocabulary.h"

namespace neuroncheck::casework {
namespace {

using nlohmann::json;

constexpr std::size_t kMostMessage = 4000;

/// torch's words, without what the dispatcher knows of every other backend.
std::string shortened(std::string message) {
  if (message.find("Could not run '") != std::string::npos) {
    message.resize(std::min(message.size(), message.find("\n\n")));
  }
  if (message.size() > kMostMessage) {
    message.resize(kMostMessage);
    message += "...";
  }
  return message;
}

std::vector<std::uint64_t> placesOf(const json& list) {
  return list.get<std::vector<std::uint64_t>>();
}

}  // namespace

Batch batchOf(const json& request) {
  Batch batch;
  for (const json& entry : request.at("cases")) {
    json answer{{"id", entry.at("id")}};
    auto spec = CaseSpec::parse(entry.at("case").get<std::string>());
    if (!spec) {
      answer["raised"] = {{"kind", "argument"},
                          {"message", "the case cannot be read: " + spec.error().text()},
                          {"stage", "arguments"}};
    } else {
      Job job;
      job.index = batch.answers.size();
      job.spec = *std::move(spec);
      for (const json& step : entry.at("operands")) {
        job.operands.push_back(placesOf(step));
      }
      job.cotangents = placesOf(entry.value("cotangents", json::array()));
      if (entry.contains("seed")) {
        job.seed = entry.at("seed").get<std::uint64_t>();
      }
      batch.jobs.push_back(std::move(job));
    }
    batch.answers.push_back(std::move(answer));
  }
  return batch;
}

std::optional<Raised> raisedBy(const std::function<Result<void>()>& body) {
  try {
    if (const auto done = body(); !done) {
      return Raised{done.error().text(), "argument"};
    }
    return std::nullopt;
  } catch (const c10::NotImplementedError& error) {
    return Raised{shortened(error.what_without_backtrace()), "not-implemented"};
  } catch (const c10::OutOfMemoryError& error) {
    return Raised{shortened(error.what_without_backtrace()), "out-of-memory"};
  } catch (const c10::Error& error) {
    return Raised{shortened(error.what_without_backtrace()), "error"};
  } catch (const std::bad_alloc&) {
    return Raised{"out of memory", "out-of-memory"};
  } catch (const std::exception& error) {
    return Raised{shortened(error.what()), "error"};
  } catch (...) {
    return Raised{"an exception of an unknown kind", "error"};
  }
}

bool runStage(json& answer, std::string_view stage, const std::function<Result<void>()>& body) {
  const auto raised = raisedBy(body);
  if (raised) {
    answer["raised"] = {{"kind", raised->kind}, {"message", raised->message}, {"stage", stage}};
  }
  return !raised;
}

void runBatch(Batch& batch, const sandbox::Bounds& bounds, const std::function<void()>& begin,
              const RunOne& one, json& answer) {
  if (batch.jobs.empty()) {
    return;
  }
  std::size_t done = 0;
  bool stopped = false;
  const sandbox::Isolated isolated = sandbox::runIsolated(
      [&](const sandbox::Send& send) {
        begin();
        bool last = false;
        for (const Job& job : batch.jobs) {
          json message = one(job, last);
          message["last"] = last;
          if (!send(message.dump(-1, ' ', false, json::error_handler_t::replace)) || last) {
            return;
          }
        }
      },
      [&](const std::string& text) {
        json message = json::parse(text, nullptr, false);
        if (message.is_object() && done < batch.jobs.size()) {
          stopped = message.value("last", false);
          message.erase("last");
          batch.answers[batch.jobs[done].index].update(message);
          ++done;
        }
      },
      bounds);
  if (done < batch.jobs.size() && !stopped) {
    answer["ended"] = isolated.ending.empty() ? "it ended without an answer" : isolated.ending;
    answer["culprit"] = batch.jobs[done].index;
  }
  if (!isolated.errorTail.empty()) {
    answer["stderr"] = isolated.errorTail;
  }
}

Result<json> stored(const at::Tensor& tensor, Arena& arena) {
  if (!tensor.defined()) {
    return json{{"absent", true}};
  }
  json out{{"dtype", name(torchscript::dtypeOf(tensor.scalar_type()))},
           {"sizes", tensor.sizes().vec()}};
  if (tensor.layout() != c10::kStrided || tensor.is_quantized() || tensor.is_nested()) {
    out["not_dense"] = true;
    return out;
  }
  out["strides"] = tensor.strides().vec();
  NEURONCHECK_TRY(const std::uint64_t offset, arena.put(tensor));
  out["offset"] = offset;
  return out;
}

}  // namespace neuroncheck::casework

// SPDX-License-Identifier: Apache-2.0
#include <c10/core/TensorOptions.h>

#include "torch_host/casework/device.h"
#include "torch_host/casework/dispatch_class.h"
#include "torch_host/casework/requests.h"
#include "torch_host/sandbox/isolated.h"

namespace neuroncheck::casework {
namespace {

using nlohmann::json;

json tableOf(const TestDevice& device) {
  const auto key = c10::computeDispatchKey(c10::kFloat, c10::kStrided, device.device());
  json table = json::object();
  json dangling = json::array();
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op) {
      continue;
    }
    if (!op->hasSchema()) {
      if (op->hasKernelForDispatchKey(key)) {
        dangling.push_back(c10::toString(name));
      }
      continue;
    }
    table[c10::toString(name)] = neuroncheck::casework::name(dispatchClassOf(*op, key));
  }
  return {{"dispatch", std::move(table)}, {"dangling", std::move(dangling)}};
}

}  // namespace

/// In a child: a plugin that is loaded stays.
json answerDispatchTable(const json& request) {
  auto device = TestDevice::prepare(request.at("device").get<std::string>(),
                                    request.value("profile", std::string("{}")));
  if (!device) {
    return {{"unavailable", device.error().text()}};
  }
  sandbox::Bounds bounds;
  bounds.wall = std::chrono::seconds(120);
  bounds.sandboxed = false;
  bounds.memory = 0;
  bounds.keepErrors = true;
  std::string text;
  const auto isolated = sandbox::runIsolated(
      [&](const sandbox::Send& send) {
        const auto opened = device->open();
        send(opened ? tableOf(*device).dump()
                    : json{{"unavailable", opened.error().text()}}.dump());
      },
      [&](std::string message) { text = std::move(message); }, bounds);
  json answer = json::parse(text, nullptr, false);
  if (!answer.is_object()) {
    return {{"unavailable", "loading the device ended the process: " + isolated.ending},
            {"stderr", isolated.errorTail}};
  }
  answer["simulated"] = device->simulated();
  return answer;
}

}  // namespace neuroncheck::casework

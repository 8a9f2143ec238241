// SPDX-License-Identifier: Apache-2.0
#include "core/run_json.h"

#include <stdexcept>
#include <string>

namespace neuroncheck {

Json toJson(const Target& target) {
  return {{"product", target.product},
          {"release", target.release},
          {"answering_release", target.answeringRelease},
          {"release_known", target.releaseKnown},
          {"chip", target.chip},
          {"mode", name(target.mode)},
          {"defaulted",
           {{"release", target.releaseDefaulted},
            {"chip", target.chipDefaulted},
            {"mode", target.modeDefaulted}}}};
}

void fromJson(const Json& json, Target& target) {
  json.at("product").get_to(target.product);
  json.at("release").get_to(target.release);
  json.at("answering_release").get_to(target.answeringRelease);
  json.at("release_known").get_to(target.releaseKnown);
  json.at("chip").get_to(target.chip);
  const std::string mode = json.at("mode").get<std::string>();
  const auto parsed = parseExecutionMode(mode);
  if (!parsed) {
    throw std::runtime_error("unknown mode " + mode);
  }
  target.mode = *parsed;
  const Json& defaulted = json.at("defaulted");
  defaulted.at("release").get_to(target.releaseDefaulted);
  defaulted.at("chip").get_to(target.chipDefaulted);
  defaulted.at("mode").get_to(target.modeDefaulted);
}

Json toJson(const Environment& environment) {
  return {{"torch", environment.torch},
          {"backend", environment.backend},
          {"compiler", environment.compiler},
          {"runtime", environment.runtime},
          {"driver", environment.driver},
          {"chip", environment.chip},
          {"logical_core", environment.logicalCore},
          {"host", environment.host.empty() ? Json(nullptr) : Json(environment.host)}};
}

void fromJson(const Json& json, Environment& environment) {
  json.at("torch").get_to(environment.torch);
  json.at("backend").get_to(environment.backend);
  json.at("compiler").get_to(environment.compiler);
  json.at("runtime").get_to(environment.runtime);
  json.at("driver").get_to(environment.driver);
  json.at("chip").get_to(environment.chip);
  json.at("logical_core").get_to(environment.logicalCore);
  const Json& host = json.at("host");
  environment.host = host.is_null() ? std::string() : host.get<std::string>();
}

}  // namespace neuroncheck

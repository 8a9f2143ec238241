// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/stubs.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::torchscript {
namespace {

constexpr auto kResultGuesses =
    std::to_array<std::string_view>({"Tensor", "Tensor[]", "int", "float", "bool", "str", "int[]"});

std::string argumentList(std::size_t positional, const std::set<std::string>& keywords) {
  std::vector<std::string> parts;
  parts.reserve(positional + keywords.size() + 1);
  for (std::size_t i = 0; i < positional; ++i) {
    parts.push_back(fmt::format("Any a{}", i));
  }
  if (!keywords.empty()) {
    parts.emplace_back("*");
  }
  for (const std::string& keyword : keywords) {
    parts.push_back(fmt::format("Any {}", keyword));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string resultOf(std::size_t unpacked, std::size_t guess) {
  if (unpacked == 0) {
    return "()";
  }
  if (unpacked == 1) {
    return std::string(kResultGuesses.at(guess));
  }
  std::vector<std::string> parts(unpacked, "Tensor");
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

StubRegistry::StubRegistry(std::vector<CallSite> calls) : calls_(std::move(calls)) {}

bool StubRegistry::add(const std::string& name) {
  const std::size_t colons = name.find("::");
  if (colons == std::string::npos || stubs_.contains(name)) {
    return false;
  }
  Stub stub;
  std::size_t positional = 0;
  std::set<std::string> keywords;
  for (const CallSite& call : calls_) {
    if (call.op == name) {
      positional = std::max(positional, call.positional);
      keywords.insert(call.keywords.begin(), call.keywords.end());
      stub.unpacked = call.unpacked;
    }
  }
  stub.arguments = argumentList(positional, keywords);
  define(name, stub);
  stubs_.emplace(name, std::move(stub));
  return true;
}

void StubRegistry::define(const std::string& name, Stub& stub) {
  const std::size_t colons = name.find("::");
  stub.library.reset();  // takes the schema of the guess before away
  stub.library = std::make_unique<torch::Library>(torch::Library::FRAGMENT, name.substr(0, colons),
                                                  std::nullopt, __FILE__, __LINE__);
  stub.schema = fmt::format("{}({}) -> {}", name.substr(colons + 2), stub.arguments,
                            resultOf(stub.unpacked, stub.guess));
  stub.library->def(stub.schema.c_str());
}

bool StubRegistry::tryNextGuess() {
  for (auto& [name, stub] : stubs_) {
    if (stub.unpacked == 1 && stub.guess + 1 < kResultGuesses.size()) {
      ++stub.guess;
      define(name, stub);
      return true;
    }
    if (stub.unpacked == 1 && stub.guess != 0) {
      stub.guess = 0;
      define(name, stub);
    }
  }
  return false;
}

void StubRegistry::restartGuesses() {
  for (auto& [name, stub] : stubs_) {
    if (stub.guess != 0) {
      stub.guess = 0;
      define(name, stub);
    }
  }
}

std::vector<std::string> StubRegistry::schemas() const {
  std::vector<std::string> out;
  out.reserve(stubs_.size());
  for (const auto& [name, stub] : stubs_) {
    out.push_back(fmt::format("{}::{}", name.substr(0, name.find("::")), stub.schema));
  }
  return out;
}

}  // namespace neuroncheck::torchscript

// SPDX-License-Identifier: Apache-2.0
#include "core/op_name.h"

namespace neuroncheck {
namespace {

// torch forbids "default" as an overload name: it is the word Python uses for the empty one.
std::optional<OpName> make(std::string_view ns, std::string_view base, std::string_view overload) {
  if (ns.empty() || base.empty() || overload.empty()) {
    return std::nullopt;
  }
  return OpName{std::string(ns), std::string(base),
                overload == "default" ? std::string() : std::string(overload)};
}

}  // namespace

std::string OpName::str() const { return overload.empty() ? packet() : packet() + "." + overload; }

std::string OpName::packet() const { return ns + "::" + base; }

std::optional<OpName> OpName::parse(std::string_view text) {
  const std::size_t colons = text.find("::");
  if (colons == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view ns = text.substr(0, colons);
  const std::string_view rest = text.substr(colons + 2);
  if (rest.find("::") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) {
    return make(ns, rest, "default");
  }
  return make(ns, rest.substr(0, dot), rest.substr(dot + 1));
}

std::optional<OpName> OpName::fromExportTarget(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (!target.starts_with(kPrefix)) {
    return std::nullopt;
  }
  target.remove_prefix(kPrefix.size());
  const std::size_t first = target.find('.');
  if (first == std::string_view::npos || target.substr(0, first) == "higher_order") {
    return std::nullopt;
  }
  const std::string_view rest = target.substr(first + 1);
  const std::size_t second = rest.find('.');
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  return make(target.substr(0, first), rest.substr(0, second), rest.substr(second + 1));
}

}  // namespace neuroncheck

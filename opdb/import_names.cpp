// SPDX-License-Identifier: Apache-2.0
#include "opdb/import_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

/// Python homes of functions that are operators of the same name.
constexpr std::array<std::string_view, 6> kPythonPrefixes = {
    "torch.nn.functional.", "nn.functional.", "F.", "torch.Tensor.", "Tensor.", "torch."};

std::string withUnderscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '.', '_');
  return result;
}

std::string_view withoutArguments(std::string_view text) {
  const std::size_t open = text.find('(');
  return trimmed(open == std::string_view::npos || open == 0 ? text : text.substr(0, open));
}

}  // namespace

OperatorNames::OperatorNames(const Database& database) : database_(database) {
  for (const OpName& op : database.operatorNames()) {
    namespacesOf_[op.base].insert(op.ns);
  }
}

std::vector<std::string> OperatorNames::split(std::string_view cell) {
  std::string flat;
  int depth = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const char c = cell[i];
    depth += c == '(' ? 1 : 0;
    const bool slash = c == '/' && i > 0 && cell[i - 1] == ' ';
    const bool separator = depth == 0 && (c == ',' || c == ';' || c == '\n' || slash);
    if (separator) {
      flat += '\n';
    } else if (depth == 0) {
      flat += c;
    }
    depth -= c == ')' && depth > 0 ? 1 : 0;
  }
  std::vector<std::string> names;
  for (const std::string& part : splitWords(flat, '\n')) {
    names.emplace_back(withoutArguments(part));
  }
  return names;
}

/// "ns::name" or "ns::name.overload".
std::vector<OperatorNames::Match> OperatorNames::lookUp(const std::string& qualified) const {
  const auto parsed = OpName::parse(qualified);
  if (!parsed) {
    return {};
  }
  if (!parsed->overload.empty()) {
    return database_.find(*parsed) == nullptr
               ? std::vector<Match>()
               : std::vector<Match>{{.op = qualified, .scope = RowScope::Overload}};
  }
  return database_.overloads(qualified).empty()
             ? std::vector<Match>()
             : std::vector<Match>{{.op = qualified, .scope = RowScope::Packet}};
}

/// A name without a namespace: aten's, else that of the only namespace that has it.
std::vector<OperatorNames::Match> OperatorNames::bare(const std::string& name) const {
  std::vector<Match> matches = lookUp("aten::" + name);
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
    for (Match& match : lookUp("aten::" + withUnderscores(name))) {
      matches.push_back(std::move(match));
    }
  }
  if (!matches.empty()) {
    return matches;
  }
  const auto known = namespacesOf_.find(name.substr(0, name.find('.')));
  if (known != namespacesOf_.end()) {
    for (const std::string& ns : known->second) {
      for (Match& match : lookUp(fmt::format("{}::{}", ns, name))) {
        matches.push_back(std::move(match));
      }
    }
  }
  return matches;
}

Result<OperatorNames::Match> OperatorNames::resolve(std::string_view text) const {
  const std::string name(trimmed(text));
  std::vector<Match> matches;
  if (const auto target = OpName::fromExportTarget(name)) {
    if (database_.find(*target) != nullptr) {
      return Match{.op = target->str(), .scope = RowScope::Overload};
    }
  }
  if (name.find("::") != std::string::npos) {
    matches = lookUp(name);
  } else if (const std::size_t dot = name.find('.');
             name.starts_with("aten.") || name.starts_with("torch.ops.")) {
    const std::string rest =
        name.starts_with("aten.") ? name : name.substr(std::string_view("torch.ops.").size());
    const std::size_t first = rest.find('.');
    const std::string qualified = rest.substr(0, first) + "::" + rest.substr(first + 1);
    if (const auto exact = OpName::fromExportTarget("torch.ops." + rest);
        exact && dot != std::string::npos && rest.ends_with(".default") &&
        database_.find(*exact) != nullptr) {
      return Match{.op = exact->str(), .scope = RowScope::Overload};
    }
    matches = lookUp(qualified);
  } else {
    std::string_view plain = name;
    for (const std::string_view prefix : kPythonPrefixes) {
      if (plain.starts_with(prefix)) {
        plain.remove_prefix(prefix.size());
        break;
      }
    }
    matches = bare(std::string(plain));
  }
  if (matches.empty()) {
    return fail(ErrorCode::Usage, fmt::format("no such operator: '{}'", name));
  }
  if (matches.size() > 1) {
    std::vector<std::string> meanings;
    meanings.reserve(matches.size());
    for (const Match& match : matches) {
      meanings.push_back(match.op);
    }
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is ambiguous: {}", name, fmt::join(meanings, ", ")));
  }
  return matches.front();
}

}  // namespace neuroncheck::opdb

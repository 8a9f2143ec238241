// SPDX-License-Identifier: Apache-2.0
#include "opdb/builder_catalogue.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "opdb/import_row.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMaxFileBytes = 256U << 20U;

tl::unexpected<Error> refuse(std::string reason) {
  return fail(ErrorCode::Usage, std::move(reason));
}

Result<Json> parseObject(std::string_view line) {
  Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) {
    return refuse("the line is no JSON object");
  }
  return object;
}

Result<std::string> textMember(const Json& object, const char* key, bool needed) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_string()) {
    return found->get<std::string>();
  }
  const bool absent = found == object.end() || found->is_null();
  if (absent && !needed) {
    return std::string();
  }
  return refuse(fmt::format("member '{}' is {}", key, absent ? "missing" : "no text"));
}

Result<bool> flagMember(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return false;
  }
  if (!found->is_boolean()) {
    return refuse(fmt::format("member '{}' is no bool", key));
  }
  return found->get<bool>();
}

Result<std::string> wordsMember(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return std::string();
  }
  std::vector<std::string> words;
  const bool list = found->is_array() &&
                    std::ranges::all_of(*found, [](const Json& item) { return item.is_string(); });
  if (!list) {
    return refuse(fmt::format("member '{}' is no list of texts", key));
  }
  for (const Json& item : *found) {
    words.push_back(item.get<std::string>());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// Empties a predicate of a row that does not fit its operator, and says so in `note`.
void dropUnreadable(std::string& predicate, const char* member, const ExpansionRow& row,
                    const CatalogueTable& catalogue, std::string& note) {
  auto checked = checkPredicate(predicate, row.op, RowScope::Overload, catalogue);
  if (checked) {
    return;
  }
  note += fmt::format("{}{} -> {}: {} '{}': {}", note.empty() ? "" : "; ", row.op, row.child,
                      member, predicate, checked.error().text());
  predicate.clear();
}

}  // namespace

const OpInfo* CatalogueTable::find(const OpName& name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

std::vector<OpName> CatalogueTable::overloads(std::string_view packet) const {
  std::vector<OpName> result;
  const auto parsed = OpName::parse(packet);
  if (!parsed) {
    return result;
  }
  for (auto at = ops_.lower_bound(OpName{.ns = parsed->ns, .base = parsed->base, .overload = ""});
       at != ops_.end(); ++at) {
    if (at->first.ns != parsed->ns || at->first.base != parsed->base) {
      break;
    }
    result.push_back(at->first);
  }
  return result;
}

bool CatalogueTable::add(OpName name, OpInfo info) {
  return ops_.emplace(std::move(name), std::move(info)).second;
}

Result<sqlite::OpRecord> readOperator(std::string_view line, CatalogueTable& catalogue) {
  NEURONCHECK_TRY(const Json object, parseObject(line));
  sqlite::OpRecord record;
  NEURONCHECK_TRY(record.name, textMember(object, "name", true));
  NEURONCHECK_TRY(record.schema, textMember(object, "schema", true));
  NEURONCHECK_TRY(record.tags, wordsMember(object, "tags"));
  NEURONCHECK_TRY(record.variants, wordsMember(object, "variants"));
  NEURONCHECK_TRY(record.dispatchClass, textMember(object, "dispatch_class", false));
  NEURONCHECK_TRY(record.structuredTwin, textMember(object, "structured_twin", false));
  NEURONCHECK_TRY(record.cpuKernel, flagMember(object, "cpu_kernel"));
  NEURONCHECK_TRY(record.throwsOnly, flagMember(object, "throws_only"));
  NEURONCHECK_TRY(record.view, textMember(object, "view", false));
  NEURONCHECK_TRY(record.mutates, flagMember(object, "mutates"));
  NEURONCHECK_TRY(record.coreDecomposition, flagMember(object, "core_decomp"));
  const auto name = OpName::parse(record.name);
  if (!name) {
    return refuse(fmt::format("'{}' is no operator name", record.name));
  }
  NEURONCHECK_TRY(FunctionSchema schema, FunctionSchema::parse(record.schema));
  if (schema.name != *name) {
    return refuse(fmt::format("the schema of {} names {}", record.name, schema.name.str()));
  }
  const auto dispatchClass = parseDispatchClass(record.dispatchClass);
  const auto view = parseViewClass(record.view);
  if (!dispatchClass || !view) {
    return refuse(fmt::format("{}: unknown {} '{}'", record.name,
                              dispatchClass ? "view class" : "dispatch class",
                              dispatchClass ? record.view : record.dispatchClass));
  }
  record.packet = name->packet();
  OpInfo info;
  info.schema = std::move(schema);
  info.dispatchClass = *dispatchClass;
  info.view = *view;
  if (!catalogue.add(*name, std::move(info))) {
    return refuse(fmt::format("{} is listed twice", record.name));
  }
  return record;
}

Result<ExpansionRow> readExpansion(std::string_view line, const CatalogueTable& catalogue,
                                   std::string& note) {
  NEURONCHECK_TRY(const Json object, parseObject(line));
  ExpansionRow row;
  NEURONCHECK_TRY(row.op, textMember(object, "op", true));
  NEURONCHECK_TRY(row.child, textMember(object, "child", false));
  NEURONCHECK_TRY(row.times, textMember(object, "times", true));
  NEURONCHECK_TRY(const std::string mode, textMember(object, "mode", true));
  if (mode != "always" && mode != "sometimes") {
    return refuse(fmt::format("mode '{}' is neither always nor sometimes", mode));
  }
  row.always = mode == "always";
  NEURONCHECK_TRY(row.plumbing, flagMember(object, "plumbing"));
  NEURONCHECK_TRY(row.truncated, flagMember(object, "truncated"));
  NEURONCHECK_TRY(row.condition, textMember(object, "condition", false));
  NEURONCHECK_TRY(row.onlyIf, textMember(object, "only_if", false));
  NEURONCHECK_TRY(row.source, textMember(object, "source", false));
  if (const auto samples = object.find("samples");
      samples != object.end() && samples->is_number_integer()) {
    row.samples = samples->get<std::int64_t>();
  }
  if (const auto args = object.find("args"); args != object.end() && args->is_object()) {
    row.argsJson = args->dump();
  }
  for (const std::string& op : {row.op, row.child}) {
    if (op.empty()) {
      continue;
    }
    if (auto checked = checkOperator(op, RowScope::Overload, catalogue); !checked) {
      return fail(ErrorCode::Nothing, checked.error().message);
    }
  }
  if (row.child.empty() != (row.times == "0")) {
    return refuse("a row without a child has the times \"0\", and only such a row");
  }
  if (row.child.empty() && row.truncated) {
    return refuse("calls that end in an error before the first one say nothing");
  }
  dropUnreadable(row.condition, "condition", row, catalogue, note);
  dropUnreadable(row.onlyIf, "only_if", row, catalogue, note);
  return row;
}

Result<std::string> readTextFile(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return inputError(fmt::format("{}: {}", path, error.message()));
  }
  if (size > kMaxFileBytes) {
    return inputError(fmt::format("{}: {} bytes are more than the {} a table may have", path, size,
                                  kMaxFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return inputError(
        fmt::format("{}: {}", path, std::error_code(errno, std::generic_category()).message()));
  }
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace neuroncheck::opdb

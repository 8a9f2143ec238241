// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace neuroncheck::cli {
namespace {

Result<std::string> stringValue(const std::string& path, std::string_view key,
                                const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* list = node.as_array(); list != nullptr && key == "fail-on") {
    std::string joined;
    for (const toml::node& item : *list) {
      if (!item.is_string()) {
        return fail(ErrorCode::Usage, fmt::format("{}: line {}: 'fail-on' must be a list of words",
                                                  path, item.source().begin.line));
      }
      joined += (joined.empty() ? "" : ",") + item.as_string()->get();
    }
    return joined;
  }
  return fail(ErrorCode::Usage, fmt::format("{}: line {}: '{}' must be a text in quotes", path,
                                            node.source().begin.line, key));
}

}  // namespace

Result<void> applyConfig(const std::string& path, Options& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return {};
  }
  // A library's parser goes down one level for each dot of a key: no project needs a long file.
  constexpr std::uintmax_t kMaxBytes = 16384;
  if (!std::filesystem::is_regular_file(path, ignored) ||
      std::filesystem::file_size(path, ignored) > kMaxBytes) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: not a regular file of at most {} bytes", path, kMaxBytes));
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::Usage, fmt::format("{}: line {}: {}", path, error.source().begin.line,
                                              std::string(error.description())));
  }
  const std::map<std::string, std::optional<std::string>*, std::less<>> known{
      {"release", &options.release}, {"chip", &options.chip},     {"mode", &options.mode},
      {"fail-on", &options.failOn},  {"format", &options.format}, {"color", &options.color},
      {"db", &options.database}};
  for (const auto& [key, node] : table) {
    const auto found = known.find(key.str());
    if (found == known.end()) {
      return fail(ErrorCode::Usage, fmt::format("{}: line {}: unknown key '{}'; known are chip, "
                                                "color, db, fail-on, format, mode, release",
                                                path, node.source().begin.line, key.str()));
    }
    NEURONCHECK_TRY(std::string value, stringValue(path, key.str(), node));
    if (found->second->has_value()) {
      continue;  // the command line wins
    }
    if (found->first == "db" && std::filesystem::path(value).is_relative()) {
      value = (std::filesystem::path(path).parent_path() / value).string();
    }
    *found->second = std::move(value);
  }
  return {};
}

}  // namespace neuroncheck::cli

// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/frames.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace neuroncheck::scanner::pt2 {
namespace {

/// What the fx hook writes for nodes of no module at all.
constexpr std::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

/// `File "a/b.py", line 12, in forward` with any indentation; nullopt for source and caret lines.
std::optional<SourcePlace> parseFrame(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || !line.substr(start).starts_with(kFile)) {
    return std::nullopt;
  }
  line.remove_prefix(start + kFile.size());
  const std::size_t quote = line.find('"');
  if (quote == std::string_view::npos || !line.substr(quote).starts_with(kLine)) {
    return std::nullopt;
  }
  const std::string_view number = line.substr(quote + kLine.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || value < 0) {
    return std::nullopt;
  }
  const std::string_view rest = number.substr(static_cast<std::size_t>(end - number.data()));
  if (!rest.starts_with(", in ")) {
    return std::nullopt;
  }
  return SourcePlace{.file = std::string(line.substr(0, quote)), .line = value};
}

}  // namespace

bool isTorchFile(std::string_view file) {
  return file.find("site-packages/torch/") != std::string_view::npos ||
         file.find("dist-packages/torch/") != std::string_view::npos ||
         file.starts_with("torch/") || file.starts_with("<");
}

Frames parseStackTrace(std::string_view text) {
  Frames frames;
  // From the end: the frames wanted are the innermost ones, and the text is a third of the file.
  while (!text.empty()) {
    const auto* newline = static_cast<const char*>(::memrchr(text.data(), '\n', text.size()));
    const std::size_t start =
        newline == nullptr ? 0 : static_cast<std::size_t>(newline - text.data()) + 1;
    if (auto frame = parseFrame(text.substr(start))) {
      const bool user = !isTorchFile(frame->file);
      if (!frames.last.known()) {
        frames.last = *frame;
      }
      if (user) {
        frames.user = std::move(*frame);
        return frames;
      }
    }
    text = text.substr(0, start == 0 ? 0 : start - 1);
  }
  return frames;
}

ModulePlace parseModuleStack(std::string_view text) {
  if (text.ends_with(';')) {
    text.remove_suffix(1);
  }
  const std::size_t semicolon = text.rfind(';');
  const std::string_view entry =
      semicolon == std::string_view::npos ? text : text.substr(semicolon + 1);
  // The path may hold commas inside brackets: the key ends at the first comma, the type starts at
  // the last.
  const std::size_t first = entry.find(',');
  const std::size_t last = entry.rfind(',');
  if (first == std::string_view::npos || first == last) {
    return {};
  }
  const std::string_view path = entry.substr(first + 1, last - first - 1);
  if (path == kNoModule) {
    return {};
  }
  std::string_view type = entry.substr(last + 1);
  if (type.starts_with("<class '") && type.ends_with("'>")) {
    type = type.substr(8, type.size() - 10);
  }
  return {.path = cleanModulePath(path), .type = std::string(type)};
}

std::string cleanModulePath(std::string_view path) {
  for (const std::string_view root : {"L['self']", "L[\"self\"]", "L__self__", "self"}) {
    if (path == root) {
      return {};
    }
    if (path.starts_with(root) &&
        (path[root.size()] == '.' || path[root.size()] == '[' || root == "L__self__")) {
      path.remove_prefix(root.size());
      if (path.starts_with('_') || path.starts_with('.')) {
        path.remove_prefix(1);
      }
      break;
    }
  }
  std::string clean;
  clean.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '[') {
      clean += clean.empty() ? "" : ".";
    } else if (c == '@' && i + 1 < path.size() && path[i + 1] >= '0' && path[i + 1] <= '9') {
      // The number of the call, when one module is called several times.
      while (i + 1 < path.size() && path[i + 1] >= '0' && path[i + 1] <= '9') {
        ++i;
      }
    } else if (c != ']' && c != '\'' && c != '"') {
      clean += c;
    }
  }
  return clean;
}

}  // namespace neuroncheck::scanner::pt2

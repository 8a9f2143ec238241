// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/places.h"

#include <torch/csrc/jit/frontend/source_range.h>

#include <cstdint>
#include <ranges>
#include <regex>
#include <vector>

namespace neuroncheck::torchscript {
namespace {

namespace jit = torch::jit;

/// Frames of one source range, innermost first. A traced node carries its whole stack as text.
std::vector<SourcePlace> framesOf(const jit::SourceRange& range) {
  std::vector<SourcePlace> out;
  if (!range.source()) {
    return out;
  }
  const auto original = range.findSourceRangeThatGenerated();
  const jit::SourceRange& shown = original ? *original : range;
  // The tracer keeps the whole stack as the text of its source, beside file and line of the top.
  static const std::regex frame(R"((?:^|\n)([^\s(]+)\((\d{1,9})\): )");
  const std::string text = shown.source() ? shown.text().str() : std::string();
  for (auto match = std::sregex_iterator(text.begin(), text.end(), frame);
       match != std::sregex_iterator(); ++match) {
    out.push_back({(*match)[1].str(), std::stoll((*match)[2].str())});
  }
  const auto place = shown.file_line_col();
  if (out.empty() && place && !std::get<0>(*place).empty()) {
    out.push_back({std::get<0>(*place), static_cast<std::int64_t>(std::get<1>(*place))});
  }
  return out;
}

bool isTorch(const SourcePlace& place) {
  return place.file.find("site-packages/torch/") != std::string::npos ||
         place.file.find("dist-packages/torch/") != std::string::npos ||
         place.file.starts_with("torch/");
}

void append(std::vector<SourcePlace>& frames, std::vector<SourcePlace> more) {
  frames.insert(frames.end(), more.begin(), more.end());
}

/// "__torch__.models.net.___torch_mangle_3.Net" is models.net.Net.
std::string unmangled(const std::string& name) {
  static const std::regex mangle(R"(\.___torch_mangle_\d+)");
  std::string out = std::regex_replace(name, mangle, "");
  constexpr std::string_view kRoot = "__torch__.";
  return out.starts_with(kRoot) ? out.substr(kRoot.size()) : out;
}

}  // namespace

Places placesOf(const jit::Node& node, const Inliner& inliner) {
  Places places;
  std::vector<SourcePlace> frames = framesOf(node.sourceRange());
  std::vector<jit::InlinedCallStackPtr> entries;  // outermost first
  for (auto entry = node.callstack(); entry; entry = (*entry)->callee()) {
    entries.push_back(*entry);
  }
  for (const jit::InlinedCallStackPtr& entry : std::ranges::reverse_view(entries)) {
    append(frames, framesOf(entry->source_range()));
  }
  for (const jit::InlinedCallStackPtr& entry : entries) {
    if (const Inliner::Instance* instance = inliner.instanceOf(*entry)) {
      const bool nested = !places.module.empty() && !instance->path.empty();
      places.module += (nested ? "." : "") + instance->path;
      const auto& type = instance->type->name();
      places.moduleType = type ? unmangled(type->qualifiedName()) : std::string();
    }
  }
  for (const SourcePlace& frame : frames) {
    if (!places.lastFrame.known()) {
      places.lastFrame = frame;
    }
    if (!places.source.known() && !isTorch(frame)) {
      places.source = frame;
    }
  }
  if (!places.source.known()) {
    places.source = places.lastFrame;
  }
  return places;
}

}  // namespace neuroncheck::torchscript

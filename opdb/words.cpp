// SPDX-License-Identifier: Apache-2.0
#include "opdb/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace neuroncheck::opdb {
namespace {

template <typename Enum, std::size_t N>
using Words = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Words<SupportStatus, 6> kStatuses = {{
    {SupportStatus::Native, "native"},
    {SupportStatus::Decomposed, "decomposed"},
    {SupportStatus::CpuFallback, "cpu-fallback"},
    {SupportStatus::Unsupported, "unsupported"},
    {SupportStatus::Unknown, "unknown"},
    {SupportStatus::Partial, "partial"},
}};
constexpr Words<RowScope, 3> kScopes = {{
    {RowScope::Overload, "overload"},
    {RowScope::Packet, "packet"},
    {RowScope::Feature, "feature"},
}};
constexpr Words<DispatchClass, 5> kDispatchClasses = {{
    {DispatchClass::Unknown, ""},
    {DispatchClass::CompositeImplicit, "cia"},
    {DispatchClass::CompositeExplicit, "cea"},
    {DispatchClass::CompositeNonFunctional, "ceanf"},
    {DispatchClass::Kernel, "kernel"},
}};
constexpr Words<ViewClass, 4> kViewClasses = {{
    {ViewClass::None, ""},
    {ViewClass::View, "view"},
    {ViewClass::ViewOrCopy, "view_or_copy"},
    {ViewClass::KernelView, "kernel_view"},
}};

template <typename Enum, std::size_t N>
std::string_view wordOf(const Words<Enum, N>& words, Enum value) {
  const auto* found = std::ranges::find(words, value, &std::pair<Enum, std::string_view>::first);
  return found == words.end() ? std::string_view("unknown") : found->second;
}

template <typename Enum, std::size_t N>
std::optional<Enum> valueOf(const Words<Enum, N>& words, std::string_view word) {
  const auto* found = std::ranges::find(words, word, &std::pair<Enum, std::string_view>::second);
  return found == words.end() ? std::nullopt : std::optional<Enum>(found->first);
}

}  // namespace

std::string_view name(SupportStatus status) { return wordOf(kStatuses, status); }
std::optional<SupportStatus> parseSupportStatus(std::string_view text) {
  return valueOf(kStatuses, text);
}
std::string_view name(RowScope scope) { return wordOf(kScopes, scope); }
std::optional<RowScope> parseRowScope(std::string_view word) { return valueOf(kScopes, word); }
std::string_view name(DispatchClass dispatchClass) {
  return wordOf(kDispatchClasses, dispatchClass);
}
std::optional<DispatchClass> parseDispatchClass(std::string_view word) {
  if (word == "direct") {  // torch itself has a PrivateUse1 kernel (collectives), which no class of
                           // ours describes
    return DispatchClass::Unknown;
  }
  return valueOf(kDispatchClasses, word);
}
std::string_view name(ViewClass viewClass) { return wordOf(kViewClasses, viewClass); }
std::optional<ViewClass> parseViewClass(std::string_view word) {
  return valueOf(kViewClasses, word);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string> splitWords(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = text.find(separator);
    if (const std::string_view word = trimmed(text.substr(0, end)); !word.empty()) {
      words.emplace_back(word);
    }
    if (end == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(end + 1);
  }
}

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

std::string functionalPacket(const OpName& op) {
  const bool inPlace = op.base.size() > 1 && op.base.ends_with('_') && !op.base.ends_with("__");
  return inPlace ? op.ns + "::" + op.base.substr(0, op.base.size() - 1) : op.packet();
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/vocabulary.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace neuroncheck::torchscript {
namespace {

constexpr auto kLayouts = std::to_array<std::pair<c10::Layout, Layout>>({
    {c10::Layout::Strided, Layout::Strided},
    {c10::Layout::Sparse, Layout::SparseCoo},
    {c10::Layout::SparseCsr, Layout::SparseCsr},
    {c10::Layout::SparseCsc, Layout::SparseCsc},
    {c10::Layout::SparseBsr, Layout::SparseBsr},
    {c10::Layout::SparseBsc, Layout::SparseBsc},
    {c10::Layout::Mkldnn, Layout::Mkldnn},
    {c10::Layout::Jagged, Layout::Jagged},
});

constexpr auto kFormats = std::to_array<std::pair<c10::MemoryFormat, MemoryFormat>>({
    {c10::MemoryFormat::Contiguous, MemoryFormat::Contiguous},
    {c10::MemoryFormat::Preserve, MemoryFormat::Preserve},
    {c10::MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast},
    {c10::MemoryFormat::ChannelsLast3d, MemoryFormat::ChannelsLast3d},
});

template <typename Table, typename Theirs>
auto ours(const Table& table, Theirs theirs) {
  using Ours = decltype(table.front().second);
  const auto* found = std::ranges::find(table, theirs, [](const auto& pair) { return pair.first; });
  return found == table.end() ? Ours::Unknown : found->second;
}

template <typename Table, typename Ours>
auto theirs(const Table& table, Ours value) {
  const auto* found = std::ranges::find(table, value, [](const auto& pair) { return pair.second; });
  return found == table.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace

DType dtypeOf(c10::ScalarType type) {
  return parseDType(c10::getDtypeNames(type).first).value_or(DType::Unknown);
}

std::optional<c10::ScalarType> scalarTypeOf(DType dtype) {
  const auto& known = c10::getStringToDtypeMap();
  const auto found = known.find(std::string(name(dtype)));
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

Layout layoutOf(c10::Layout layout) { return ours(kLayouts, layout); }
std::optional<c10::Layout> layoutOf(Layout layout) { return theirs(kLayouts, layout); }
MemoryFormat memoryFormatOf(c10::MemoryFormat format) { return ours(kFormats, format); }
std::optional<c10::MemoryFormat> memoryFormatOf(MemoryFormat format) {
  return theirs(kFormats, format);
}

}  // namespace neuroncheck::torchscript

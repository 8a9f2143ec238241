// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_spec.h"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

SymInt symbolic(std::string_view text) {
  auto parsed = SymExpr::parseInfix(text);
  EXPECT_TRUE(parsed) << text;
  return SymInt(*parsed);
}

TensorSpec specOf(std::vector<SymInt> sizes, std::vector<SymInt> strides = {}) {
  TensorSpec spec;
  spec.dtype = DType::Float32;
  spec.sizes = std::move(sizes);
  spec.strides = std::move(strides);
  return spec;
}

std::vector<SymInt> numbers(const std::string& text) {
  std::vector<SymInt> out;
  std::istringstream in(text);
  for (std::int64_t value = 0; in >> value;) {
    out.emplace_back(value);
  }
  return out;
}

// Random sizes and strides with the answers of torch 2.13.0 (make_contiguity.py).
TEST(TensorSpec, ContiguityAgreesWithTorch) {
  std::ifstream file(NEURONCHECK_SOURCE_DIR "/core/tests/data/contiguity.csv");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  int count = 0;
  for (; std::getline(file, line); ++count) {
    std::istringstream in(line);
    std::string sizes;
    std::string strides;
    std::string contiguous;
    std::string channelsLast;
    std::getline(in, sizes, ',');
    std::getline(in, strides, ',');
    std::getline(in, contiguous, ',');
    std::getline(in, channelsLast, ',');
    const TensorSpec spec = specOf(numbers(sizes), numbers(strides));
    EXPECT_EQ(spec.isContiguous(), contiguous == "1") << line;
    EXPECT_EQ(spec.isChannelsLast(), channelsLast == "1") << line;
  }
  EXPECT_EQ(count, 300);
}

TEST(TensorSpec, ContiguityOfSymbolicSizes) {
  const SymInt s0 = symbolic("s0");
  const SymInt s1 = symbolic("s1");
  EXPECT_EQ(specOf({s0, 4, s1}, {symbolic("4*s1"), s1, 1}).isContiguous(), true);
  EXPECT_EQ(specOf({s0, 4, s1}, {symbolic("s1*4"), s1, 1}).isContiguous(), true);
  EXPECT_EQ(specOf({s0, symbolic("s1 - 1"), 2}, {symbolic("2*s1 - 2"), 2, 1}).isContiguous(), true);
  // Transposed: the strides say so without knowing the sizes.
  EXPECT_EQ(specOf({s0, 8}, {1, 4}).isContiguous(), false);
  EXPECT_EQ(specOf({4, s1, 8}, {symbolic("8*s1"), 1, s1}).isContiguous(), false);
  // s1 against 8: equal for one value of s1, so the answer stays open.
  EXPECT_EQ(specOf({4, 8}, {s1, 1}).isContiguous(), std::nullopt);
  // A size that depends on data may be 0, and then every stride is contiguous.
  EXPECT_EQ(specOf({symbolic("u0"), 8}, {1, 4}).isContiguous(), std::nullopt);
  EXPECT_EQ(specOf({symbolic("u0"), 8}, {8, 1}).isContiguous(), true);
  EXPECT_EQ(specOf({8, symbolic("u0")}, {symbolic("u0"), 2}).isContiguous(), std::nullopt);
  EXPECT_EQ(specOf({0, s1}, {7, 7}).isContiguous(), true);
}

TEST(TensorSpec, ContiguityNeedsStrides) {
  EXPECT_EQ(specOf({2, 3}).isContiguous(), std::nullopt);
  EXPECT_EQ(specOf({}).isContiguous(), true);
  TensorSpec unknown = specOf({});
  unknown.hasShape = false;
  EXPECT_EQ(unknown.isContiguous(), std::nullopt);
  EXPECT_FALSE(specOf({2, 3, 4, 5}).isChannelsLast());
}

TEST(TensorSpec, ChannelsLast) {
  EXPECT_TRUE(specOf({2, 3, 4, 5}, {60, 1, 15, 3}).isChannelsLast());
  EXPECT_TRUE(specOf({2, 3, 2, 4, 5}, {120, 1, 60, 15, 3}).isChannelsLast());
  EXPECT_TRUE(specOf({symbolic("s0"), 3, 4, 5}, {60, 1, 15, 3}).isChannelsLast());
  // One channel: both formats at once, which counts as contiguous.
  EXPECT_FALSE(specOf({2, 1, 4, 5}, {20, 1, 5, 1}).isChannelsLast());
  EXPECT_FALSE(specOf({2, 3, 4}, {12, 1, 3}).isChannelsLast());
}

TEST(TensorSpec, CountsElementsAndBytes) {
  EXPECT_EQ(specOf({2, 3}).elementCount(), 6);
  EXPECT_EQ(specOf({2, 3}).byteCount(), 24);
  EXPECT_EQ(specOf({}).elementCount(), 1);
  EXPECT_EQ(specOf({symbolic("s0")}).elementCount(), std::nullopt);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(specOf({huge, 2}).elementCount(), std::nullopt);
  EXPECT_EQ(specOf({huge, 2, 0}).elementCount(), 0);
  EXPECT_EQ(specOf({huge}).byteCount(), std::nullopt);
  EXPECT_EQ(specOf({-1}).elementCount(), std::nullopt);
  TensorSpec unknown = specOf({2});
  unknown.dtype = DType::Unknown;
  EXPECT_EQ(unknown.byteCount(), std::nullopt);
  unknown.hasShape = false;
  EXPECT_EQ(unknown.elementCount(), std::nullopt);
}

TEST(TensorSpec, Prints) {
  EXPECT_EQ(specOf({4, symbolic("s77*2")}).str(), "f32[4,2*s77]");
  EXPECT_EQ(specOf({}).str(), "f32[]");
  TensorSpec unknown = specOf({});
  unknown.hasShape = false;
  EXPECT_EQ(unknown.str(), "f32[?]");
  EXPECT_TRUE(specOf({symbolic("s0")}).isSymbolic());
  EXPECT_TRUE(specOf({2}, {symbolic("s0")}).isSymbolic());
  EXPECT_FALSE(specOf({2}, {1}).isSymbolic());
}

TEST(TensorSpec, WordsReadBack) {
  for (int i = 0; i <= static_cast<int>(Layout::Jagged); ++i) {
    const auto layout = static_cast<Layout>(i);
    EXPECT_EQ(parseLayout(name(layout)), layout);
    EXPECT_EQ(parseLayout("torch." + std::string(name(layout))), layout);
  }
  for (int i = 0; i <= static_cast<int>(MemoryFormat::Preserve); ++i) {
    const auto format = static_cast<MemoryFormat>(i);
    EXPECT_EQ(parseMemoryFormat(name(format)), format);
  }
  EXPECT_EQ(parseLayout("dense"), std::nullopt);
  EXPECT_EQ(parseMemoryFormat("nhwc"), std::nullopt);
  EXPECT_EQ(layoutFromExportCode(7), Layout::Strided);
  EXPECT_EQ(layoutFromExportCode(1), Layout::SparseCoo);
  EXPECT_EQ(layoutFromExportCode(8), Layout::Unknown);
  EXPECT_EQ(layoutFromExportCode(-1), Layout::Unknown);
  EXPECT_EQ(memoryFormatFromExportCode(1), MemoryFormat::Contiguous);
  EXPECT_EQ(memoryFormatFromExportCode(4), MemoryFormat::Preserve);
  EXPECT_EQ(memoryFormatFromExportCode(5), MemoryFormat::Unknown);
  EXPECT_TRUE(isSparse(Layout::SparseBsc));
  EXPECT_FALSE(isSparse(Layout::Strided));
  EXPECT_EQ((Device{"cuda", 0}).str(), "cuda:0");
  EXPECT_EQ((Device{"cpu", std::nullopt}).str(), "cpu");
}

}  // namespace
}  // namespace neuroncheck

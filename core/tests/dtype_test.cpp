// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

template <typename Visit>
void forEachDType(Visit visit) {
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    visit(static_cast<DType>(i));
  }
}

TEST(DType, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> names;
  std::set<std::string_view> shortNames;
  forEachDType([&](DType dtype) {
    EXPECT_TRUE(names.insert(name(dtype)).second) << name(dtype);
    EXPECT_TRUE(shortNames.insert(shortName(dtype)).second) << shortName(dtype);
    EXPECT_EQ(parseDType(name(dtype)), dtype);
    EXPECT_EQ(parseDType(shortName(dtype)), dtype);
    EXPECT_EQ(parseDType("torch." + std::string(name(dtype))), dtype);
  });
}

TEST(DType, KnowsTorchAliases) {
  EXPECT_EQ(parseDType("float"), DType::Float32);
  EXPECT_EQ(parseDType("torch.half"), DType::Float16);
  EXPECT_EQ(parseDType("double"), DType::Float64);
  EXPECT_EQ(parseDType("short"), DType::Int16);
  EXPECT_EQ(parseDType("int"), DType::Int32);
  EXPECT_EQ(parseDType("torch.long"), DType::Int64);
  EXPECT_EQ(parseDType("cfloat"), DType::Complex64);
  EXPECT_EQ(parseDType("cdouble"), DType::Complex128);
  EXPECT_EQ(parseDType("chalf"), DType::Complex32);
}

TEST(DType, RefusesOtherWords) {
  for (const std::string_view text :
       {"", "torch.", "Float", "f33", "torch.f32", "float32 ", "FLOAT32", "torch.torch.int8"}) {
    EXPECT_EQ(parseDType(text), std::nullopt) << text;
  }
}

// The codes and the sizes as torch 2.13.0 has them (torch/_export/serde/schema.py,
// torch.<dtype>.itemsize).
TEST(DType, HasTheExportCodesOfTorch) {
  const std::vector<std::pair<std::int64_t, std::string_view>> codes{{0, "unknown"},
                                                                     {1, "uint8"},
                                                                     {2, "int8"},
                                                                     {3, "int16"},
                                                                     {4, "int32"},
                                                                     {5, "int64"},
                                                                     {6, "float16"},
                                                                     {7, "float32"},
                                                                     {8, "float64"},
                                                                     {9, "complex32"},
                                                                     {10, "complex64"},
                                                                     {11, "complex128"},
                                                                     {12, "bool"},
                                                                     {13, "bfloat16"},
                                                                     {28, "uint16"},
                                                                     {29, "float8_e4m3fn"},
                                                                     {30, "float8_e5m2"},
                                                                     {31, "float8_e4m3fnuz"},
                                                                     {32, "float8_e5m2fnuz"},
                                                                     {33, "float8_e8m0fnu"},
                                                                     {34, "uint32"},
                                                                     {35, "uint64"}};
  std::size_t known = 0;
  for (std::int64_t code = -2; code < 100; ++code) {
    known += dtypeFromExportCode(code) ? 1U : 0U;
  }
  EXPECT_EQ(known, codes.size());
  for (const auto& [code, word] : codes) {
    ASSERT_TRUE(dtypeFromExportCode(code)) << code;
    EXPECT_EQ(name(*dtypeFromExportCode(code)), word);
  }
}

TEST(DType, HasTheSizesOfTorch) {
  const std::vector<std::pair<std::string_view, std::int64_t>> sizes{{"unknown", 0},
                                                                     {"uint8", 1},
                                                                     {"int8", 1},
                                                                     {"int16", 2},
                                                                     {"int32", 4},
                                                                     {"int64", 8},
                                                                     {"float16", 2},
                                                                     {"float32", 4},
                                                                     {"float64", 8},
                                                                     {"complex32", 4},
                                                                     {"complex64", 8},
                                                                     {"complex128", 16},
                                                                     {"bool", 1},
                                                                     {"bfloat16", 2},
                                                                     {"uint16", 2},
                                                                     {"uint32", 4},
                                                                     {"uint64", 8},
                                                                     {"float8_e4m3fn", 1},
                                                                     {"float8_e5m2", 1},
                                                                     {"float8_e4m3fnuz", 1},
                                                                     {"float8_e5m2fnuz", 1},
                                                                     {"float8_e8m0fnu", 1},
                                                                     {"float4_e2m1fn_x2", 1},
                                                                     {"qint8", 1},
                                                                     {"quint8", 1},
                                                                     {"qint32", 4},
                                                                     {"quint4x2", 1},
                                                                     {"quint2x4", 1}};
  ASSERT_EQ(sizes.size(), kDTypeCount);
  for (const auto& [word, size] : sizes) {
    EXPECT_EQ(itemSize(parseDType(word).value()), size) << word;
  }
}

TEST(DType, EveryKindIsExactlyOne) {
  forEachDType([](DType dtype) {
    const bool quantised = kind(dtype) == DTypeKind::Quantized;
    const int kinds = static_cast<int>(isFloating(dtype)) + static_cast<int>(isComplex(dtype)) +
                      static_cast<int>(isIntegral(dtype)) + static_cast<int>(quantised);
    EXPECT_EQ(kinds, dtype == DType::Unknown ? 0 : 1) << name(dtype);
    EXPECT_TRUE(!isFloat8(dtype) || isFloating(dtype));
  });
  EXPECT_TRUE(isIntegral(DType::Bool));
  EXPECT_TRUE(isFloating(DType::BFloat16));
  EXPECT_TRUE(isFloat8(DType::Float8E8M0FNU));
  EXPECT_FALSE(isFloat8(DType::Float4E2M1FNx2));
  EXPECT_TRUE(isComplex(DType::Complex32));
}

}  // namespace
}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "numerics/fill/fill.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::numerics {

inline FillRequest request(FillId fill, DType dtype, std::vector<std::int64_t> sizes,
                           int variant = 0, std::uint64_t seed = 0x9e3779b97f4a7c15U) {
  FillRequest result;
  result.fill = fill;
  result.dtype = dtype;
  result.sizes = std::move(sizes);
  result.variant = variant;
  result.seed = seed;
  result.outputLimit = exactIntegers(dtype);
  return result;
}

inline std::vector<std::byte> bytesOfFill(const FillRequest& asked) {
  auto filler = Filler::make(asked);
  EXPECT_TRUE(filler.has_value()) << (filler ? "" : filler.error().text());
  return filler ? filler->all() : std::vector<std::byte>();
}

/// Values of a real dtype; components of a complex one.
inline std::vector<double> valuesOf(const FillRequest& asked) {
  const auto bytes = bytesOfFill(asked);
  const auto view = TensorView::contiguous(asked.dtype, bytes, asked.sizes);
  EXPECT_TRUE(view.has_value());
  const TensorView real = view->asReal();
  std::vector<double> values(static_cast<std::size_t>(real.count()));
  ElementReader(real).values(0, values);
  return values;
}

inline std::string whyNot(const FillRequest& asked) {
  const auto filler = Filler::make(asked);
  return filler ? "accepted" : filler.error().message;
}

inline const std::vector<DType>& everyDType() {
  static const std::vector<DType> kAll = {
      DType::Bool,           DType::UInt8,         DType::Int8,       DType::Int16,
      DType::UInt16,         DType::Int32,         DType::UInt32,     DType::Int64,
      DType::UInt64,         DType::Float16,       DType::BFloat16,   DType::Float32,
      DType::Float64,        DType::Float8E4M3FN,  DType::Float8E5M2, DType::Float8E4M3FNUZ,
      DType::Float8E5M2FNUZ, DType::Float8E8M0FNU, DType::Complex64};
  return kAll;
}

}  // namespace neuroncheck::numerics

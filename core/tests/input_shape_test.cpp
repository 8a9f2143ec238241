// SPDX-License-Identifier: Apache-2.0
#include "core/input_shape.h"

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

TEST(InputShape, ReadsSizesAndDtype) {
  const auto image = InputShape::parse("1x3x224x224");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->sizes, (std::vector<std::int64_t>{1, 3, 224, 224}));
  EXPECT_EQ(image->dtype, DType::Float32);
  const auto ids = InputShape::parse("2x128:int64");
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->dtype, DType::Int64);
  EXPECT_EQ(ids->str(), "2x128:int64");
  const auto scalar = InputShape::parse(":bool");
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->sizes.empty());
  EXPECT_TRUE(InputShape::parse("0x4"));
}

TEST(InputShape, RefusesAnythingElse) {
  for (const char* text :
       {"", "x", "1x", "x1", "1xx2", "1,2", "-1x2", "1x2:", "1x2:nonsense", "1x2:unknown",
        "99999999999999999999", "1099511627776x1099511627776", "1x2 ", "1X2"}) {
    const auto shape = InputShape::parse(text);
    ASSERT_FALSE(shape) << text;
    EXPECT_EQ(shape.error().code, ErrorCode::Usage);
    EXPECT_NE(shape.error().text().find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace neuroncheck

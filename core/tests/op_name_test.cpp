// SPDX-License-Identifier: Apache-2.0
#include "core/op_name.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace neuroncheck {
namespace {

TEST(OpName, ReadsAndPrints) {
  const auto add = OpName::parse("aten::add.Tensor");
  ASSERT_TRUE(add);
  EXPECT_EQ(*add, (OpName{"aten", "add", "Tensor"}));
  EXPECT_EQ(add->str(), "aten::add.Tensor");
  EXPECT_EQ(add->packet(), "aten::add");
  EXPECT_EQ(OpName::parse("aten::relu")->str(), "aten::relu");
  EXPECT_EQ(OpName::parse("aten::relu.default"), (OpName{"aten", "relu", ""}));
}

TEST(OpName, RefusesOtherText) {
  for (const std::string_view text : {"", "relu", "::relu", "aten::", "aten::.out", "aten::relu.",
                                      "a::b::c", "aten:relu", "aten.relu"}) {
    EXPECT_EQ(OpName::parse(text), std::nullopt) << text;
  }
}

TEST(OpName, ReadsExportTargets) {
  EXPECT_EQ(OpName::fromExportTarget("torch.ops.aten.add.Tensor"),
            (OpName{"aten", "add", "Tensor"}));
  EXPECT_EQ(OpName::fromExportTarget("torch.ops.aten.relu.default"), (OpName{"aten", "relu", ""}));
  EXPECT_EQ(OpName::fromExportTarget("torch.ops.corpuslib.twist.default"),
            (OpName{"corpuslib", "twist", ""}));
  for (const std::string_view text :
       {"", "_operator.mul", "math.trunc", "torch.sym_max", "torch.ops.", "torch.ops.aten",
        "torch.ops.aten.add", "torch.ops.aten.add.", "torch.ops.aten..Tensor",
        "torch.ops.higher_order.cond", "torch.ops.higher_order.wrap.default", "aten::add.Tensor"}) {
    EXPECT_EQ(OpName::fromExportTarget(text), std::nullopt) << text;
  }
}

TEST(OpName, SortsByNamespaceBaseOverload) {
  const OpName plain{"aten", "add", ""};
  const OpName tensor{"aten", "add", "Tensor"};
  const OpName other{"aten", "addmm", ""};
  EXPECT_LT(plain, tensor);
  EXPECT_LT(tensor, other);
  EXPECT_LT(other, (OpName{"prims", "add", ""}));
}

RC_GTEST_PROP(OpNameLaw, TextReadsBack, ()) {
  const auto word = [] {
    return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(
        std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))));
  };
  const OpName op{word(), word(), *rc::gen::arbitrary<bool>() ? word() : std::string()};
  RC_PRE(op.overload != "default");
  RC_ASSERT(OpName::parse(op.str()) == op);
  RC_PRE(op.ns != "higher_order");
  const std::string overload = op.overload.empty() ? "default" : op.overload;
  RC_ASSERT(OpName::fromExportTarget("torch.ops." + op.ns + "." + op.base + "." + overload) == op);
}

}  // namespace
}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#include "scanner/torchscript/source_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neuroncheck::scanner {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kSource = R"py(class Net(Module):
  __parameters__ = ["weight", ]
  def forward(self: __torch__.net.Net,
    x: Tensor) -> Tensor:
    # torch.comment(x)
    _0 = torch.conv2d(torch.relu_(x), self.weight, None, [1, 1])
    a, b, = ops.myns.split2(_0, 2, dim=1)
    text = "torch.quoted(x) \" torch.still(x)"
    if torch.gt(a, 0):
      c = ops.myns.scale(a, [1, (2)], "x, y", k=3, eps=1.0e-05)
      for i in range(3):
        c = torch.add(c, 1)
    else:
      c = torch.neg(b)
    ops.prim.Print(c)
    _1 = (self.bn).forward(c, )
    _2 = __torch__.torch.nn.functional.linear(c, )
    return ops.myns.last(c)
)py";

std::vector<std::string> names(const std::vector<SourceCall>& calls) {
  std::vector<std::string> out;
  for (const SourceCall& call : calls) {
    out.push_back(call.op);
  }
  return out;
}

const SourceCall& named(const std::vector<SourceCall>& calls, std::string_view op) {
  for (const SourceCall& call : calls) {
    if (call.op == op) {
      return call;
    }
  }
  throw std::runtime_error("no call of " + std::string(op));
}

TEST(SourceCalls, FindsOperatorsInTheOrderOfTheText) {
  EXPECT_THAT(names(findCalls(kSource)),
              ElementsAre("aten::conv2d", "aten::relu_", "myns::split2", "aten::gt", "myns::scale",
                          "aten::add", "aten::neg", "myns::last"));
}

TEST(SourceCalls, CountsArgumentsAndResultsOfCustomOperators) {
  const auto calls = findCalls(kSource);
  const SourceCall& split = named(calls, "myns::split2");
  EXPECT_EQ(split.positional, 2U);
  EXPECT_THAT(split.keywords, ElementsAre("dim"));
  EXPECT_EQ(split.unpacked, 2U);
  const SourceCall& scale = named(calls, "myns::scale");
  EXPECT_EQ(scale.positional, 3U);
  EXPECT_THAT(scale.keywords, ElementsAre("k", "eps"));
  EXPECT_EQ(scale.unpacked, 1U);
  EXPECT_EQ(named(calls, "myns::last").unpacked, 1U);
}

TEST(SourceCalls, KnowsLinesBranchesAndLoops) {
  const auto calls = findCalls(kSource);
  EXPECT_EQ(named(calls, "aten::conv2d").line, 6);
  EXPECT_EQ(named(calls, "myns::last").line, 18);
  EXPECT_FALSE(named(calls, "aten::gt").conditional);
  EXPECT_TRUE(named(calls, "myns::scale").conditional);
  EXPECT_FALSE(named(calls, "myns::scale").inLoop);
  EXPECT_TRUE(named(calls, "aten::add").inLoop);
  EXPECT_TRUE(named(calls, "aten::neg").conditional);
  EXPECT_FALSE(named(calls, "aten::neg").inLoop);
  EXPECT_FALSE(named(calls, "myns::last").conditional);
}

TEST(SourceCalls, ReadsAnyText) {
  EXPECT_TRUE(findCalls("").empty());
  EXPECT_TRUE(findCalls("\"").empty());
  EXPECT_TRUE(findCalls(std::string_view("\0\xff torch", 8)).empty());
  EXPECT_THAT(names(findCalls("torch.a(")), ElementsAre("aten::a"));
  EXPECT_THAT(names(findCalls("x.torch.a(1) torch.a.b(1) ops.n(1) ops.a.b.c(1)")), ElementsAre());
  EXPECT_THAT(names(findCalls("'\ntorch.after(1)")), ElementsAre("aten::after"));
}

TEST(SourceCalls, DeepNestingCostsLittle) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    text += "ops.n.f(";
  }
  EXPECT_EQ(findCalls(text).size(), 50'000U);
}

}  // namespace
}  // namespace neuroncheck::scanner

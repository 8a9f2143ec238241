// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/frames.h"

#include <gtest/gtest.h>

namespace neuroncheck::scanner::pt2 {
namespace {

TEST(StackTrace, NonStrictFormTakesTheLastFrameOutsideTorch) {
  const Frames frames = parseStackTrace(
      "File \"models/net.py\", line 43, in forward\n    y = self.lin(x)\n"
      "  File \"site-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return "
      "F.linear(input)");
  EXPECT_EQ(frames.user, (SourcePlace{"models/net.py", 43}));
  EXPECT_EQ(frames.last, (SourcePlace{"site-packages/torch/nn/modules/linear.py", 134}));
}

TEST(StackTrace, StrictFormHasIndentationAndCaretLines) {
  const Frames frames = parseStackTrace(
      "  File \"site-packages/torch/_dynamo/functional_export.py\", line 230, in inner\n    return "
      "f(*args)\n"
      "           ^^^^^^^^\n"
      "  File \"models/gru.py\", line 9, in forward\n    return self.gru(x)\n           "
      "^^^^^^^^^^^\n");
  EXPECT_EQ(frames.user, (SourcePlace{"models/gru.py", 9}));
  EXPECT_EQ(frames.last, frames.user);
}

TEST(StackTrace, GeneratedCodeIsNotTheUsers) {
  const Frames frames = parseStackTrace(
      "File \"models/c.py\", line 21, in forward\n    y = torch.cond(p, t, f, (x,))\n"
      "  File \"<eval_with_key>.176\", line 6, in forward\n    linear = torch._C._nn.linear(a, b)");
  EXPECT_EQ(frames.user, (SourcePlace{"models/c.py", 21}));
  EXPECT_EQ(frames.last, (SourcePlace{"<eval_with_key>.176", 6}));
}

TEST(StackTrace, TorchAloneHasNoUserFrame) {
  const Frames frames = parseStackTrace(
      "File \"torch/fx/passes/runtime_assert.py\", line 24, in insert_deferred_runtime_asserts");
  EXPECT_FALSE(frames.user.known());
  EXPECT_EQ(frames.last.line, 24);
}

TEST(StackTrace, SourceLinesThatQuoteAFrameDoNotCount) {
  const Frames frames = parseStackTrace(
      "File \"a.py\", line 3, in forward\n    print('File \"b.py\", line 9, in forward')");
  EXPECT_EQ(frames.user, (SourcePlace{"a.py", 3}));
}

TEST(StackTrace, BrokenTextsGiveNothing) {
  for (const std::string_view text :
       {"", "\n\n", "File \"a.py", "File \"a.py\", line x, in f", "File \"a.py\", line 3",
        "File \"a.py\", line 99999999999999999999, in f"}) {
    EXPECT_FALSE(parseStackTrace(text).last.known()) << text;
  }
}

TEST(ModuleStack, TakesTheInnermostModule) {
  const ModulePlace place = parseModuleStack(
      "L__self__,,net.Net;L__self___lin,enc.layers.0.lin,torch.nn.modules.linear.Linear");
  EXPECT_EQ(place.path, "enc.layers.0.lin");
  EXPECT_EQ(place.type, "torch.nn.modules.linear.Linear");
}

TEST(ModuleStack, KeysOfStrictExportAreAddresses) {
  const ModulePlace place = parseModuleStack("139865780582288,gru,torch.nn.modules.rnn.GRU");
  EXPECT_EQ(place.path, "gru");
  EXPECT_EQ(place.type, "torch.nn.modules.rnn.GRU");
}

TEST(ModuleStack, RootAndNone) {
  EXPECT_EQ(parseModuleStack("L__self__,,net.Net").path, "");
  EXPECT_EQ(parseModuleStack("L__self__,,net.Net").type, "net.Net");
  const std::string none = "_empty_nn_module_stack_from_metadata_hook";
  EXPECT_EQ(parseModuleStack(none + "," + none + "," + none).type, "");
  EXPECT_EQ(parseModuleStack("").type, "");
  EXPECT_EQ(parseModuleStack("just,two").type, "");
}

TEST(ModuleStack, PathsMayHoldCommas) {
  const ModulePlace place =
      parseModuleStack("key,L['self'].parts['a,b'].lin,<class 'torch.nn.Linear'>");
  EXPECT_EQ(place.path, "parts.a,b.lin");
  EXPECT_EQ(place.type, "torch.nn.Linear");
}

TEST(ModulePath, IsCleaned) {
  EXPECT_EQ(cleanModulePath("L['self']"), "");
  EXPECT_EQ(cleanModulePath("L['self'].layers[0].fc"), "layers.0.fc");
  EXPECT_EQ(cleanModulePath("L__self___lin"), "lin");
  EXPECT_EQ(cleanModulePath("encoder.layers.0"), "encoder.layers.0");
  EXPECT_EQ(cleanModulePath("lin@1"), "lin");
  EXPECT_EQ(cleanModulePath("a@12.b@3"), "a.b");
  EXPECT_EQ(cleanModulePath("selfish.x"), "selfish.x");
  EXPECT_EQ(cleanModulePath("mail@home"), "mail@home");
}

}  // namespace
}  // namespace neuroncheck::scanner::pt2

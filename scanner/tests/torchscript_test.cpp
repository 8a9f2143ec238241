// SPDX-License-Identifier: Apache-2.0
// What the reader makes of a TorchScript archive and of the answers of a host; libtorch itself is
// tested in torch_host.
#include "scanner/torchscript/torchscript.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/inventory_json.h"
#include "scanner/tests/small_catalogue.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ZipWriter;

constexpr const char* kSource =
    "class Net(Module):\n"
    "  def forward(self: __torch__.Net,\n"
    "    x: Tensor) -> Tensor:\n"
    "    _0 = torch.relu(torch.add(x, torch.len([1])))\n"
    "    return ops.myns.foo(_0, 2, k=1)\n";

class TorchScript : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(::testing::TempDir()) / (std::string("script_") + info->name()))
                .string();
    std::ofstream(path_, std::ios::binary) << ZipWriter()
                                                  .add("net/constants.pkl", "\x80\x02).")
                                                  .add("net/data.pkl", "\x80\x02).")
                                                  .add("net/version", "3\n")
                                                  .add("net/code/__torch__.py", kSource)
                                                  .finish();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Scanned scanWith(std::function<Result<Json>(const Json&)> host) {
    ScanOptions options;
    options.torchHost = std::move(host);
    options.torchHostAbsent = "it is absent";
    return scan(path_, catalogue_, options);
  }

  /// What a host says of a method that calls relu.
  Json goodAnswer() const {
    Inventory inventory;
    inventory.kind = FileKind::TorchScript;
    Model model;
    model.name = "forward";
    model.dialect = "torchscript";
    model.shapes = ShapeOrigin::Unknown;
    model.interpreterOps["aten::len.t"] = 1;
    model.deviceLiterals.push_back({.op = {.ns = "aten", .base = "to", .overload = "prim_Device"},
                                    .device = {.type = "cuda", .index = 1},
                                    .node = "a.1",
                                    .graph = {},
                                    .module = "head",
                                    .source = {"net.py", 7}});
    OpUse use;
    use.op = {.ns = "aten", .base = "relu_", .overload = {}};
    use.node = "x.1";
    use.graph = "/if_0";
    model.uses.push_back(use);
    inventory.models.push_back(model);
    return {{"inventory", toJson(inventory)}, {"attempts", Json::array()}, {"sandbox", "complete"}};
  }

  std::string path_;
  testing::SmallCatalogue catalogue_;
};

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> out;
  for (const OpUse& use : model.uses) {
    out.push_back(use.op.str());
  }
  return out;
}

TEST_F(TorchScript, WithoutAHostTheNamesOfTheSourceAreApproximate) {
  const Scanned scanned = scanWith({});
  ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
  EXPECT_EQ(scanned.kind, FileKind::TorchScript);
  const Model& model = scanned.inventory->models.at(0);
  EXPECT_TRUE(model.approximate);
  EXPECT_EQ(model.shapes, ShapeOrigin::Unknown);
  EXPECT_THAT(operators(model), ElementsAre("aten::relu", "aten::add", "myns::foo"));
  EXPECT_EQ(model.uses[0].source.str(), "code/__torch__.py:4");
  EXPECT_EQ(model.interpreterOps.at("aten::len"), 1);
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("it is absent")));
}

TEST_F(TorchScript, TheHostGetsTheCallsOfCustomOperators) {
  Json asked;
  (void)scanWith([&](const Json& request) -> Result<Json> {
    asked = request;
    return goodAnswer();
  });
  EXPECT_EQ(asked["do"], "torchscript");
  EXPECT_EQ(asked["path"], path_);
  EXPECT_EQ(asked["custom_calls"].dump(),
            R"([{"op":"myns::foo","positional":2,"keywords":["k"],"unpacked":1}])");
}

TEST_F(TorchScript, AnAnswerIsCompletedFromTheCatalogue) {
  const Scanned scanned = scanWith([&](const Json&) -> Result<Json> { return goodAnswer(); });
  ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
  const Model& model = scanned.inventory->models.at(0);
  EXPECT_FALSE(model.approximate);
  EXPECT_TRUE(model.uses.at(0).inCatalogue);
  EXPECT_THAT(model.subgraphs, ElementsAre("/if_0"));
  ASSERT_EQ(model.deviceLiterals.size(), 1U);
  EXPECT_EQ(
      toJson(*scanned.inventory).at("methods").at("forward").at("device_literals").dump(),
      R"([{"target":"aten::to.prim_Device","device":"cuda:1","node":"a.1","graph":"","module":"head","source":"net.py:7"}])");
  EXPECT_TRUE(scanned.inventory->notes.empty());
  EXPECT_EQ(scanned.inventory->path, path_);
}

TEST_F(TorchScript, WhatTheHostCannotLoadIsReadFromTheSource) {
  const std::vector<std::function<Result<Json>(const Json&)>> hosts{
      [](const Json&) -> Result<Json> { return Json{{"failed", "because"}}; },
      [](const Json&) -> Result<Json> { return fail(ErrorCode::Unavailable, "because"); },
      [](const Json&) -> Result<Json> { return Json{{"inventory", {{"because", 1}}}}; },
      [](const Json&) -> Result<Json> { return Json{{"because", 1}}; }};
  for (const auto& host : hosts) {
    const Scanned scanned = scanWith(host);
    ASSERT_TRUE(scanned.inventory) << scanned.inventory.error().text();
    EXPECT_TRUE(scanned.inventory->models.at(0).approximate);
    EXPECT_THAT(scanned.inventory->models.at(0).notes.at(0), HasSubstr("libtorch cannot load it"));
  }
}

TEST_F(TorchScript, WhatTheFileTriedIsAFinding) {
  for (const bool failed : {false, true}) {
    const Scanned scanned = scanWith([&](const Json&) -> Result<Json> {
      Json answer = failed ? Json{{"failed", "it ended"}} : goodAnswer();
      answer["attempts"] = {"open the file '/x'", "open the file '/x'", "use the network"};
      answer["sandbox"] = "without file rules (Landlock)";
      return answer;
    });
    ASSERT_TRUE(scanned.inventory);
    ASSERT_EQ(scanned.inventory->notes.size(), 2U);
    EXPECT_EQ(scanned.inventory->notes[0].rule, "NC115");
    EXPECT_THAT(scanned.inventory->notes[0].message,
                HasSubstr("tried to open the file '/x', use the network; the sandbox refused"));
    EXPECT_EQ(scanned.inventory->notes[1].rule, "NC116");
  }
}

TEST_F(TorchScript, ARefusedShapeIsAUsageError) {
  const Scanned scanned = scanWith(
      [](const Json&) -> Result<Json> { return Json{{"refused", "forward takes 1 tensor"}}; });
  ASSERT_FALSE(scanned.inventory);
  EXPECT_EQ(scanned.inventory.error().code, ErrorCode::Usage);
  EXPECT_EQ(scanned.kind, FileKind::TorchScript);
}

TEST_F(TorchScript, DamagedSourceIsNamed) {
  std::ofstream(path_, std::ios::binary) << ZipWriter()
                                                .add("net/constants.pkl", "\x80\x02).")
                                                .add("net/code/__torch__.py", kSource)
                                                .finish();
  std::string bytes;
  {
    std::ifstream in(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  // A local header that names another record.
  bytes.replace(bytes.find("net/code/__torch__.py"), 3, "xxx");
  std::ofstream(path_, std::ios::binary) << bytes;
  const Scanned scanned = scanWith({});
  ASSERT_FALSE(scanned.inventory);
  EXPECT_EQ(scanned.kind, FileKind::Damaged);
  EXPECT_THAT(scanned.inventory.error().text(), HasSubstr("code/__torch__.py"));
}

}  // namespace
}  // namespace neuroncheck::scanner

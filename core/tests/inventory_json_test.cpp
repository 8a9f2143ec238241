// SPDX-License-Identifier: Apache-2.0
#include "core/inventory_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/tests/exact_equal.h"
#include "core/tests/random_inventory.h"
#include "core/version.h"

namespace neuroncheck {
namespace {

using ::testing::HasSubstr;

TensorPtr tensor(std::string name, std::vector<SymInt> sizes, DType dtype = DType::Float32) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.sizes = std::move(sizes);
  spec.device = {"cpu", std::nullopt};
  return std::make_shared<const TensorValue>(TensorValue{std::move(name), spec});
}
SymInt symbol(const char* text, std::optional<std::int64_t> hint = std::nullopt) {
  return SymInt(*SymExpr::parseInfix(text), hint);
}

OpUse reshapeUse() {
  OpUse use;
  use.op = {"aten", "reshape", ""};
  use.node = "reshape";
  use.args = {{"self", tensor("x", {symbol("s77", 8), symbol("s21", 16), 8})},
              {"shape", std::vector<SymIntValue>{{symbol("s21*s77"), "mul"}, {8, ""}}}};
  use.outputs = {tensor("reshape", {symbol("s21*s77"), 8})};
  use.source = {"models/dynamic.py", 20};
  return use;
}

Inventory sample() {
  Inventory inventory;
  inventory.path = "m.pt2";
  inventory.kind = FileKind::ExportedProgram;
  Model& model = inventory.models.emplace_back();
  model.name = "model";
  model.inputs = {
      {"x", "USER_INPUT", "", {}, tensor("x", {symbol("s77", 8), symbol("s21", 16), 8})},
      {"w", "PARAMETER", "proj.weight", {}, tensor("w", {4, 8})},
      {"b", "BUFFER", "pos", false, tensor("b", {3}, DType::Int64)}};
  model.ranges = {{"s77", {2, 64}}, {"s21", {4, std::nullopt}}};
  model.uses = {reshapeUse()};
  return inventory;
}

TEST(InventoryJson, ListsOnlyGraphValuesOfAMixedListAndKeepsTheWholeBesides) {
  const Json node = nodeToJson(reshapeUse());
  ASSERT_EQ(node["inputs"].size(), 2U);
  EXPECT_EQ(node["inputs"][0]["arg"], "self");
  EXPECT_EQ(node["inputs"][0]["shape"], Json::array({"s77", "s21", 8}));
  EXPECT_EQ(node["inputs"][1]["arg"], "shape");
  EXPECT_EQ(node["inputs"][1]["sym"], "SymInt");
  EXPECT_EQ(node["inputs"][1]["expr"], "s21*s77");
  EXPECT_TRUE(node["attrs"].empty());
  EXPECT_EQ(node["args_full"].dump(), R"(["self",{"arg":"shape","value":{"ints":[{"ref":1},8]}}])");
  EXPECT_EQ(node["outputs"][0]["shape"], Json::array({"s21*s77", 8}));
  EXPECT_EQ(node["source"], "models/dynamic.py:20");
}

TEST(InventoryJson, WritesAttributesAsPythonPrintsThem) {
  OpUse use;
  use.op = {"aten", "to", "dtype_layout"};
  const double infinity = std::numeric_limits<double>::infinity();
  use.args = {{"a", SymFloat{-infinity, nullptr, ""}},
              {"b", SymFloat{std::nan(""), nullptr, ""}},
              {"c", DType::BFloat16},
              {"d", MemoryFormat::ChannelsLast},
              {"e", Layout::Strided},
              {"device", Device{"cpu", std::nullopt}},
              {"g", NoneValue{}},
              {"h", std::complex<double>(1, 2)},
              {"i", std::vector<SymIntValue>{{1, ""}, {-1, ""}}},
              {"j", SymBool{true, nullptr, ""}},
              {"k", std::string("tanh")}};
  EXPECT_EQ(
      nodeToJson(use)["attrs"].dump(),
      R"json({"a":"-inf","b":"nan","c":"torch.bfloat16","d":"torch.channels_last",)json"
      R"json("e":"torch.strided","device":"cpu","g":null,"h":"(1+2j)","i":[1,-1],"j":true,"k":"tanh"})json");
}

TEST(InventoryJson, FlattensListResultsAndShowsNoneAsNull) {
  OpUse use;
  use.op = {"aten", "unbind", "int"};
  EXPECT_EQ(nodeToJson(use)["outputs"].dump(), "[null]");
  use.outputs = {TensorList{{tensor("a", {2}), nullptr, tensor("c", {3})}}};
  const Json node = nodeToJson(use);
  ASSERT_EQ(node["outputs"].size(), 3U);
  EXPECT_EQ(node["outputs"][0]["shape"], Json::array({2}));
  EXPECT_TRUE(node["outputs"][1].is_null());
  EXPECT_EQ(node["outputs"][2]["shape"], Json::array({3}));
  EXPECT_EQ(node["outputs_full"].dump(), R"([{"tensors":[{"ref":0},null,{"ref":2}]}])");
}

TEST(InventoryJson, DerivesDynamicDimsTotalsAndConstants) {
  const Json model = toJson(sample())["models"]["model"];
  EXPECT_EQ(model["dynamic_dims"].dump(),
            R"([{"symbol":"s77","min":2,"max":64,"hint":8,"appears_in":["x"]},)"
            R"({"symbol":"s21","min":4,"max":null,"hint":16,"appears_in":["x"]}])");
  EXPECT_EQ(model["parameters"].dump(), R"({"count":1,"bytes":128,"elements":32})");
  EXPECT_EQ(model["buffers"].dump(), R"({"count":1,"bytes":24})");
  EXPECT_EQ(model["constants"].dump(), R"(["pos"])");
  EXPECT_EQ(model["ops"][0]["target"], "aten::reshape");
  EXPECT_EQ(model["ops"][0]["count"], 1);
}

TEST(InventoryJson, SeparatesOtherNamespacesAndNamesTheGroupOfDeviatingNodes) {
  Inventory inventory = sample();
  Model& model = inventory.models.front();
  OpUse dropout;
  dropout.id = 1;
  dropout.op = {"aten", "dropout", ""};
  dropout.group = OpGroup::NoDeviceWork;
  OpUse training = dropout;
  training.id = 2;
  training.group = OpGroup::Random;
  OpUse custom = dropout;
  custom.id = 3;
  custom.op = {"corpuslib", "scaled_relu", ""};
  model.uses.insert(model.uses.end(), {dropout, training, custom});
  const Json json = toJson(inventory)["models"]["model"];
  ASSERT_EQ(json["ops"].size(), 2U);
  EXPECT_EQ(json["ops"][1]["group"], "no_device_work");
  EXPECT_EQ(json["ops"][1]["nodes"][1]["group"], "random");
  EXPECT_FALSE(json["ops"][1]["nodes"][0].contains("group"));
  EXPECT_EQ(json["custom_ops"][0]["target"], "corpuslib::scaled_relu");
}

TEST(InventoryJson, RestoresHintsOfExpressionsFromTheirSymbols) {
  const auto back = inventoryFromJson(toJson(sample()));
  ASSERT_TRUE(back) << back.error().text();
  const auto output = std::get<TensorPtr>(back->models.front().uses.front().outputs.front());
  EXPECT_TRUE(output->spec.sizes.front().hasHint);
  EXPECT_EQ(output->spec.sizes.front().value, 128);
}

TEST(InventoryJson, DocumentNamesItsSchemaAndTool) {
  const Json document = inventoryDocument({sample()});
  EXPECT_EQ(document["schema"], "neuron-check/inventory/1");
  EXPECT_EQ(document["tool"], std::string(toolName()));
  EXPECT_EQ(document["inputs"].size(), 1U);
}

TEST(InventoryJson, DumpReplacesBytesThatAreNoUtf8) {
  Inventory inventory = sample();
  inventory.path = "bad\xFFname.pt2";
  EXPECT_THAT(dumpJson(toJson(inventory)), HasSubstr("bad\xEF\xBF\xBDname.pt2"));
}

RC_GTEST_PROP(InventoryJson, RoundTripRestoresEveryField, ()) {
  const Inventory original = testing::inventory();
  const Json json = toJson(original);
  const auto back = inventoryFromJson(json);
  if (!back) {
    RC_LOG() << back.error().text() << "\n" << dumpJson(json, 1);
  }
  RC_ASSERT(back.has_value());
  if (!testing::same(original, *back)) {
    RC_LOG() << dumpJson(json, 1) << "\nread back as\n" << dumpJson(toJson(*back), 1);
  }
  RC_ASSERT(testing::same(original, *back));
  RC_ASSERT(dumpJson(toJson(*back)) == dumpJson(json));
}

RC_GTEST_PROP(InventoryJson, RoundTripGoesThroughText, ()) {
  const Inventory original = testing::inventory();
  const std::string text = dumpJson(toJson(original));
  const auto back = inventoryFromJson(Json::parse(text));
  RC_ASSERT(back.has_value());
  RC_ASSERT(testing::same(original, *back));
}

/// A change that makes the document wrong, and the words the error must have.
struct Damage {
  const char* name;
  void (*apply)(Json&);
  const char* expected;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class DamagedInventory : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedInventory, IsAnErrorNamingThePath) {
  Json json = toJson(sample());
  GetParam().apply(json);
  const auto read = inventoryFromJson(json);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::Input);
  EXPECT_THAT(read.error().text(), HasSubstr(GetParam().expected));
}

Json& firstNode(Json& json) { return json["models"]["model"]["ops"][0]["nodes"][0]; }

INSTANTIATE_TEST_SUITE_P(
    All, DamagedInventory,
    ::testing::Values(
        Damage{"NoObject", [](Json& j) { j = 3; }, "expected an object"},
        Damage{"UnknownField", [](Json& j) { j["surprise"] = 1; }, "surprise: unknown field"},
        Damage{"UnknownKind", [](Json& j) { j["kind"] = "zip"; }, "kind: unknown word \"zip\""},
        Damage{"NegativeSize", [](Json& j) { j["size"] = -1; }, "size: expected an integer"},
        Damage{"ModelsAsList", [](Json& j) { j["models"] = Json::array(); },
               "models: expected an object"},
        Damage{"NodeWithoutName", [](Json& j) { firstNode(j).erase("name"); },
               "models.model.ops[0].nodes[0].name: missing"},
        Damage{"HugeId", [](Json& j) { firstNode(j)["id"] = 1ULL << 40U; },
               "nodes[0].id: too large"},
        Damage{"GapInIds", [](Json& j) { firstNode(j)["id"] = 5; }, "node ids do not count from 0"},
        Damage{"WrongCount", [](Json& j) { j["models"]["model"]["ops"][0]["count"] = 7; },
               "ops[0].count"},
        Damage{"BadDtype", [](Json& j) { firstNode(j)["inputs"][0]["dtype"] = "float7"; },
               "unknown dtype \"float7\""},
        Damage{"BadExpression", [](Json& j) { firstNode(j)["inputs"][0]["shape"][0] = "s77 +* 1"; },
               "nodes[0].inputs[0].shape[0]: not an expression"},
        Damage{"FractionalSize", [](Json& j) { firstNode(j)["inputs"][0]["shape"][0] = 1.5; },
               "inputs[0].shape[0]"},
        Damage{"StridesOfOtherRank", [](Json& j) { firstNode(j)["inputs"][0]["strides"] = {1}; },
               "as many strides"},
        Damage{"RefOutside",
               [](Json& j) { firstNode(j)["args_full"][1]["value"]["ints"][0]["ref"] = 9; },
               "args_full[1].value.ints[0]: ref is outside"},
        Damage{"RefOfOtherKind",
               [](Json& j) { firstNode(j)["args_full"][1]["value"]["ints"][0]["ref"] = 0; },
               "of another kind than its tag"},
        Damage{"UnknownTag",
               [](Json& j) { firstNode(j)["args_full"][1]["value"] = {{"pickle", 1}}; },
               "unknown kind of value"},
        Damage{"NameWithoutSource", [](Json& j) { firstNode(j)["args_full"][0] = "nobody"; },
               "nobody"},
        Damage{"MixedListInAttrs",
               [](Json& j) {
                 firstNode(j)["attrs"]["a"] = {1, "x"};
                 firstNode(j).erase("args_full");
                 firstNode(j)["inputs"].erase(1);
               },
               "attrs.a: a list of mixed kinds"},
        Damage{"SourceWithoutLine", [](Json& j) { firstNode(j)["source"] = "net.py"; },
               "source: expected file:line"},
        Damage{"HugeLine", [](Json& j) { firstNode(j)["source"] = "net.py:99999999999999999999"; },
               "source: expected"},
        Damage{"BadOperator", [](Json& j) { j["models"]["model"]["ops"][0]["target"] = "relu"; },
               "no operator name"},
        Damage{
            "BadStoredKind",
            [](Json& j) { j["models"]["model"]["stored"] = {{{"name", "w"}, {"kind", "weight"}}}; },
            "stored[0].kind"}),
    [](const ::testing::TestParamInfo<Damage>& damage) { return std::string(damage.param.name); });

TEST(InventoryJson, DeepNestingInAnAttributeIsRefusedNotFollowed) {
  Json deep = 1;
  for (int level = 0; level < 10'000; ++level) {
    deep = Json::array({std::move(deep)});
  }
  Json json = toJson(sample());
  firstNode(json)["attrs"]["a"] = std::move(deep);
  firstNode(json).erase("args_full");
  firstNode(json)["inputs"].erase(1);
  const auto read = inventoryFromJson(json);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("attrs.a"));
}

}  // namespace
}  // namespace neuroncheck

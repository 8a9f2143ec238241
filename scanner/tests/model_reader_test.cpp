// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/model_reader.h"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scanner/tests/program_text.h"
#include "scanner/tests/small_catalogue.h"

namespace neuroncheck::scanner::pt2 {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::smallProgram;
using testing::with;

Result<Model> read(const std::string& json, const Limits& limits = {}) {
  const testing::SmallCatalogue catalogue;
  return readModel(PaddedBytes(json), "model", catalogue, limits);
}
std::string errorOf(const std::string& json) {
  const auto model = read(json);
  return model ? "" : model.error().text();
}

/// The small program with `node` between its two nodes, and `value` in its tensor table.
std::string withNode(const std::string& node, const std::string& values = "") {
  std::string json = with(smallProgram(), R"({"target": "torch.ops.aten.relu.default")",
                          node + R"(,{"target": "torch.ops.aten.relu.default")");
  return values.empty()
             ? json
             : with(json, R"("tensor_values": {)", R"("tensor_values": {)" + values + ",");
}
/// Metadata of one more f32[2] tensor.
std::string tensor(const std::string& name) {
  return "\"" + name +
         R"(": {"dtype": 7, "sizes": [{"as_int": 2}], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7})";
}
/// A node `target` over `inputs` that defines the tensor `out`.
std::string node(const std::string& target, const std::string& inputs, const std::string& out) {
  return R"({"target": ")" + target + R"(", "inputs": [)" + inputs +
         R"(], "outputs": [{"as_tensor": {"name": ")" + out + R"("}}], "metadata": {}, "name": ")" +
         out + "\"}";
}

TEST(ReadModel, FillsEverything) {
  const auto model = read(smallProgram());
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->torchVersion, "2.13.0+cpu");
  EXPECT_EQ(model->schemaMinor, 20);
  EXPECT_EQ(model->dialect, "training");
  EXPECT_THAT(model->madeOn, ElementsAre("cpu"));
  EXPECT_EQ(model->nodeCount, 2U);
  EXPECT_EQ(model->jsonBytes, smallProgram().size());
  EXPECT_EQ(model->ranges.at("s0"), (SymRange{1, 64}));
  EXPECT_TRUE(model->notes.empty());
  ASSERT_EQ(model->uses.size(), 2U);
  const OpUse& linear = model->uses[0];
  EXPECT_EQ(linear.op.str(), "aten::linear");
  EXPECT_EQ(linear.id, 0U);
  EXPECT_EQ(linear.module, "lin");
  EXPECT_EQ(linear.moduleType, "torch.nn.modules.linear.Linear");
  EXPECT_EQ(linear.source.str(), "models/net.py:7");
  EXPECT_EQ(linear.lastFrame.line, 134);
  EXPECT_TRUE(linear.inCatalogue);
  EXPECT_FALSE(linear.unused);
  ASSERT_EQ(linear.args.size(), 3U);
  EXPECT_FALSE(linear.args[0].isDefault);
  EXPECT_TRUE(linear.args[2].isDefault);
  EXPECT_EQ(linear.args[2].name, "bias");
  EXPECT_TRUE(std::holds_alternative<NoneValue>(linear.args[2].value));
  EXPECT_EQ(std::get<TensorPtr>(linear.outputs[0])->spec.str(), "f32[s0,3]");
  EXPECT_EQ(std::get<TensorPtr>(linear.outputs[0])->spec.sizes[0].value, 2);
}

TEST(ReadModel, ReadsTheSignature) {
  const auto model = read(smallProgram());
  ASSERT_EQ(model->inputs.size(), 2U);
  EXPECT_EQ(model->inputs[0].kind, "PARAMETER");
  EXPECT_EQ(model->inputs[0].target, "lin.weight");
  EXPECT_EQ(model->inputs[1].kind, "USER_INPUT");
  EXPECT_EQ(model->inputs[1].name, "x");
  ASSERT_EQ(model->outputs.size(), 1U);
  EXPECT_EQ(model->outputs[0].kind, "USER_OUTPUT");
  EXPECT_EQ(model->outputs[0].name, "relu");
  ASSERT_EQ(model->stored.size(), 1U);
  EXPECT_EQ(model->stored[0].name, "lin.weight");
  EXPECT_TRUE(model->stored[0].isParameter);
}

TEST(ReadModel, CountsATiedParameterOnce) {
  std::string json = with(
      smallProgram(), R"({"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}])",
      R"({"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "p_w2"}}, {"as_tensor": {"name": "x"}}])");
  json = with(json, R"("tensor_values": {)", R"("tensor_values": {)" + tensor("p_w2") + ",");
  json = with(
      json, R"({"user_input")",
      R"({"parameter": {"arg": {"name": "p_w2"}, "parameter_name": "lin.weight"}}, {"user_input")");
  const auto model = read(json);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->inputs.size(), 3U);
  EXPECT_EQ(model->stored.size(), 1U);
}

TEST(ReadModel, SharesOneTensorBetweenItsUses) {
  const auto model = read(smallProgram());
  EXPECT_EQ(std::get<TensorPtr>(model->uses[0].outputs[0]),
            std::get<TensorPtr>(model->uses[1].args[0].value));
}

TEST(ReadModel, VersionsDecideWhetherItIsRead) {
  const auto version = [](std::string_view text) {
    return with(smallProgram(), R"({"major": 8, "minor": 20})", text);
  };
  EXPECT_THAT(
      errorOf(version(R"({"major": 9, "minor": 1})")),
      HasSubstr("schema 9.1 is not read; this version reads schema 8.x (known up to 8.20)"));
  EXPECT_THAT(errorOf(version("4")), HasSubstr("schema 4.0 is not read"));
  EXPECT_THAT(errorOf(version(R"({"major": 0, "minor": 1})")), HasSubstr("schema 0.1 is not read"));
  EXPECT_THAT(read(version(R"({"major": 8, "minor": 21})"))->notes,
              Contains(HasSubstr("newer than the known 8.20")));
  EXPECT_THAT(read(version(R"({"major": 0, "minor": 0})"))->notes,
              Contains(HasSubstr("0.0 is not a real version")));
  EXPECT_TRUE(read(version(R"({"major": 8, "minor": 2})"))->notes.empty());
}

TEST(ReadModel, OptionalFieldsMayBeAbsent) {
  std::string json = with(smallProgram(), R"(, "guards_code": [])", "");
  json = with(json, R"(, "torch_version": "2.13.0+cpu")", "");
  json = with(json, R"(, "sym_float_values": {})", "");
  json = with(json, R"(, "name": "relu")", "");
  json = with(json, R"("verifiers": ["TRAINING"])", R"("dialect": "ATEN")");
  json =
      with(json, R"("range_constraints")", R"("some_new_field": {"a": [1]}, "range_constraints")");
  const auto model = read(json);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->torchVersion, "<=2.4");
  EXPECT_EQ(model->dialect, "aten");
}

TEST(ReadModel, ErrorsNameTheNodeAndTheField) {
  EXPECT_THAT(errorOf(with(smallProgram(), R"("torch.ops.aten.relu.default")", "7")),
              HasSubstr("node 1"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"("torch.ops.aten.relu.default")", "7")),
              HasSubstr("target is an integer, a string was expected"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"({"as_tensor": {"name": "linear"}}, "kind")",
                           R"({"as_tensor": {"name": "lost"}}, "kind")")),
              HasSubstr("there is no value named 'lost'"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"("graph_module")", R"("graph_modula")")),
              HasSubstr("the program has no 'graph_module'"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"({"as_tensor": {"name": "x"}}, "kind")",
                           R"({"as_tensor": {"name": "x"}, "as_int": 1}, "kind")")),
              HasSubstr("has 2 members"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"({"as_int": 3}, {"as_int": 4})",
                           R"({"as_int": -3}, {"as_int": 4})")),
              HasSubstr("size is negative"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"("strides": [{"as_int": 4}, {"as_int": 1}])",
                           R"("strides": [{"as_int": 4}])")),
              HasSubstr("2 sizes but 1 strides"));
  EXPECT_THAT(
      errorOf(with(smallProgram(), "Symbol('s0', positive=True, integer=True)", "Symbol('s0'")),
      HasSubstr("expression"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"("p_w": {)", R"("x": {)")),
              HasSubstr("value 'x' of tensor_values is there twice"));
  EXPECT_THAT(
      errorOf(with(smallProgram(), R"("name": "relu"})", R"("name": "relu", "target": "a"})")),
      HasSubstr("occurs twice"));
  EXPECT_THAT(
      errorOf(with(smallProgram(), R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})", "")),
      HasSubstr("JSON"));
  EXPECT_THAT(errorOf(with(smallProgram(),
                           R"(, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})", "")),
              HasSubstr("input_specs has 1 entries, the graph has 2"));
}

TEST(ReadModel, ValuesAreDefinedOnceAndBeforeUse) {
  EXPECT_THAT(
      errorOf(with(smallProgram(), R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata")",
                   R"("outputs": [{"as_tensor": {"name": "linear"}}], "metadata")")),
      HasSubstr("'linear' is defined twice"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"({"as_tensor": {"name": "x"}}, "kind")",
                           R"({"as_tensor": {"name": "relu"}}, "kind")")),
              HasSubstr("'relu' is read before anything defines it"));
}

TEST(ReadModel, DeepNestingIsAnError) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(errorOf(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(errorOf(with(smallProgram(), R"("guards_code": [])", R"("guards_code": )" + deep)),
              HasSubstr("nested too deeply"));
}

/// `count` times `element`, as a JSON array.
std::string arrayOf(std::size_t count, const std::string& element) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + element;
  }
  return text + "]";
}
std::string withList(const std::string& kind, const std::string& list) {
  return withNode(node("torch.ops.aten.f.default",
                       R"({"name": "n", "arg": {")" + kind + "\": " + list + "}}", "extra"),
                  tensor("extra"));
}

TEST(ReadModel, ListsAreBounded) {
  const std::pair<const char*, const char*> kinds[] = {{"as_ints", "0"},
                                                       {"as_floats", "0.5"},
                                                       {"as_bools", "true"},
                                                       {"as_strings", "\"\""},
                                                       {"as_sym_ints", "{\"as_int\": 0}"},
                                                       {"as_tensors", "{\"name\": \"x\"}"}};
  for (const auto& [kind, element] : kinds) {
    EXPECT_THAT(errorOf(withList(kind, arrayOf(65'537, element))),
                AllOf(HasSubstr("has more than 65536 elements"), HasSubstr(kind)));
  }
  const auto model = read(withList("as_ints", arrayOf(65'536, "0")));
  EXPECT_TRUE(model) << model.error().text();
  const std::string nested = "[" + arrayOf(65'537, "0") + "]";
  EXPECT_THAT(errorOf(withList("as_int_lists", nested)), HasSubstr("more than 65536 elements"));
}

TEST(ReadModel, ListsOfAModelAreBoundedTogether) {
  const std::string many = arrayOf(62, arrayOf(65'536, "0"));
  EXPECT_THAT(errorOf(withList("as_int_lists", many)), HasSubstr("more than 4000000 elements"));
  EXPECT_EQ(errorOf(withList("as_int_lists", arrayOf(60, arrayOf(65'536, "0")))), "");
}

TEST(ReadModel, SizesAreBounded) {
  const std::string sizes = R"([{"as_int": 2}])";
  const std::string many = with(tensor("extra"), sizes, arrayOf(65'537, R"({"as_int": 2})"));
  EXPECT_THAT(errorOf(withNode(node("torch.ops.aten.f.default", "", "extra"), many)),
              HasSubstr("more than 65536 elements"));
}

TEST(ReadModel, BrokenJsonIsAnError) {
  EXPECT_THAT(errorOf(""), HasSubstr("not well formed"));
  EXPECT_THAT(errorOf("[]"), HasSubstr("the program is an array, an object was expected"));
  EXPECT_THAT(errorOf(smallProgram().substr(0, 2000)), HasSubstr("not well formed"));
  EXPECT_THAT(errorOf("{\"a\": \"\xff\"}"), HasSubstr("not well formed"));
}

TEST(ReadModel, UnknownArgumentKindsAreKeptAsText) {
  const auto model = read(with(
      smallProgram(), R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1})",
      R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1}, {"name": "", "arg": {"as_marvel": {"a": [1, 2]}}})"));
  ASSERT_TRUE(model) << model.error().text();
  const auto& opaque = std::get<OpaqueValue>(model->uses[1].args[1].value);
  EXPECT_EQ(opaque.kind, "as_marvel");
  EXPECT_EQ(opaque.json, R"({"a":[1,2]})");
  EXPECT_THAT(model->notes, Contains(HasSubstr("argument kind 'as_marvel' is not known")));
}

TEST(ReadModel, ArgumentsOutsideTheSchemaAreLeftOutAndNoted) {
  const auto model = read(with(
      smallProgram(), R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1})",
      R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1}, {"name": "approximate", "arg": {"as_string": "tanh"}})"));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->uses[1].args.size(), 1U);
  EXPECT_THAT(model->notes, Contains(HasSubstr("argument 'approximate' of aten::relu")));
}

TEST(ReadModel, NonFiniteFloatsComeAsStringsOrBare) {
  const auto scalar = [](const std::string& value) {
    return withNode(
        node(
            "torch.ops.aten.mul.Scalar",
            R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}}, {"name": "other", "arg": {"as_float": )" +
                value + "}}",
            "extra"),
        tensor("extra"));
  };
  const auto valueOf = [&](const std::string& value) {
    const auto model = read(scalar(value));
    return model ? std::get<SymFloat>(model->uses[1].args[1].value).value : 0.0;
  };
  EXPECT_EQ(valueOf(R"("Infinity")"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(valueOf(R"("-Infinity")"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(valueOf(R"("NaN")")));
  EXPECT_EQ(valueOf("-Infinity"),
            -std::numeric_limits<double>::infinity());  // as torch 2.6 wrote it
  EXPECT_TRUE(std::isnan(valueOf("NaN")));
  EXPECT_EQ(valueOf("2.5"), 2.5);
  EXPECT_THAT(errorOf(scalar(R"("much")")), HasSubstr("a number was expected"));
}

TEST(ReadModel, MarksWhatNothingReads) {
  const auto pure =
      read(withNode(node("torch.ops.aten.gelu.default",
                         R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}})", "extra"),
                    tensor("extra")));
  ASSERT_TRUE(pure) << pure.error().text();
  EXPECT_TRUE(pure->uses[1].unused);
  EXPECT_FALSE(pure->uses[0].unused);
  EXPECT_FALSE(pure->uses[2].unused);  // a graph output
  const auto inplace =
      read(withNode(node("torch.ops.aten.relu_.default",
                         R"({"name": "self", "arg": {"as_tensor": {"name": "linear"}}})", "extra"),
                    tensor("extra")));
  EXPECT_FALSE(inplace->uses[1].unused);
  const auto unknown =
      read(withNode(node("torch.ops.lib.stamp.default",
                         R"({"name": "x", "arg": {"as_tensor": {"name": "linear"}}})", "extra"),
                    tensor("extra")));
  EXPECT_FALSE(unknown->uses[1].unused);  // may write to its input
  EXPECT_FALSE(unknown->uses[1].inCatalogue);
}

TEST(ReadModel, WalksSubgraphsWithTablesOfTheirOwn) {
  const auto graph = [](const std::string& name, const std::string& op) {
    return R"({"name": "", "arg": {"as_graph": {"name": ")" + name +
           R"(", "graph": {"inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "linear"}}], "nodes": [)" +
           node(op, R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}})", "linear") +
           R"(], "tensor_values": {)" + tensor("x") + "," + tensor("linear") + "}}}}}";
  };
  const std::string operands = R"(, {"name": "", "arg": {"as_tensors": [{"name": "linear"}]}})";
  const auto cond =
      read(withNode(node("torch.ops.higher_order.cond",
                         graph("true_graph_0", "torch.ops.aten.relu.default") + "," +
                             graph("false_graph_0", "torch.ops.aten.gelu.default") + operands,
                         "extra"),
                    tensor("extra")));
  ASSERT_TRUE(cond) << cond.error().text();
  EXPECT_THAT(cond->subgraphs, ElementsAre("/true_graph_0", "/false_graph_0"));
  ASSERT_EQ(cond->uses.size(), 4U);
  EXPECT_EQ(cond->uses[1].graph, "/true_graph_0");
  EXPECT_EQ(cond->uses[1].node, "linear");
  EXPECT_TRUE(cond->uses[1].conditional);
  EXPECT_FALSE(cond->uses[1].inLoop);
  EXPECT_EQ(std::get<TensorPtr>(cond->uses[1].outputs[0])->spec.str(), "f32[2]");
  EXPECT_EQ(cond->uses[2].op.str(), "aten::gelu");
  EXPECT_FALSE(cond->uses[3].conditional);
  EXPECT_EQ(cond->nodeCount, 5U);
  ASSERT_EQ(cond->higherOrder.size(), 1U);
  EXPECT_EQ(cond->higherOrder[0].name, "cond");
  EXPECT_EQ(std::get<GraphRef>(cond->higherOrder[0].args[1].value).path, "/false_graph_0");
  for (const std::string loop : {"while_loop", "scan", "map_impl", "associative_scan"}) {
    const auto model =
        read(withNode(node("torch.ops.higher_order." + loop,
                           graph("body", "torch.ops.aten.relu.default") + operands, "extra"),
                      tensor("extra")));
    EXPECT_TRUE(model->uses[1].inLoop) << loop;
    EXPECT_FALSE(model->uses[1].conditional) << loop;
  }
  const auto wrap =
      read(withNode(node("torch.ops.higher_order.wrap_with_autocast",
                         graph("submod_1", "torch.ops.aten.relu.default") + operands, "extra"),
                    tensor("extra")));
  EXPECT_FALSE(wrap->uses[1].inLoop || wrap->uses[1].conditional);
}

// The nodes of a subgraph are read before the node that holds it; their places must not become its.
TEST(ReadModel, HigherOrderNodesKeepTheirOwnPlace) {
  const auto place = [](const std::string& json, const std::string& file) {
    return with(
        json, R"("metadata": {})",
        R"j("metadata": {"stack_trace": "File \")j" + file + R"j(\", line 5, in forward"})j");
  };
  const std::string inner = node("torch.ops.aten.gelu.default",
                                 R"({"name": "self", "arg": {"as_tensor": {"name": "y"}}})", "z");
  const std::string body =
      R"({"name": "", "arg": {"as_graph": {"name": "g", "graph": {"inputs": [{"as_tensor": {"name": "y"}}], "outputs": [{"as_tensor": {"name": "z"}}], "nodes": [)" +
      place(inner, "inner.py") + R"(], "tensor_values": {)" + tensor("y") + "," + tensor("z") +
      "}}}}}";
  // The outer node's metadata come after its inputs, so the last empty one is its own.
  const std::string outer = place(node("torch.ops.higher_order.cond", body, "extra"), "outer.py");
  const auto model = read(withNode(outer, tensor("extra")));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->uses[1].source.str(), "inner.py:5");
  ASSERT_EQ(model->higherOrder.size(), 1U);
  EXPECT_EQ(model->higherOrder[0].source.str(), "outer.py:5");
}

TEST(ReadModel, NamesOperatorsHiddenInHigherOrderOnes) {
  const auto model = read(withNode(
      node(
          "torch.ops.higher_order.auto_functionalized_v2",
          R"({"name": "", "arg": {"as_operator": "torch.ops.lib.acc_.default"}, "kind": 1}, {"name": "x", "arg": {"as_tensor": {"name": "linear"}}, "kind": 2})",
          "extra"),
      tensor("extra")));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(std::get<OperatorRef>(model->higherOrder[0].args[0].value).target,
            "torch.ops.lib.acc_.default");
  EXPECT_THAT(model->notes,
              Contains(HasSubstr("operator lib::acc_ is called inside auto_functionalized_v2")));
  EXPECT_EQ(model->uses.size(), 2U);
}

TEST(ReadModel, CountsScalarOperators) {
  const std::string scalar =
      R"({"target": "_operator.mul", "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "n"}}}, {"name": "b", "arg": {"as_int": 2}}], "outputs": [{"as_sym_int": {"as_name": "m"}}], "metadata": {}, "name": "m"})";
  const std::string size =
      R"({"target": "torch.ops.aten.sym_size.int", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}, {"name": "dim", "arg": {"as_int": 0}}], "outputs": [{"as_sym_int": {"as_name": "n"}}], "metadata": {}, "name": "n"})";
  const std::string symbols =
      R"json("sym_int_values": {"n": {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}, "m": {"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0', positive=True, integer=True))", "hint": null}}})json";
  const std::string json = with(withNode(size + "," + scalar), R"("sym_int_values": {})", symbols);
  const auto model = read(json);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->scalarOps.at("_operator.mul"), 1);
  EXPECT_EQ(model->uses[1].group, OpGroup::Symbolic);
  const auto& symbol = std::get<SymIntValue>(model->uses[1].outputs[0]);
  EXPECT_EQ(symbol.name, "n");
  EXPECT_EQ(symbol.value.str(), "s0");
  EXPECT_TRUE(symbol.value.hasHint);
  EXPECT_TRUE(model->notes.empty());
  EXPECT_THAT(read(with(json, "_operator.mul", "what.ever"))->notes,
              Contains(HasSubstr("of no known form")));
}

TEST(ReadModel, ReadsExtensionOperators) {
  const auto model = read(with(smallProgram(), "torch.ops.aten.relu.default", "#edge:relu"));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->uses[1].op.str(), "edge::relu");
}

TEST(ReadModel, UnknownDtypesAreShownAsUnknown) {
  const auto model =
      read(with(smallProgram(), R"("relu": {"dtype": 7)", R"("relu": {"dtype": 99)"));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(std::get<TensorPtr>(model->uses[1].outputs[0])->spec.dtype, DType::Unknown);
  EXPECT_THAT(model->notes, Contains(HasSubstr("dtype code 99")));
}

TEST(ReadModel, RangesWithoutABoundAreOpen) {
  const auto ranges = [](const std::string& text) {
    return read(with(smallProgram(), R"({"min_val": 1, "max_val": 64})", text))->ranges.at("s0");
  };
  EXPECT_EQ(ranges(R"({"min_val": null, "max_val": null})"), SymRange{});
  EXPECT_EQ(ranges(R"({"min_val": 2, "max_val": Infinity})"), (SymRange{2, std::nullopt}));
  EXPECT_EQ(ranges(R"({"min_val": 2, "max_val": 18446744073709551615})"),
            (SymRange{2, std::nullopt}));
}

TEST(ReadModel, PlainExpressionsOfOldSchemasAreRead) {
  const auto model =
      read(with(smallProgram(), "Symbol('s0', positive=True, integer=True)", "2*s0 + 1"));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(std::get<TensorPtr>(model->uses[0].outputs[0])->spec.sizes[0].str(), "2*s0 + 1");
}

TEST(ReadModel, NotesAreBounded) {
  std::string nodes;
  std::string values;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "extra" + std::to_string(i);
    nodes += (nodes.empty() ? "" : ",") +
             node("torch.ops.higher_order.h",
                  R"({"name": "", "arg": {"as_operator": "torch.ops.lib.f.default"}})", name);
    values += (values.empty() ? "" : ",") + tensor(name);
  }
  const auto model = read(withNode(nodes, values));
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_EQ(model->notes.size(), 101U);
  EXPECT_EQ(model->notes.back(), "200 more remarks of the reader are left out");
}

}  // namespace
}  // namespace neuroncheck::scanner::pt2

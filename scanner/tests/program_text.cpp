// SPDX-License-Identifier: Apache-2.0
#include "scanner/tests/program_text.h"

#include "core/result.h"
#include "scanner/tests/zip_writer.h"

namespace neuroncheck::scanner::testing {

std::string with(std::string text, std::string_view from, std::string_view to) {
  std::size_t position = text.find(from);
  NEURONCHECK_CHECK(position != std::string::npos, from);
  while (position != std::string::npos) {
    text.replace(position, from.size(), to);
    position = text.find(from, position + to.size());
  }
  return text;
}

std::string smallProgram() {
  return R"json({"graph_module": {"graph": {
  "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
  "outputs": [{"as_tensor": {"name": "relu"}}],
  "nodes": [
    {"target": "torch.ops.aten.linear.default",
     "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                {"name": "weight", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "linear"}}],
     "metadata": {"stack_trace": "File \"models/net.py\", line 7, in forward\n    y = self.lin(x)\n  File \"site-packages/torch/nn/modules/linear.py\", line 134, in forward\n    return F.linear(input)",
                  "nn_module_stack": "L__self__,,net.Net;L__self___lin,lin,torch.nn.modules.linear.Linear"},
     "is_hop_single_tensor_return": null, "name": "linear"},
    {"target": "torch.ops.aten.relu.default",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}, "is_hop_single_tensor_return": null, "name": "relu"}],
  "tensor_values": {
    "p_w": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 4}], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 4}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7},
    "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}, {"as_int": 4}], "requires_grad": false, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 4}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7},
    "linear": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}, {"as_int": 3}], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7},
    "relu": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}, {"as_int": 3}], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}},
  "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}, "sym_float_values": {}},
 "signature": {
  "input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "lin.weight"}}, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
  "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]},
 "module_call_graph": [], "metadata": {}, "treespec_namedtuple_fields": {}},
 "opset_version": {"aten": 10}, "range_constraints": {"s0": {"min_val": 1, "max_val": 64}},
 "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0+cpu", "guards_code": []})json";
}

std::string smallWeightsConfig() {
  return R"json({"config": {"lin.weight": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 4}], "requires_grad": true, "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 4}, {"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})json";
}

std::string smallArchive(std::string_view programJson) {
  return ZipWriter()
      .add("m/data/weights/weight_0", std::string(48, '\0'))
      .add("m/data/weights/model_weights_config.json", smallWeightsConfig())
      .add("m/data/constants/model_constants_config.json", R"({"config": {}})")
      .add("m/models/model.json", programJson)
      .add("m/archive_format", "pt2")
      .add("m/archive_version", "0")
      .add("m/.data/version", "6\n")
      .finish();
}

}  // namespace neuroncheck::scanner::testing

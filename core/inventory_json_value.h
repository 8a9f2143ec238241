// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/inventory_json.h"
#include "core/json_reader.h"

/// The codec of argument values behind inventory_json.h; not for other rooms.
namespace neuroncheck::json_detail {

/// What reading needs beside the JSON: the first error, hints of symbols, and expressions already
/// parsed.
struct ReadContext {
  JsonScan scan;
  std::map<std::string, std::int64_t, std::less<>> hints;
  std::map<std::string, SymExprPtr, std::less<>> expressions;
};

/// Where the graph values of a node are listed while its arguments or results are written.
struct GraphValueList {
  Json items = Json::array();
  /// True for results: a place without a graph value is listed as null, so that positions stay
  /// those of the flat result.
  bool keepNulls = false;
};

/// True when a tensor, a named symbolic value or a custom object is anywhere in the value.
[[nodiscard]] bool containsGraphValue(const ArgValue& value);
/// The reading form of an argument that holds no graph value, as `attrs` has it: 1, 0.5, "inf", [1,
/// 2], "torch.float32".
[[nodiscard]] Json plainValue(const ArgValue& value);
/// True when plainValue (or, for a single graph value, its entry in `inputs`) is all that readPlain
/// needs.
[[nodiscard]] bool plainIsExact(std::string_view argument, const ArgValue& value);
/// The form that loses nothing: null or {"ints": [...]} and the like. With a list, graph values go
/// there (marked with `argument` unless it is empty) and {"ref": index} stands in their place.
[[nodiscard]] Json exactValue(const ArgValue& value, GraphValueList* list,
                              std::string_view argument = {});

[[nodiscard]] ArgValue readPlain(ReadContext& context, const Json& json, const JsonPath& path,
                                 std::string_view argument);
/// `items` are the graph values that {"ref": index} speaks of.
[[nodiscard]] ArgValue readExact(ReadContext& context, const Json& json, const JsonPath& path,
                                 const std::vector<ArgValue>& items);
/// One entry of `inputs` or `outputs`: a tensor, a symbolic value or a custom object. `argument`
/// receives its "arg".
[[nodiscard]] ArgValue readGraphValue(ReadContext& context, const Json& json, const JsonPath& path,
                                      std::string* argument = nullptr);
/// The fields of a tensor (dtype, shape, strides or `strideKey`, device, layout, offset,
/// requires_grad).
void writeSpec(Json& json, const TensorSpec& spec, std::string_view strideKey = "strides");
[[nodiscard]] TensorSpec readSpec(ReadContext& context, JsonFields& fields,
                                  std::string_view strideKey = "strides");
[[nodiscard]] Device parseDevice(std::string_view text);

}  // namespace neuroncheck::json_detail

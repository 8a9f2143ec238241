// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/model_reader.h"

#include <limits>
#include <utility>

#include "scanner/pt2/document.h"
#include "scanner/pt2/graph_reader.h"
#include "scanner/pt2/signature.h"

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<8>::Names kProgram = {"graph_module",   "opset_version", "range_constraints",
                                       "schema_version", "verifiers",     "torch_version",
                                       "guards_code",    "dialect"};
enum ProgramField : std::size_t {
  ProgramGraphModule,
  ProgramOpset,
  ProgramRanges,
  ProgramVersion,
  ProgramVerifiers,
  ProgramTorchVersion,
  ProgramGuards,
  ProgramDialect
};
constexpr Fields<2>::Names kModule = {"graph", "signature"};
constexpr Fields<2>::Names kVersionFields = {"major", "minor"};
constexpr Fields<2>::Names kRange = {"min_val", "max_val"};

Result<std::vector<std::string>> stringList(Json value, std::string_view what) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(value, what));
  std::vector<std::string> result;
  for (const Json item : array) {
    NEURONCHECK_TRY(const std::string_view text, asString(item, what));
    result.emplace_back(text);
  }
  return result;
}

/// The schema version must be one this reader understands: a wrong guess would be a wrong
/// inventory.
Result<void> readVersion(const Fields<8>& program, Model& model, Notes& notes) {
  NEURONCHECK_TRY(const Json version, program.need(ProgramVersion, kProgram, "the program"));
  if (version.is_int64()) {  // before 2.3 the version was one number
    NEURONCHECK_TRY(model.schemaMajor, asInt(version, "schema_version"));
  } else {
    NEURONCHECK_TRY(const auto fields, Fields<2>::read(version, kVersionFields, "schema_version"));
    NEURONCHECK_TRY(const Json major, fields.need(0, kVersionFields, "schema_version"));
    NEURONCHECK_TRY(const Json minor, fields.need(1, kVersionFields, "schema_version"));
    NEURONCHECK_TRY(model.schemaMajor, asInt(major, "major"));
    NEURONCHECK_TRY(model.schemaMinor, asInt(minor, "minor"));
  }
  if (model.schemaMajor == 0 && model.schemaMinor == 0) {
    notes.add(fmt::format("export schema 0.0 is not a real version; read as {}.{}, as torch does",
                          kSchemaMajor, kSchemaMinor));
    return {};
  }
  if (model.schemaMajor != kSchemaMajor) {
    return inputError(fmt::format(
        "export schema {}.{} is not read; this version reads schema {}.x (known up to {}.{}). "
        "Export the model again "
        "with a torch of that schema",
        model.schemaMajor, model.schemaMinor, kSchemaMajor, kSchemaMajor, kSchemaMinor));
  }
  if (model.schemaMinor > kSchemaMinor) {
    notes.add(fmt::format(
        "export schema {}.{} is newer than the known {}.{}; fields added since are not shown",
        model.schemaMajor, model.schemaMinor, kSchemaMajor, kSchemaMinor));
  }
  return {};
}

/// An end of a range; anything that is no 64-bit integer (null, infinities as text or number) is
/// unbounded.
std::optional<std::int64_t> bound(Json value) {
  std::int64_t number = 0;
  return value.get(number) == simdjson::SUCCESS ? std::optional(number) : std::nullopt;
}

Result<void> readRanges(Json value, Model& model) {
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(value, "range_constraints"));
  for (const simdjson::dom::key_value_pair pair : object) {
    NEURONCHECK_TRY(const auto fields, Fields<2>::read(pair.value, kRange, "a range constraint"));
    model.ranges[std::string(pair.key)] =
        SymRange{.min = fields.has(0) ? bound(fields[0]) : std::nullopt,
                 .max = fields.has(1) ? bound(fields[1]) : std::nullopt};
  }
  return {};
}

std::string dialectOf(const Model& model, std::string_view oldField) {
  std::vector<std::string> words = model.verifiers;
  if (words.empty() && !oldField.empty()) {
    words.emplace_back(oldField);
  }
  std::string joined;
  for (const std::string& word : words) {
    joined += (joined.empty() ? "" : "+") + word;
  }
  if (joined == "TRAINING") {
    return "training";
  }
  if (joined == "ATEN") {
    return "aten";
  }
  return joined.empty() ? "unknown" : joined;
}

/// Everything beside the graph.
Result<void> readFacts(const Fields<8>& program, Model& model) {
  if (program.has(ProgramOpset)) {
    NEURONCHECK_TRY(const simdjson::dom::object opset,
                    asObject(program[ProgramOpset], "opset_version"));
    for (const simdjson::dom::key_value_pair pair : opset) {
      NEURONCHECK_TRY(model.opsetVersion[std::string(pair.key)],
                      asInt(pair.value, "opset_version"));
    }
  }
  if (program.has(ProgramRanges)) {
    NEURONCHECK_TRY_VOID(readRanges(program[ProgramRanges], model));
  }
  if (program.has(ProgramVerifiers)) {
    NEURONCHECK_TRY(model.verifiers, stringList(program[ProgramVerifiers], "verifiers"));
  }
  if (program.has(ProgramGuards)) {
    NEURONCHECK_TRY(model.guards, stringList(program[ProgramGuards], "guards_code"));
  }
  model.torchVersion = "<=2.4";  // the schema's own default
  if (program.has(ProgramTorchVersion)) {
    NEURONCHECK_TRY(model.torchVersion, asString(program[ProgramTorchVersion], "torch_version"));
  }
  std::string_view dialect;
  if (program.has(ProgramDialect)) {
    NEURONCHECK_TRY(dialect, asString(program[ProgramDialect], "dialect"));
  }
  model.dialect = dialectOf(model, dialect);
  return {};
}

}  // namespace

Result<Model> readModel(const PaddedBytes& json, std::string_view name, const SchemaSource& schemas,
                        const Limits& limits) {
  NEURONCHECK_TRY(const Document document, Document::parse(json, limits.maxDepth));
  Model model;
  model.name = name;
  model.jsonBytes = json.size();
  ModelContext context(schemas, model);
  NEURONCHECK_TRY(const auto program, Fields<8>::read(document.root(), kProgram, "the program"));
  NEURONCHECK_TRY_VOID(readVersion(program, model, context.notes));
  NEURONCHECK_TRY_VOID(readFacts(program, model));
  NEURONCHECK_TRY(const Json moduleField,
                  program.need(ProgramGraphModule, kProgram, "the program"));
  NEURONCHECK_TRY(const auto module, Fields<2>::read(moduleField, kModule, "graph_module"));
  NEURONCHECK_TRY(const Json graph, module.need(0, kModule, "graph_module"));
  GraphReader reader(context, GraphPlace{});
  NEURONCHECK_TRY_VOID(reader.read(graph));
  NEURONCHECK_TRY(const Json signature, module.need(1, kModule, "graph_module"));
  NEURONCHECK_TRY_VOID(
      readSignature(signature, reader.inputs(), reader.outputs(), model, context.notes));
  model.madeOn.assign(context.values.deviceTypes().begin(), context.values.deviceTypes().end());
  context.notes.moveTo(model.notes);
  return model;
}

}  // namespace neuroncheck::scanner::pt2

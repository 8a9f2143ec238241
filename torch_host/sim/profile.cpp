// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/profile.h"

#include <array>

#include "core/dtype.h"
#include "core/enum_table.h"
#include "core/json_reader.h"
#include "core/op_name.h"

namespace neuroncheck::sim {
namespace {

using Json = JsonFields::Json;

constexpr EnumWords<52> kFaultKinds{
    "error",
    "late-error",
    "fallback-raises",
    "segv",
    "abort",
    "exit",
    "sigkill",
    "stack-overflow",
    "hang",
    "hang-with-output",
    "slow",
    "oom",
    "leak",
    "poison",
    "silent-cpu",
    "ignore-strides",
    "noop-inplace",
    "bf16-inputs",
    "fp16-inputs",
    "tf32-inputs",
    "ftz-inputs",
    "truncation",
    "stochastic-rounding",
    "int-through-float",
    "int64-as-int32",
    "bf16-accumulation",
    "bf16-tile-accumulation",
    "fp16-accumulation",
    "wrong-value",
    "wrong-one-element",
    "wrong-gradient",
    "nan",
    "inf",
    "inf-to-max",
    "nan-spread",
    "zeros",
    "uninitialised",
    "stale-output",
    "bf16-output",
    "fp16-output",
    "tf32-output",
    "ftz",
    "shape0",
    "empty-output",
    "wrong-shape",
    "wrong-dtype",
    "wrong-strides",
    "alias-lost",
    "alias-output",
    "mutates-input",
    "flaky",
    "order-dependent",
};
static_assert(kFaultKinds.size() == static_cast<std::size_t>(FaultKind::OrderDependent) + 1);

constexpr EnumWords<4> kPolicies{"silent", "warn", "warn-always", "raise"};
constexpr EnumWords<3> kLists{"counts", "sets", "none"};
constexpr EnumWords<2> kOnFailure{"raise", "cpu"};
constexpr EnumWords<3> kPhases{"any", "forward", "backward"};
constexpr EnumWords<3> kSides{"all", "read", "written"};
constexpr EnumWords<2> kPer{"call", "process"};
constexpr EnumWords<4> kWhen{"nan", "inf", "-inf", "zero"};
constexpr EnumWords<2> kThen{"raise", "garbage"};
constexpr EnumWords<2> kArithmetic{"cpu", "wide"};
constexpr EnumWords<2> kStages{"run", "compile"};
constexpr EnumWords<7> kErrorTypes{"runtime", "not-implemented", "index",        "value",
                                   "type",    "linalg",          "out-of-memory"};

template <typename E, std::size_t N>
E wordOr(JsonFields& fields, const char* key, const EnumWords<N>& words, E fallback) {
  if (fields.optional(key) == nullptr) {
    return fallback;
  }
  const std::string text = fields.string(key);
  const auto found = enumOf<E>(words, text);
  if (!found) {
    fields.fail(key, "unknown word '" + text + "'");
    return fallback;
  }
  return *found;
}

std::optional<std::int64_t> integer(JsonFields& fields, const char* key) {
  if (fields.optional(key) == nullptr) {
    return std::nullopt;
  }
  return fields.integer(key);
}

std::vector<std::int64_t> integers(JsonFields& fields, const char* key) {
  std::vector<std::int64_t> out;
  fields.eachElement(key, [&](const Json& value, const JsonPath& /*path*/) {
    const auto number = jsonInteger(value);
    if (!number) {
      fields.fail(key, "not a list of integers");
    }
    out.push_back(number.value_or(0));
  });
  return out;
}

Selector readSelector(JsonFields& fields) {
  Selector out;
  const std::string op = fields.string("op");
  const auto parsed = OpName::parse(op);
  if (!parsed) {
    fields.fail("op", "not an operator name: '" + op + "'");
  } else {
    out.packet = parsed->packet();
    // "aten::relu.default" means the default overload, "aten::relu" any.
    if (!parsed->overload.empty() || op.ends_with(".default")) {
      out.overload = parsed->overload;
    }
  }
  if (fields.optional("overload") != nullptr) {
    const std::string overload = fields.string("overload");
    out.overload = overload == "default" ? "" : overload;
  }
  out.dtype = fields.stringOr("dtype", "");
  const auto dtype = parseDType(out.dtype);
  if (!out.dtype.empty() && !dtype) {
    fields.fail("dtype", "unknown dtype '" + out.dtype + "'");
  } else if (dtype) {
    out.dtype = neuroncheck::name(*dtype);
  }
  if (fields.optional("shape") != nullptr) {
    out.shape = integers(fields, "shape");
  }
  out.minRank = integer(fields, "min_rank");
  if (fields.optional("dim_at_least") != nullptr) {
    const auto pair = integers(fields, "dim_at_least");
    if (pair.size() != 2) {
      fields.fail("dim_at_least", "not [dimension, size]");
    } else {
      out.dimAtLeast = {pair[0], pair[1]};
    }
  }
  if (fields.optional("strides") != nullptr) {
    out.noncontiguous = true;
    if (fields.string("strides") != "noncontiguous") {
      fields.fail("strides", "only 'noncontiguous' can be asked for");
    }
  }
  return out;
}

Failure readFailure(JsonFields& fields, std::string message) {
  Failure out;
  out.message = fields.stringOr("message", message);
  out.type = wordOr(fields, "error", kErrorTypes, ErrorType::Runtime);
  const bool soundsLikeIt = out.message.find("NCC_") != std::string::npos ||
                            out.message.find("ompil") < out.message.size();
  out.compiler = wordOr(fields, "stage", kStages, soundsLikeIt ? 1 : 0) == 1;
  return out;
}

Refusal readRefusal(JsonScan& scan, const Json& json, const JsonPath& path) {
  JsonFields fields(scan, json, path);
  Refusal out;
  out.calls = readSelector(fields);
  if (!fields.has("message")) {
    fields.fail("message", "missing");
  }
  out.failure = readFailure(fields, "");
  fields.finish();
  return out;
}

FaultKind readKind(JsonFields& fields, const char* key, FaultKind fallback) {
  return wordOr(fields, key, kFaultKinds, fallback);
}

void checkKind(JsonFields& fields, const Fault& fault, FaultKind written) {
  const bool isTimed = fault.kind == FaultKind::Flaky || fault.kind == FaultKind::OrderDependent;
  if (isTimed) {
    fields.fail("as", "must be a kind of its own");
  }
  if (written == FaultKind::Flaky && !fault.probability) {
    fields.fail("probability", "missing: how often it is wrong");
  }
  if (written == FaultKind::OrderDependent && fault.after.empty()) {
    fields.fail("after", "missing: the operator after which it fails");
  }
  if (fault.probability && (*fault.probability < 0 || *fault.probability > 1)) {
    fields.fail("probability", "not between 0 and 1");
  }
}

Fault readFault(JsonScan& scan, const Json& json, const JsonPath& path) {
  JsonFields fields(scan, json, path);
  Fault out;
  if (!fields.has("kind")) {
    fields.fail("kind", "missing");
  }
  const FaultKind written = readKind(fields, "kind", FaultKind::WrongValue);
  const bool timed = written == FaultKind::Flaky || written == FaultKind::OrderDependent;
  out.kind = timed ? readKind(fields, "as", FaultKind::WrongValue) : written;
  out.calls = readSelector(fields);
  out.phase = wordOr(fields, "phase", kPhases, Phase::Any);
  if (const Json* probability = fields.optional("probability")) {
    out.probability = jsonDouble(*probability);
    if (!out.probability) {
      fields.fail("probability", "not a number");
    }
  }
  out.nth = integer(fields, "nth");
  out.after = fields.stringOr("after", "");
  out.perProcess = wordOr(fields, "per", kPer, 0) == 1;
  out.failure = readFailure(fields, "neuron_sim: injected error");
  out.exitCode = static_cast<int>(fields.integerOr("code", out.exitCode));
  out.milliseconds = fields.integerOr("milliseconds", out.milliseconds);
  out.mebibytes = fields.integerOr("mebibytes", out.mebibytes);
  out.ulps = fields.integerOr("ulps", 0);
  out.element = integer(fields, "element");
  out.operands = wordOr(fields, "operands", kSides, Side::All);
  out.garbage = wordOr(fields, "then", kThen, 0) == 1;
  checkKind(fields, out, written);
  fields.finish();
  return out;
}

SpecialValue readSpecialValue(JsonScan& scan, const Json& json, const JsonPath& path) {
  JsonFields fields(scan, json, path);
  SpecialValue out;
  out.calls = readSelector(fields);
  if (!fields.has("when")) {
    fields.fail("when", "missing");
  }
  out.when = wordOr(fields, "when", kWhen, SpecialValue::When::Nan);
  const Json* becomes = fields.required("becomes");
  const auto number = becomes == nullptr ? std::optional<double>(0) : jsonDouble(*becomes);
  if (!number) {
    fields.fail("becomes", "not a number");
  }
  out.becomes = number.value_or(0);
  fields.finish();
  return out;
}

template <typename T>
std::vector<T> readList(JsonScan& scan, JsonFields& fields, const char* key,
                        T (*read)(JsonScan&, const Json&, const JsonPath&)) {
  std::vector<T> out;
  if (fields.optional(key) != nullptr) {
    fields.eachElement(key, [&](const Json& value, const JsonPath& path) {
      out.push_back(read(scan, value, path));
    });
  }
  return out;
}

std::unordered_set<std::string> readNames(JsonFields& fields, const char* key) {
  std::unordered_set<std::string> out;
  if (fields.optional(key) == nullptr) {
    return out;
  }
  for (const std::string& name : fields.strings(key)) {
    // "aten::relu.default" is how the default overload is told from the packet.
    out.insert(name);
  }
  return out;
}

Profile readProfile(JsonScan& scan, const Json& json) {
  const JsonPath root;
  JsonFields fields(scan, json, root);
  Profile out;
  out.native = readNames(fields, "native");
  out.allNative = out.native.erase("*") > 0;
  out.unsupported = readNames(fields, "unsupported");
  out.fallback = wordOr(fields, "fallback", kPolicies, FallbackPolicy::Silent);
  out.fallbackCopies = fields.booleanOr("fallback_copies", false);
  out.onFailure = wordOr(fields, "on_failure", kOnFailure, OnFailure::Raise);
  out.narrowInt64 = fields.booleanOr("narrow_int64", false);
  out.narrowFloat64 = fields.booleanOr("narrow_float64", false);
  out.wideArithmetic = wordOr(fields, "arithmetic", kArithmetic, 0) == 1;
  out.latchAfterCompileError = fields.booleanOr("latch_after_compile_error", false);
  out.async = fields.booleanOr("async", false);
  out.lists = wordOr(fields, "lists", kLists, Lists::Counts);
  out.seed = fields.integerOr("seed", 0);
  out.counterFile = fields.stringOr("counter_file", "");
  out.refuse = readList(scan, fields, "refuse", readRefusal);
  out.faults = readList(scan, fields, "faults", readFault);
  out.specialValues = readList(scan, fields, "special_values", readSpecialValue);
  fields.finish();
  return out;
}

}  // namespace

std::string_view name(FaultKind kind) { return enumWord(kFaultKinds, kind); }

Result<Profile> parseProfile(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) {
    return inputError("the profile is not JSON");
  }
  JsonScan scan;
  Profile profile = readProfile(scan, parsed);
  if (scan.failed()) {
    return tl::unexpected(scan.error());
  }
  return profile;
}

}  // namespace neuroncheck::sim

// SPDX-License-Identifier: Apache-2.0
#include "opdb/import_row.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/predicate.h"
#include "opdb/predicate_node.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

tl::unexpected<Error> refuse(std::string reason) {
  return fail(ErrorCode::Usage, std::move(reason));
}

Result<std::string> required(const RowFields& fields, std::string_view column) {
  std::string value = field(fields, column);
  if (value.empty()) {
    return refuse(fmt::format("the field '{}' is empty", column));
  }
  return value;
}

Result<SupportStatus> statusField(const RowFields& fields, std::string_view column) {
  const std::string word = field(fields, column);
  if (const auto status = parseSupportStatus(word)) {
    return *status;
  }
  return refuse(fmt::format(
      "{} '{}' is none of native, partial, decomposed, cpu-fallback, unsupported, unknown", column,
      word));
}

Result<std::string> modeField(const RowFields& fields) {
  std::string mode = field(fields, "mode");
  if (mode == "eager" || mode == "compile" || mode == "any") {
    return mode;
  }
  return refuse(fmt::format("mode '{}' is none of eager, compile, any", mode));
}

struct EvidenceFields {
  std::string kind;
  Confidence confidence = Confidence::None;
  std::string source;
  std::string observed;
};

Result<EvidenceFields> evidenceFields(const RowFields& fields) {
  EvidenceFields evidence;
  NEURONCHECK_TRY(evidence.kind, required(fields, "evidence"));
  evidence.source = field(fields, "source");
  evidence.observed = field(fields, "observed");
  if (lowered(evidence.kind).find("simulat") != std::string::npos ||
      lowered(field(fields, "simulated")) == "true") {
    return refuse("evidence of a simulated device says nothing about a real one");
  }
  const std::string word = field(fields, "confidence");
  const auto confidence = parseConfidence(word);
  if (!confidence) {
    return refuse(fmt::format("confidence '{}' is none of high, medium, low, none", word));
  }
  evidence.confidence = *confidence;
  if (!isDateOrEmpty(evidence.observed)) {
    return refuse(fmt::format("observed '{}' is no date (YYYY-MM-DD)", evidence.observed));
  }
  return evidence;
}

/// What a support row may rest on. "conflicting" says that sources disagree, so it never carries
/// more than low confidence.
Result<void> limitEvidence(EvidenceFields& evidence) {
  NEURONCHECK_TRY_VOID(checkEvidenceKind(evidence.kind));
  if (evidence.kind == "conflicting" && evidence.confidence != Confidence::None) {
    evidence.confidence = Confidence::Low;
  }
  return {};
}

Result<bool> yesNo(const RowFields& fields, std::string_view column) {
  const std::string word = lowered(field(fields, column));
  if (word == "yes" || word == "true" || word == "1") {
    return true;
  }
  if (word == "no" || word == "false" || word == "0" || word.empty()) {
    return false;
  }
  return refuse(fmt::format("{} '{}' is neither yes nor no", column, word));
}

/// The overloads a packet row speaks of: its own, and those of the in-place form.
std::vector<OpName> packetMembers(std::string_view packet, const SchemaSource& catalogue) {
  std::vector<OpName> members = catalogue.overloads(packet);
  const std::vector<OpName> inPlace = catalogue.overloads(std::string(packet) + "_");
  members.insert(members.end(), inPlace.begin(), inPlace.end());
  return members;
}

std::optional<DType> dtypeWord(const std::string& word) {
  if (const auto known = parseDType(word)) {
    return *known == DType::Unknown ? std::nullopt : known;
  }
  constexpr std::array<std::pair<std::string_view, DType>, 6> kSpellings = {{
      {"fp64", DType::Float64},
      {"fp32", DType::Float32},
      {"fp16", DType::Float16},
      {"bf16", DType::BFloat16},
      {"fp8_e4m3", DType::Float8E4M3FN},
      {"fp8_e5m2", DType::Float8E5M2},
  }};
  for (const auto& [spelling, dtype] : kSpellings) {
    if (spelling == word) {
      return dtype;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<FieldRow> fieldRows(const Table& table) {
  std::vector<std::string> columns;
  for (const std::string& word : table.header) {
    std::string column = lowered(word);
    std::ranges::replace(column, '-', '_');
    std::ranges::replace(column, ' ', '_');
    columns.push_back(std::move(column));
  }
  std::vector<FieldRow> rows;
  for (const TableRow& row : table.rows) {
    FieldRow out{.line = row.line, .fields = {}};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out.fields.insert_or_assign(columns[i], std::string(trimmed(row.cells[i])));
    }
    rows.push_back(std::move(out));
  }
  return rows;
}

std::string field(const RowFields& fields, std::string_view column) {
  const auto found = fields.find(column);
  return found == fields.end() ? std::string() : found->second;
}

bool isDateOrEmpty(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return false;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = -1;
    const char* const end = text.data() + at + length;
    const auto parsed = std::from_chars(text.data() + at, end, value);
    return parsed.ptr == end ? value : -1;
  };
  const int month = number(5, 2);
  const int day = number(8, 2);
  return number(0, 4) > 0 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

Result<std::string> dtypeList(std::string_view text) {
  std::string plain = lowered(text);
  std::ranges::replace_if(
      plain, [](char c) { return c == ',' || c == ';' || c == ' ' || c == '/'; }, '|');
  std::vector<std::string_view> names;
  for (const std::string& word : splitWords(plain, '|')) {
    if (word == "-" || word == "all" || word == "any" || word == "*") {
      return std::string();
    }
    const auto dtype = dtypeWord(word);
    if (!dtype) {
      return refuse(fmt::format("'{}' is no dtype", word));
    }
    if (std::ranges::find(names, neuroncheck::name(*dtype)) == names.end()) {
      names.push_back(neuroncheck::name(*dtype));
    }
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string dtypesOf(std::string_view list, bool floating) {
  std::vector<std::string> kept = splitWords(list, '|');
  std::erase_if(kept, [&](const std::string& word) {
    const auto dtype = parseDType(word);
    return (dtype && isFloating(*dtype)) != floating;
  });
  return fmt::format("{}", fmt::join(kept, "|"));
}

Result<void> checkEvidenceKind(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kKinds = {
      "documented", "documented-by-source", "measured", "measured-by-user", "reported-by-user",
      "inferred",   "conflicting"};
  if (lowered(kind).find("simulat") == std::string::npos &&
      std::ranges::find(kKinds, kind) == kKinds.end()) {
    return refuse(fmt::format("evidence '{}' is none of {}", kind, fmt::join(kKinds, ", ")));
  }
  return {};
}

Result<void> checkOperator(std::string_view op, RowScope scope, const SchemaSource& catalogue) {
  const auto parsed = OpName::parse(op);
  if (!parsed) {
    return refuse(fmt::format("'{}' is no operator name (namespace::name.overload)", op));
  }
  if (scope == RowScope::Packet) {
    if (!parsed->overload.empty()) {
      return refuse(fmt::format("'{}' names an overload, but the scope is packet", op));
    }
    if (catalogue.overloads(op).empty()) {
      return refuse(fmt::format("no such operator: {} has no overloads", op));
    }
    return {};
  }
  if (catalogue.find(*parsed) != nullptr) {
    return {};
  }
  const std::vector<OpName> overloads = catalogue.overloads(parsed->packet());
  if (overloads.empty()) {
    return refuse(fmt::format("no such operator: {}", op));
  }
  std::vector<std::string> names;
  names.reserve(overloads.size());
  for (const OpName& overload : overloads) {
    names.push_back(overload.str());
  }
  return refuse(fmt::format("no such operator: {} (there are {})", op, fmt::join(names, ", ")));
}

Result<void> checkPredicate(std::string_view predicate, std::string_view op, RowScope scope,
                            const SchemaSource& catalogue) {
  const auto parsed = OpName::parse(op);
  if (predicate.empty() || !parsed) {
    return {};
  }
  if (scope == RowScope::Overload) {
    const OpInfo* info = catalogue.find(*parsed);
    NEURONCHECK_TRY(const Predicate checked,
                    Predicate::parse(predicate, info == nullptr ? nullptr : &info->schema));
    return {};
  }
  std::optional<Error> first;
  for (const OpName& member : packetMembers(parsed->packet(), catalogue)) {
    const OpInfo* info = catalogue.find(member);
    auto checked = Predicate::parse(predicate, info == nullptr ? nullptr : &info->schema);
    if (checked) {
      return {};
    }
    if (!first) {
      first = std::move(checked).error();
    }
  }
  if (first) {
    return refuse(fmt::format("no overload of {} fits the predicate: {}", op, first->text()));
  }
  return {};
}

Result<SupportRow> supportRowOf(const RowFields& fields, const SchemaSource& catalogue) {
  SupportRow row;
  NEURONCHECK_TRY(row.op, required(fields, "op"));
  const std::string scope = field(fields, "scope");
  const auto parsedScope = parseRowScope(scope.empty() ? "overload" : scope);
  if (!parsedScope) {
    return refuse(fmt::format("scope '{}' is none of overload, packet, feature", scope));
  }
  row.scope = *parsedScope;
  NEURONCHECK_TRY(row.status, statusField(fields, "status"));
  NEURONCHECK_TRY(row.product, required(fields, "product"));
  NEURONCHECK_TRY(row.release, required(fields, "release"));
  NEURONCHECK_TRY(row.mode, modeField(fields));
  row.chip = field(fields, "chip");
  if (!row.chip.empty() && !parseChip(row.chip)) {
    return refuse(fmt::format("chip '{}' is none of trn1, trn2, trn3", row.chip));
  }
  NEURONCHECK_TRY(const std::string dtypes, dtypeList(field(fields, "dtypes")));
  row.dtypes = dtypesOf(dtypes, true);
  if (row.dtypes.empty() && !dtypes.empty()) {
    return refuse(fmt::format(
        "the dtypes {} name none of floating point, and a row speaks of floating operands only",
        dtypes));
  }
  row.predicate = field(fields, "predicate");
  if (!field(fields, "otherwise").empty()) {
    NEURONCHECK_TRY(row.otherwise, statusField(fields, "otherwise"));
    if (row.predicate.empty()) {
      return refuse("'otherwise' needs a predicate");
    }
  }
  row.pathNote = field(fields, "path_note");
  row.vendorTest = field(fields, "vendor_test");
  row.note = field(fields, "note");
  NEURONCHECK_TRY(EvidenceFields evidence, evidenceFields(fields));
  NEURONCHECK_TRY_VOID(limitEvidence(evidence));
  row.evidence = std::move(evidence.kind);
  row.confidence = evidence.confidence;
  row.observed = std::move(evidence.observed);
  row.source = std::move(evidence.source);
  if (row.scope == RowScope::Feature) {
    return row;
  }
  NEURONCHECK_TRY_VOID(checkOperator(row.op, row.scope, catalogue));
  NEURONCHECK_TRY_VOID(checkPredicate(row.predicate, row.op, row.scope, catalogue));
  return row;
}

Result<Release> releaseOf(const RowFields& fields) {
  Release release;
  NEURONCHECK_TRY(release.product, required(fields, "product"));
  NEURONCHECK_TRY(release.name, required(fields, "release"));
  const std::string order = field(fields, "order");
  const char* const end = order.data() + order.size();
  if (const auto parsed = std::from_chars(order.data(), end, release.order);
      parsed.ec != std::errc() || parsed.ptr != end) {
    return refuse(fmt::format("order '{}' is no integer", order));
  }
  release.sdk = field(fields, "sdk");
  release.date = field(fields, "date");
  if (!isDateOrEmpty(release.date)) {
    return refuse(fmt::format("date '{}' is no date (YYYY-MM-DD)", release.date));
  }
  release.torch = field(fields, "torch");
  release.compiler = field(fields, "compiler");
  NEURONCHECK_TRY(release.registrationsComplete, yesNo(fields, "registrations_complete"));
  release.note = field(fields, "note");
  return release;
}

Result<CompilerRule> compilerRuleOf(const RowFields& fields, const SchemaSource& catalogue) {
  CompilerRule rule;
  NEURONCHECK_TRY(rule.code, required(fields, "code"));
  rule.title = field(fields, fields.contains("title") ? "title" : "hlo");
  rule.targets = splitWords(field(fields, "targets"), ' ');
  NEURONCHECK_TRY(rule.machineCheckable, yesNo(fields, "machine_checkable"));
  NEURONCHECK_TRY(rule.mode, modeField(fields));
  rule.predicate = field(fields, "predicate");
  rule.note = field(fields, "note");
  NEURONCHECK_TRY(rule.product, required(fields, "product"));
  NEURONCHECK_TRY(rule.release, required(fields, "release"));
  NEURONCHECK_TRY(rule.answersFor, required(fields, "answers_for"));
  NEURONCHECK_TRY(EvidenceFields evidence, evidenceFields(fields));
  rule.evidence = std::move(evidence.kind);
  rule.confidence = evidence.confidence;
  rule.source = std::move(evidence.source);
  if (!rule.machineCheckable) {
    return rule;
  }
  const std::string scope = field(fields, "scope");
  const auto parsedScope = parseRowScope(scope);
  if (!parsedScope) {
    return refuse(fmt::format("scope '{}' is none of overload, packet, feature", scope));
  }
  rule.scope = *parsedScope;
  if (rule.predicate.empty() || rule.targets.empty()) {
    return refuse("a machine-checkable rule needs targets and a predicate");
  }
  for (const std::string& target : rule.targets) {
    if (target == "*") {
      NEURONCHECK_TRY(const Predicate checked, Predicate::parse(rule.predicate));
      continue;
    }
    NEURONCHECK_TRY_VOID(checkOperator(target, rule.scope, catalogue));
    NEURONCHECK_TRY_VOID(checkPredicate(rule.predicate, target, rule.scope, catalogue));
  }
  return rule;
}

Result<FeatureRow> featureOf(const RowFields& fields, std::string& product) {
  FeatureRow row;
  NEURONCHECK_TRY(row.id, required(fields, "id"));
  row.appliesTo = field(fields, "applies_to");
  NEURONCHECK_TRY(row.mode, modeField(fields));
  NEURONCHECK_TRY(row.status, statusField(fields, "status"));
  row.message = field(fields, "message");
  NEURONCHECK_TRY(row.release, required(fields, "release"));
  NEURONCHECK_TRY(EvidenceFields evidence, evidenceFields(fields));
  row.evidence = std::move(evidence.kind);
  row.confidence = evidence.confidence;
  row.source = std::move(evidence.source);
  row.observed = std::move(evidence.observed);
  product = field(fields, "product");
  if (product.empty()) {
    product = "torch-neuronx";
  }
  return row;
}

}  // namespace neuroncheck::opdb

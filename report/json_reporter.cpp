// SPDX-License-Identifier: Apache-2.0
#include "report/json_reporter.h"

#include <ostream>

#include "report/report_json.h"

namespace neuroncheck::report {
namespace {

/// Writes the members of one object as they come.
class ObjectStream {
 public:
  explicit ObjectStream(std::ostream& out) : out_(out) { out_ << '{'; }

  void members(const Json& object) {
    for (const auto& member : object.items()) {
      key(member.key());
      out_ << dumpJson(member.value());
    }
  }
  /// An array with one element per line.
  template <typename ForEach>
  void array(std::string_view name, const ForEach& forEach) {
    key(std::string(name));
    out_ << '[';
    bool first = true;
    forEach([&](const Json& element) {
      out_ << (first ? "\n  " : ",\n  ") << dumpJson(element);
      first = false;
    });
    out_ << (first ? "]" : "\n ]");
  }
  void finish() { out_ << "\n}\n"; }

 private:
  void key(const std::string& name) {
    out_ << (first_ ? "\n " : ",\n ") << dumpJson(Json(name)) << ": ";
    first_ = false;
  }

  std::ostream& out_;
  bool first_ = true;
};

Result<void> checked(const std::ostream& out) {
  if (!out) {
    return fail(ErrorCode::Output, "the report could not be written");
  }
  return {};
}

}  // namespace

Result<void> JsonReporter::write(const RunRecord& record, std::ostream& out) const {
  ObjectStream object(out);
  object.members(headerToJson(record));
  object.array("inputs", [&](const auto& visit) {
    for (const InputResult& input : record.inputs) {
      visit(inputToJson(input));
    }
  });
  object.array("ops", [&](const auto& visit) { forEachOperator(record, visit); });
  object.array("findings", [&](const auto& visit) { forEachFinding(record, visit); });
  object.array("evidence", [&](const auto& visit) {
    for (const auto& [id, evidence] : evidenceOf(record)) {
      visit(evidenceToJson(evidence));
    }
  });
  object.array("outcomes", [&](const auto& visit) { forEachOutcome(record, visit); });
  object.array("not_checked", [&](const auto& visit) { forEachNotChecked(record, visit); });
  object.members(footerToJson(record));
  object.finish();
  return checked(out);
}

Result<void> JsonLinesReporter::write(const RunRecord& record, std::ostream& out) const {
  const auto typed = [&out](std::string_view type) {
    return [&out, type](const Json& object) {
      Json entry = {{"type", type}};
      entry.update(object);
      out << dumpJson(entry) << '\n';
    };
  };
  typed("header")(headerToJson(record));
  for (const InputResult& input : record.inputs) {
    typed("input")(inputToJson(input));
  }
  forEachOperator(record, typed("op"));
  forEachFinding(record, typed("finding"));
  for (const auto& [id, evidence] : evidenceOf(record)) {
    typed("evidence")(evidenceToJson(evidence));
  }
  forEachOutcome(record, typed("outcome"));
  forEachNotChecked(record, typed("not_checked"));
  typed("footer")(footerToJson(record));
  return checked(out);
}

}  // namespace neuroncheck::report

// SPDX-License-Identifier: Apache-2.0
#include "opdb/builder.h"

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/content_hash.h"
#include "core/replace_file.h"
#include "opdb/builder_catalogue.h"
#include "opdb/import_row.h"
#include "opdb/sqlite/connection.h"
#include "opdb/sqlite/writer.h"
#include "opdb/table.h"

namespace neuroncheck::opdb {
namespace {

class Builder {
 public:
  Builder(const BuildInputs& inputs, sqlite::Writer& writer) : inputs_(inputs), writer_(writer) {}

  Result<BuildSummary> run() {
    writer_.setMeta("catalogue_version", inputs_.catalogueVersion);
    NEURONCHECK_TRY(const std::string madeFrom, hashOfInputs());
    writer_.setMeta("made_from", madeFrom);
    NEURONCHECK_TRY_VOID(eachLine(inputs_.ops, [&](std::string_view line) -> Result<void> {
      NEURONCHECK_TRY(const sqlite::OpRecord record, readOperator(line, catalogue_));
      writer_.insert(record);
      ++summary_.ops;
      return {};
    }));
    NEURONCHECK_TRY_VOID(eachLine(inputs_.expansions, [&](std::string_view line) -> Result<void> {
      return expansion(line);
    }));
    NEURONCHECK_TRY_VOID(tables());
    return std::move(summary_);
  }

 private:
  Result<std::string> hashOfInputs() {
    std::string hashes = inputs_.catalogueVersion;
    for (const std::string* path : {&inputs_.ops, &inputs_.expansions, &inputs_.releases,
                                    &inputs_.support, &inputs_.features, &inputs_.rules}) {
      std::string content;
      if (!path->empty()) {
        NEURONCHECK_TRY(content, readTextFile(*path));
      }
      hashes += fmt::format(" {:016x}", contentHash(content));
    }
    return fmt::format("{:016x}", contentHash(hashes));
  }

  Result<void> expansion(std::string_view line) {
    std::string note;
    const auto row = readExpansion(line, catalogue_, note);
    if (!row && row.error().code == ErrorCode::Nothing) {
      summary_.notes.push_back(place() + row.error().message);
      return {};
    }
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!note.empty()) {
      summary_.notes.push_back(place() + note);
    }
    writer_.insert(*row);
    ++summary_.expansions;
    return {};
  }

  Result<void> tables() {
    NEURONCHECK_TRY_VOID(eachRow(inputs_.releases, [&](const RowFields& fields) -> Result<void> {
      NEURONCHECK_TRY(const Release release, releaseOf(fields));
      writer_.insert(release);
      ++summary_.releases;
      return {};
    }));
    NEURONCHECK_TRY_VOID(eachRow(inputs_.support, [&](const RowFields& fields) -> Result<void> {
      NEURONCHECK_TRY(const SupportRow row, supportRowOf(fields, catalogue_));
      if (writer_.store(row) != sqlite::Stored::Inserted) {
        return fail(ErrorCode::Usage, fmt::format("{} is stated twice by the same source", row.op));
      }
      ++summary_.support;
      return {};
    }));
    NEURONCHECK_TRY_VOID(eachRow(inputs_.features, [&](const RowFields& fields) -> Result<void> {
      std::string product;
      NEURONCHECK_TRY(const FeatureRow row, featureOf(fields, product));
      writer_.insert(row, product);
      ++summary_.features;
      return {};
    }));
    return eachRow(inputs_.rules, [&](const RowFields& fields) -> Result<void> {
      NEURONCHECK_TRY(const CompilerRule rule, compilerRuleOf(fields, catalogue_));
      writer_.insert(rule);
      ++summary_.rules;
      return {};
    });
  }

  /// "file:line: " of the row that is being read.
  std::string place() const { return fmt::format("{}:{}: ", file_, line_); }
  void problem(std::string_view reason) {
    summary_.problems.push_back(place() + std::string(reason));
  }
  void begin(const std::string& path) { file_ = std::filesystem::path(path).filename().string(); }

  Result<void> eachLine(const std::string& path,
                        const std::function<Result<void>(std::string_view)>& use) {
    if (path.empty()) {
      return {};
    }
    NEURONCHECK_TRY(const std::string content, readTextFile(path));
    begin(path);
    std::string_view rest = content;
    for (line_ = 1; !rest.empty(); ++line_) {
      const std::size_t end = rest.find('\n');
      if (const std::string_view text = rest.substr(0, end); !text.empty()) {
        if (auto used = use(text); !used) {
          problem(used.error().text());
        }
      }
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return {};
  }

  Result<void> eachRow(const std::string& path,
                       const std::function<Result<void>(const RowFields&)>& use) {
    if (path.empty()) {
      return {};
    }
    NEURONCHECK_TRY(const std::string content, readTextFile(path));
    begin(path);
    const Table table = parseCsv(content);
    for (const RowProblem& bad : table.problems) {
      line_ = bad.line;
      problem(bad.reason);
    }
    for (const FieldRow& row : fieldRows(table)) {
      line_ = row.line;
      if (auto used = use(row.fields); !used) {
        problem(used.error().text());
      }
    }
    return {};
  }

  const BuildInputs& inputs_;
  sqlite::Writer& writer_;
  CatalogueTable catalogue_;
  BuildSummary summary_;
  std::string file_;
  std::size_t line_ = 0;
};

}  // namespace

Result<BuildSummary> buildDatabase(const BuildInputs& inputs, const std::string& out) {
  BuildSummary summary;
  NEURONCHECK_TRY_VOID(replaceFile(out, [&](const std::string& partial) -> Result<void> {
    NEURONCHECK_TRY(auto connection, sqlite::create(partial));
    try {
      sqlite::Writer writer(std::move(connection));
      NEURONCHECK_TRY(summary, Builder(inputs, writer).run());
      writer.commit(true);
      return {};
    } catch (const std::exception& exception) {
      return fail(ErrorCode::Output, fmt::format("{}: {}", out, exception.what()));
    }
  }));
  return summary;
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "core/inventory_json.h"

namespace neuroncheck::runstore {
namespace {

using ::testing::HasSubstr;

OpUse useOf(std::uint32_t id, const char* op) {
  OpUse use;
  use.id = id;
  use.op = *OpName::parse(op);
  use.node = "node_" + std::to_string(id);
  use.source = {"model.py", 10 + id};
  TensorSpec spec;
  spec.dtype = DType::BFloat16;
  spec.sizes = {4, SymInt(SymExpr::makeSymbol("s77"), 3)};
  spec.strides = {SymInt(SymExpr::makeSymbol("s77"), 3), 1};
  spec.device = {"cpu", std::nullopt};
  use.args.push_back(
      {.name = "self", .value = std::make_shared<TensorValue>(TensorValue{"x", spec})});
  use.outputs.emplace_back(std::make_shared<TensorValue>(TensorValue{"y", spec}));
  return use;
}

UseClaim claimOf(std::uint32_t id, Claim claim) {
  UseClaim use;
  use.use = id;
  use.claim = claim;
  use.confidence = Confidence::Low;
  use.stale = true;
  use.ageDays = 211;
  use.reason = "not registered in 0.1.0-pre, 2026-05-04";
  use.decidedBy = "dilation";
  use.remedy = "import the vendor's table";
  use.leaves = {
      {.op = "aten::mm", .times = "2", .always = false, .claim = Claim::Native, .reason = "row"}};
  use.evidence = {"support:1"};
  use.caveats = {"vendor test skipped"};
  use.caseIds = {"00ff00ff00ff00ff"};
  return use;
}

RunRecord sampleRecord() {
  RunRecord record;
  record.tool = "neuron-check 0.1.0";
  record.command = {"neuron-check", "a \"b\".pt2"};
  record.started = "2026-12-01T00:00:00Z";
  record.finished = "2026-12-01T00:00:01Z";
  record.environment.chip = "trn2";
  record.target.release = "2.15";
  record.target.answeringRelease = "2.14.3.0";
  record.target.releaseKnown = false;
  record.target.mode = ExecutionMode::Compile;
  record.database = "operators.db (torch 2.13.0)";
  InputResult good;
  good.inventory.path = "a.pt2";
  good.inventory.kind = FileKind::ExportedProgram;
  good.inventory.notes = {{.rule = "NC101", .record = "models/model.json", .message = "twice"}};
  Model model;
  model.name = "enc.v1";
  model.torchVersion = "2.13.0";
  model.dialect = "training";
  model.uses = {useOf(0, "aten::relu"), useOf(1, "demo::scale.dim"), useOf(2, "aten::relu")};
  good.inventory.models = {model};
  ModelAssessment judged;
  judged.model = "enc.v1";
  judged.verdict = Verdict::Blocked;
  judged.weakestConfidence = Confidence::Low;
  judged.anyStale = true;
  judged.weakestEvidence = "support:1";
  judged.decidingEvidence = "feature:fork";
  judged.uses = {claimOf(0, Claim::CpuFallback), claimOf(1, Claim::Unknown),
                 claimOf(2, Claim::CpuFallback)};
  judged.counts = {{Claim::CpuFallback, 2}, {Claim::Unknown, 1}};
  Finding finding;
  finding.rule = "NC401";
  finding.code = "NCC_EVRF004";
  finding.severity = Severity::Error;
  finding.title = "complex";
  finding.message = "2 tensors";
  finding.targets = {"aten::relu"};
  finding.places = {{.model = "enc.v1",
                     .node = "node_0",
                     .op = "aten::relu",
                     .source = {"m.py", 3},
                     .detail = "input 0"}};
  finding.evidence = {"support:1"};
  judged.findings = {finding};
  judged.notChecked = {{.what = "NCC_EVRF006", .why = "not visible", .how = "compile it"}};
  good.assessment.target = record.target;
  good.assessment.verdict = Verdict::Blocked;
  good.assessment.models = {judged};
  finding.rule = "NC101";
  good.assessment.fileFindings = {finding};
  good.assessment.evidence["support:1"] = {.id = "support:1",
                                           .kind = "documented",
                                           .source = "page",
                                           .product = "torch-neuronx",
                                           .release = "2.14.3.0",
                                           .observed = "2026-10-20",
                                           .confidence = Confidence::Low,
                                           .stale = true,
                                           .status = "native",
                                           .note = ""};
  InputResult bad;
  bad.inventory.path = "b.pt2";
  bad.inventory.kind = FileKind::Damaged;
  bad.error = Error{.code = ErrorCode::Input, .message = "no end record", .context = {"b.pt2"}};
  record.inputs = {good, bad};
  return record;
}

class RunFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = (std::filesystem::temp_directory_path() /
                       (std::string("neuron-check-") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".ncr"))
                          .string();
};

void expectEqual(const ModelAssessment& a, const ModelAssessment& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.verdict, b.verdict);
  EXPECT_EQ(a.weakestConfidence, b.weakestConfidence);
  EXPECT_EQ(a.anyStale, b.anyStale);
  EXPECT_EQ(a.weakestEvidence, b.weakestEvidence);
  EXPECT_EQ(a.decidingEvidence, b.decidingEvidence);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.notChecked, b.notChecked);
  ASSERT_EQ(a.uses.size(), b.uses.size());
  for (std::size_t i = 0; i < a.uses.size(); ++i) {
    EXPECT_EQ(a.uses[i].use, b.uses[i].use);
    EXPECT_EQ(a.uses[i].claim, b.uses[i].claim);
    EXPECT_EQ(a.uses[i].confidence, b.uses[i].confidence);
    EXPECT_EQ(a.uses[i].stale, b.uses[i].stale);
    EXPECT_EQ(a.uses[i].ageDays, b.uses[i].ageDays);
    EXPECT_EQ(a.uses[i].reason, b.uses[i].reason);
    EXPECT_EQ(a.uses[i].decidedBy, b.uses[i].decidedBy);
    EXPECT_EQ(a.uses[i].remedy, b.uses[i].remedy);
    EXPECT_EQ(a.uses[i].leaves, b.uses[i].leaves);
    EXPECT_EQ(a.uses[i].evidence, b.uses[i].evidence);
    EXPECT_EQ(a.uses[i].caveats, b.uses[i].caveats);
    EXPECT_EQ(a.uses[i].caseIds, b.uses[i].caseIds);
  }
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].rule, b.findings[i].rule);
    EXPECT_EQ(a.findings[i].code, b.findings[i].code);
    EXPECT_EQ(a.findings[i].severity, b.findings[i].severity);
    EXPECT_EQ(a.findings[i].places, b.findings[i].places);
    EXPECT_EQ(a.findings[i].evidence, b.findings[i].evidence);
  }
}

TEST_F(RunFile, WhatIsSavedLoadsBackEqual) {
  const RunRecord saved = sampleRecord();
  ASSERT_TRUE(save(saved, path_));
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->tool, saved.tool);
  EXPECT_EQ(loaded->command, saved.command);
  EXPECT_EQ(loaded->environment, saved.environment);
  EXPECT_EQ(loaded->target.release, "2.15");
  EXPECT_FALSE(loaded->target.releaseKnown);
  EXPECT_EQ(loaded->target.mode, ExecutionMode::Compile);
  ASSERT_EQ(loaded->inputs.size(), 2U);
  EXPECT_EQ(toJson(loaded->inputs[0].inventory), toJson(saved.inputs[0].inventory));
  EXPECT_EQ(loaded->inputs[0].assessment.evidence, saved.inputs[0].assessment.evidence);
  EXPECT_EQ(loaded->inputs[0].assessment.fileFindings.size(), 1U);
  expectEqual(loaded->inputs[0].assessment.models.at(0), saved.inputs[0].assessment.models.at(0));
  ASSERT_TRUE(loaded->inputs[1].error);
  EXPECT_EQ(loaded->inputs[1].error->text(), saved.inputs[1].error->text());
  EXPECT_EQ(loaded->inputs[1].inventory.kind, FileKind::Damaged);
}

TEST_F(RunFile, ANewerVersionIsRefusedNamingBoth) {
  ASSERT_TRUE(save(sampleRecord(), path_));
  SQLite::Database(path_, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 7");
  const auto loaded = load(path_);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::Input);
  EXPECT_THAT(loaded.error().text(), HasSubstr("run file version 7, this program knows 2"));
}

TEST_F(RunFile, OtherFilesAreRefusedForWhatTheyAre) {
  std::ofstream(path_) << "not a database at all";
  EXPECT_THAT(load(path_).error().text(), HasSubstr("not a SQLite file"));
  std::filesystem::remove(path_);
  SQLite::Database(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t (x)");
  EXPECT_THAT(load(path_).error().text(), HasSubstr("no run file of neuron-check"));
  EXPECT_THAT(load("no-such-run.ncr").error().text(), HasSubstr("cannot be opened"));
}

TEST_F(RunFile, DamagedContentIsAnErrorNotACrash) {
  for (const char* damage :
       {"UPDATE op_use SET claim = 'nativ'", "UPDATE model SET document = '{'", "DELETE FROM text",
        "UPDATE input SET document = '[]'", "DELETE FROM meta", "DROP TABLE evidence",
        "UPDATE op_use SET entry = '{}'", "DELETE FROM op_use"}) {
    ASSERT_TRUE(save(sampleRecord(), path_));
    SQLite::Database(path_, SQLite::OPEN_READWRITE).exec(damage);
    const auto loaded = load(path_);
    ASSERT_FALSE(loaded) << damage;
    EXPECT_EQ(loaded.error().code, ErrorCode::Input) << damage;
  }
}

TEST_F(RunFile, ContentThatRunsIsRefused) {
  for (const char* foreign :
       {"ALTER TABLE place RENAME TO other; CREATE VIEW place AS WITH RECURSIVE n(i) AS (SELECT 1 "
        "UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT * FROM other, n",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM text; END",
        "CREATE VIRTUAL TABLE v USING fts5(x)"}) {
    ASSERT_TRUE(save(sampleRecord(), path_));
    SQLite::Database(path_, SQLite::OPEN_READWRITE).exec(foreign);
    const auto loaded = load(path_);
    ASSERT_FALSE(loaded) << foreign;
    EXPECT_EQ(loaded.error().code, ErrorCode::Input);
    EXPECT_THAT(loaded.error().text(), HasSubstr("which none has"));
  }
}

TEST_F(RunFile, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(load(path_).error().text(), HasSubstr("no regular file"));
  EXPECT_THAT(load("/").error().text(), HasSubstr("no regular file"));
}

TEST_F(RunFile, ManyInputsComeBackInOrder) {
  RunRecord record = sampleRecord();
  const InputResult one = record.inputs.front();
  record.inputs.clear();
  for (int i = 0; i < 1000; ++i) {
    record.inputs.push_back(one);
    record.inputs.back().inventory.path = "model_" + std::to_string(i);
  }
  ASSERT_TRUE(save(record, path_));
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->inputs.size(), record.inputs.size());
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    EXPECT_EQ(loaded->inputs[i].inventory.path, record.inputs[i].inventory.path);
    EXPECT_EQ(loaded->inputs[i].inventory.models.size(), one.inventory.models.size());
  }
}

TEST_F(RunFile, TruncatedFilesAreErrors) {
  ASSERT_TRUE(save(sampleRecord(), path_));
  const auto size = std::filesystem::file_size(path_);
  for (std::uintmax_t part = 1; part < 16; ++part) {
    ASSERT_TRUE(save(sampleRecord(), path_));
    std::filesystem::resize_file(path_, size * part / 16);
    EXPECT_FALSE(load(path_)) << part;
  }
}

TEST_F(RunFile, ADeviceIsNeverReplaced) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const auto saved = save(sampleRecord(), path_);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::Output);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(RunFile, AFolderThatDoesNotExistIsAnOutputError) {
  const auto saved = save(sampleRecord(), "no-such-folder/run.ncr");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::Output);
}

}  // namespace
}  // namespace neuroncheck::runstore

// SPDX-License-Identifier: Apache-2.0
#include "report/tests/sample_records.h"

#include <limits>
#include <utility>

namespace neuroncheck::report::samples {
namespace {

TensorPtr tensor(std::string name, std::vector<SymInt> sizes, DType dtype = DType::Float32) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.sizes = std::move(sizes);
  spec.device = {"cpu", std::nullopt};
  return std::make_shared<const TensorValue>(TensorValue{std::move(name), spec});
}

RunRecord emptyRecord() {
  RunRecord record;
  record.tool = "neuron-check 0.1.0";
  record.command = {"neuron-check", "model.pt2"};
  record.started = "2026-12-01T09:30:00Z";
  record.finished = "2026-12-01T09:30:01Z";
  record.environment.host = "Linux x86_64";
  record.target.release = "2.14.3.0";
  record.target.answeringRelease = "2.14.3.0";
  record.target.releaseDefaulted = true;
  record.database = "operators.db, catalogue of torch 2.13.0";
  return record;
}

/// Builds one input with one model, use by use.
class ModelBuilder {
 public:
  ModelBuilder(RunRecord& record, std::string path) : record_(record) {
    InputResult& input = record.inputs.emplace_back();
    input.inventory.path = std::move(path);
    input.inventory.kind = FileKind::ExportedProgram;
    input.inventory.size = 19'899;
    input.inventory.producer = "torch 2.13.0+cpu, export schema 8.20";
    addModel("model");
  }

  ModelBuilder& addModel(std::string name) {
    InputResult& input = record_.inputs.back();
    Model& model = input.inventory.models.emplace_back();
    model.name = name;
    model.dialect = "training";
    model.madeOn = {"cpu"};
    input.assessment.models.emplace_back().model = std::move(name);
    return *this;
  }

  ModelBuilder& evidence(const std::string& id, Confidence confidence, bool stale) {
    Evidence evidence;
    evidence.id = id;
    evidence.kind = "documented-by-source";
    evidence.source = "torch_neuronx/csrc/aten/register.cpp";
    evidence.product = "torch-neuronx";
    evidence.release = stale ? "0.1.0-pre" : "2.14.3.0";
    evidence.observed = stale ? "2026-05-12" : "2026-10-03";
    evidence.confidence = confidence;
    evidence.stale = stale;
    evidence.status = "native";
    record_.inputs.back().assessment.evidence[id] = evidence;
    return *this;
  }

  /// Adds `count` uses of an operator with one claim, at lines from `line` on.
  ModelBuilder& uses(const char* op, int count, Claim claim, const char* reason, std::int64_t line,
                     UseClaim extra = {}) {
    Model& model = record_.inputs.back().inventory.models.back();
    ModelAssessment& judged = record_.inputs.back().assessment.models.back();
    for (int index = 0; index < count; ++index) {
      OpUse use;
      use.id = static_cast<std::uint32_t>(model.uses.size());
      use.op = *OpName::parse(op);
      use.node = use.op.base + "_" + std::to_string(use.id);
      use.group = claim == Claim::NoDeviceWork ? OpGroup::NoDeviceWork : OpGroup::Compute;
      use.args = {{"self", tensor("x", {4, 8})}};
      use.outputs = {tensor(use.node, {4, 8})};
      use.source = {"models/net.py", line + index};
      model.uses.push_back(use);
      UseClaim judgement = extra;
      judgement.use = use.id;
      judgement.claim = claim;
      judgement.reason = reason;
      if (extra.evidence.empty() && claim != Claim::NoDeviceWork && claim != Claim::Unknown) {
        judgement.evidence = {"support:1"};
        judgement.confidence = Confidence::High;
        judgement.ageDays = 59;
      }
      judged.uses.push_back(judgement);
      ++judged.counts[claim];
    }
    return *this;
  }

  ModelBuilder& finding(Finding finding) {
    record_.inputs.back().assessment.models.back().findings.push_back(std::move(finding));
    return *this;
  }
  ModelBuilder& notChecked(NotChecked entry) {
    record_.inputs.back().assessment.models.back().notChecked.push_back(std::move(entry));
    return *this;
  }
  ModelBuilder& verdict(Verdict verdict, Confidence weakestConfidence, bool stale,
                        std::string weakestEvidence, std::string decidingEvidence = {}) {
    Assessment& assessment = record_.inputs.back().assessment;
    ModelAssessment& judged = assessment.models.back();
    judged.verdict = verdict;
    judged.weakestConfidence = weakestConfidence;
    judged.anyStale = stale;
    judged.weakestEvidence = std::move(weakestEvidence);
    judged.decidingEvidence = std::move(decidingEvidence);
    assessment.target = record_.target;
    assessment.verdict =
        assessment.models.size() == 1 ? verdict : worst(assessment.verdict, verdict);
    return *this;
  }

 private:
  RunRecord& record_;
};

UseClaim staleLow() {
  UseClaim claim;
  claim.confidence = Confidence::Low;
  claim.stale = true;
  claim.ageDays = 203;
  claim.evidence = {"support:7"};
  return claim;
}

Finding finding(Severity severity, const char* rule, const char* title, const char* message,
                const char* remedy) {
  Finding out;
  out.severity = severity;
  out.rule = rule;
  out.title = title;
  out.message = message;
  out.remedy = remedy;
  return out;
}

Finding withPlaces(Finding finding, int count) {
  for (int index = 0; index < count; ++index) {
    finding.places.push_back({"model",
                              "add_" + std::to_string(index),
                              "aten::add.Tensor",
                              {"models/net.py", 40 + index},
                              "input 1 is int64[4, 8]"});
  }
  finding.targets = {"aten::add.Tensor"};
  return finding;
}

void addReady(RunRecord& record, const char* path) {
  ModelBuilder(record, path)
      .evidence("support:1", Confidence::High, false)
      .uses("aten::linear", 4, Claim::Decomposed,
            "aten::linear runs as operators that are native; the weakest of them: aten::addmm is "
            "registered in 2.14.3.0.",
            10)
      .uses("aten::gelu", 2, Claim::Native, "aten::gelu is registered in 2.14.3.0.", 20)
      .uses("aten::dropout", 3, Claim::NoDeviceWork, "dropout does nothing in an evaluation graph.",
            30)
      .verdict(Verdict::Ready, Confidence::High, false, "support:1");
}

void addBlocked(RunRecord& record, const char* path) {
  UseClaim raises;
  raises.leaves = {
      {"aten::_thnn_fused_lstm_cell", "sometimes", true, Claim::Unsupported, "no CPU kernel"},
      {"aten::addmm", "2", true, Claim::Native, ""}};
  raises.remedy =
      "Run ep = ep.run_decompositions() on the exported program, save it and check it again.";
  UseClaim fallback = staleLow();
  fallback.leaves = {{"aten::native_batch_norm", "1", true, Claim::CpuFallback, "not registered"}};
  UseClaim native;
  native.caveats = {"the vendor's test of this operator skips inputs with NaN"};
  UseClaim depends;
  depends.decidedBy = "output_size";
  depends.evidence = {"expansion"};
  depends.confidence = Confidence::Medium;
  ModelBuilder(record, path)
      .evidence("support:1", Confidence::High, false)
      .evidence("support:7", Confidence::Low, true)
      .uses("aten::lstm.input", 1, Claim::Unsupported,
            "aten::lstm.input calls aten::_thnn_fused_lstm_cell, which is not registered in "
            "2.14.3.0 and has no CPU kernel: the fallback raises.",
            13, raises)
      .uses("aten::batch_norm", 14, Claim::CpuFallback,
            "aten::batch_norm calls aten::native_batch_norm: not registered in 0.1.0-pre, "
            "2026-05-12; the fallback computes it on the CPU (inferred from a complete list).",
            21, fallback)
      .uses("aten::adaptive_avg_pool2d", 1, Claim::Depends,
            "aten::adaptive_avg_pool2d calls aten::_adaptive_avg_pool2d for some arguments only.",
            60, depends)
      .uses(
          "corpuslib::scaled_relu", 2, Claim::Unknown,
          "corpuslib::scaled_relu is not in the catalogue (torch 2.13.0) and no row speaks of it.",
          70)
      .uses("aten::relu", 20, Claim::Native, "aten::relu is registered in 2.14.3.0.", 80, native)
      .uses("aten::view", 7, Claim::NoDeviceWork, "a view is metadata", 110)
      .finding(withPlaces(finding(Severity::Error, "NC402", "int64 values beyond int32",
                                  "A constant of 4611686018427387904 does not fit the 32 bits the "
                                  "device computes int64 with.",
                                  "Keep the value on the host, or split it."),
                          1))
      .finding(withPlaces(finding(Severity::Warning, "NC405", "channels_last memory format",
                                  "Strides are those of channels_last, and the device copies to "
                                  "the contiguous format first.",
                                  "Export with contiguous inputs."),
                          5))
      .finding(finding(Severity::Note, "NC801", "Memory of the parameters",
                       "The parameters take 233 kB of the 24 GB of a core of trn2.", ""))
      .notChecked({"NCC_EVRF004", "the compiler's complex-number check reads its own graph",
                   "compile the model"})
      .notChecked({"aten::adaptive_avg_pool2d (1 use)", "claim depends: on an argument.",
                   "trace the model, or give 'output_size'"})
      .verdict(Verdict::Blocked, Confidence::None, true, "", "support:7");
}

void addUnconfirmed(RunRecord& record, const char* path) {
  ModelBuilder(record, path)
      .evidence("support:1", Confidence::High, false)
      .evidence("support:7", Confidence::Low, true)
      .uses("aten::addmm", 6, Claim::Native, "aten::addmm is registered in 2.14.3.0.", 10)
      .uses("aten::silu", 1, Claim::Native, "aten::silu was registered in 0.1.0-pre.", 33,
            staleLow())
      .verdict(Verdict::ReadyUnconfirmed, Confidence::Low, true, "support:7");
}

void addFallback(RunRecord& record, const char* path) {
  ModelBuilder(record, path)
      .evidence("support:7", Confidence::Low, true)
      .uses("aten::roll", 2, Claim::CpuFallback,
            "aten::roll is not registered in 0.1.0-pre, 2026-05-12: the fallback computes it on "
            "the CPU (inferred from a complete list).",
            12, staleLow())
      .uses("aten::sort", 1, Claim::CpuFallback,
            "aten::sort is not registered in 0.1.0-pre, 2026-05-12: the fallback computes it on "
            "the CPU (inferred from a complete list).",
            19, staleLow())
      .uses("aten::mul.Tensor", 5, Claim::Native, "aten::mul.Tensor was registered in 0.1.0-pre.",
            30, staleLow())
      .verdict(Verdict::RunsWithFallback, Confidence::Low, true, "support:7", "support:1");
}

void addOpen(RunRecord& record, const char* path) {
  UseClaim depends;
  depends.decidedBy = "antialias";
  depends.confidence = Confidence::Medium;
  depends.evidence = {"support:1"};
  ModelBuilder(record, path)
      .evidence("support:1", Confidence::High, false)
      .uses(
          "corpuslib::scaled_relu", 1, Claim::Unknown,
          "corpuslib::scaled_relu is not in the catalogue (torch 2.13.0) and no row speaks of it.",
          8)
      .uses("aten::upsample_bilinear2d.vec", 1, Claim::Depends,
            "aten::upsample_bilinear2d.vec is native where antialias is false.", 9, depends)
      .verdict(Verdict::Unknown, Confidence::None, false, "");
}

void addHostile(RunRecord& record) {
  ModelBuilder builder(record, "models/\x1b[2J\x1b[31mready\x1b[0m|`x`<img src=x>.pt2");
  builder.evidence("support:1", Confidence::High, false)
      .uses("aten::relu", 1, Claim::Native, "aten::relu is registered.\x07 \x9b 31m", 3)
      .uses(
          "evil::\x1b]0;owned\x07"
          "op|`a`",
          1, Claim::Unknown,
          "no row\nREADY everything is native \xE2\x80\xAE"
          "txet",
          4)
      .finding(finding(Severity::Warning, "NC201", "Custom operator",
                       "name \xFF\xC0\xAF and <script>alert(1)</script> @everyone",
                       "do [this](http://example.org) | now"))
      .verdict(Verdict::Unknown, Confidence::None, false, "");
  Model& model = record.inputs.back().inventory.models.back();
  model.uses.back().source = {"/\x1b[8mhidden\r.py", 66};
  model.notes = {
      "note with \x1b[0m code and \xC2\x9B"
      "31m"};
  record.inputs.back().inventory.producer = "torch \x1b[5m2.13";
}

void addUnreadable(RunRecord& record) {
  InputResult& damaged = record.inputs.emplace_back();
  damaged.inventory.path = "models/truncated.pt2";
  damaged.inventory.kind = FileKind::Damaged;
  damaged.error =
      Error{ErrorCode::Input, "the zip archive has no end record: the file is cut off", {}};
  InputResult& script = record.inputs.emplace_back();
  script.inventory.path = "models/ts_script.pt";
  script.inventory.kind = FileKind::TorchScript;
  script.error = Error{ErrorCode::Input,
                       "a TorchScript program, which this version does not read. Export it:\n"
                       "    ep = torch.export.export(model.eval(), example_inputs)\n"
                       "    torch.export.save(ep, 'model.pt2')",
                       {"models/ts_script.pt"}};
}

}  // namespace

RunRecord ready() {
  RunRecord record = emptyRecord();
  addReady(record, "models/mlp.pt2");
  return record;
}

RunRecord unconfirmed() {
  RunRecord record = emptyRecord();
  addUnconfirmed(record, "models/gpt2_tiny.pt2");
  return record;
}

RunRecord unknownRelease() {
  RunRecord record = emptyRecord();
  record.target.release = "2.99";
  record.target.answeringRelease = "0.1.0-pre";
  record.target.releaseKnown = false;
  record.target.releaseDefaulted = false;
  record.target.chip = "trn3";
  record.target.chipDefaulted = false;
  addFallback(record, "models/swin.pt2");
  return record;
}

RunRecord blocked() {
  RunRecord record = emptyRecord();
  addBlocked(record, "models/lstm.pt2");
  return record;
}

RunRecord open() {
  RunRecord record = emptyRecord();
  record.target.mode = ExecutionMode::Compile;
  record.target.modeDefaulted = false;
  addOpen(record, "models/custom_op.pt2");
  return record;
}

RunRecord hostile() {
  RunRecord record = emptyRecord();
  addHostile(record);
  return record;
}

RunRecord twoModels() {
  RunRecord record = emptyRecord();
  ModelBuilder(record, "models/two_models.pt2")
      .evidence("support:1", Confidence::High, false)
      .uses("aten::relu", 2, Claim::Native, "aten::relu is registered in 2.14.3.0.", 5)
      .verdict(Verdict::Ready, Confidence::High, false, "support:1")
      .addModel("dec.v1")
      .uses("aten::roll", 1, Claim::CpuFallback,
            "aten::roll is not registered in 0.1.0-pre, 2026-05-12.", 9)
      .verdict(Verdict::RunsWithFallback, Confidence::High, false, "support:1");
  return record;
}

RunRecord portfolio() {
  RunRecord record = emptyRecord();
  record.command = {"neuron-check", "models/*.pt2"};
  addReady(record, "models/mlp.pt2");
  addBlocked(record, "models/lstm.pt2");
  addUnconfirmed(
      record,
      "models/a/very/long/path/that/does/not/fit/into/a/table/gpt2_tiny_with_a_long_name.pt2");
  addFallback(record, "models/swin.pt2");
  addFallback(record, "models/swin_v2.pt2");
  record.inputs.back().inventory.models.back().uses.pop_back();
  addOpen(record, "models/custom_op.pt2");
  addHostile(record);
  addUnreadable(record);
  return record;
}

RunRecord unreadable() {
  RunRecord record = emptyRecord();
  addUnreadable(record);
  record.inputs.pop_back();
  return record;
}

RunRecord ran() {
  RunRecord record = unconfirmed();
  record.device = "sim";
  record.simulated = true;
  record.seed = 0xFFFFFFFFFFFFFFFF;
  record.profile = "0011223344556677";
  record.shard = "1/2";
  record.notRun = {{.what = "aten::relu (1 use)", .why = "a size is not known", .how = "fix it"}};
  const auto add = [&record](const char* id, const char* op, CaseState state) -> Outcome& {
    Outcome& out = record.outcomes.emplace_back();
    out.id = id;
    out.op = op;
    out.text = std::string(op) + "(f32[2], 'it|s')";
    out.state = state;
    out.stage = "judge";
    out.runs = 1;
    return out;
  };
  add("00000000000000aa", "aten::addmm", CaseState::Pass);
  Outcome& wrong = add("00000000000000bb", "aten::silu", CaseState::Mismatch);
  wrong.cause = "bias";
  wrong.message = "all results are too large";
  wrong.uses = 1;
  wrong.models = {"model.pt2"};
  wrong.fallbacks = {"aten::exp (the backend's list)"};
  OutputOutcome output;
  output.what = "output 0";
  output.state = CaseState::Mismatch;
  output.elements = 2;
  output.wrong = 1;
  output.worstIndex = 1;
  output.worstActual = std::numeric_limits<double>::quiet_NaN();
  output.worstTruth = -std::numeric_limits<double>::infinity();
  output.maxAbs = std::numeric_limits<double>::infinity();
  wrong.attempts = {{.fill = "G3.0", .seed = 7, .state = CaseState::Mismatch, .outputs = {output}}};
  Outcome& dead = add("00000000000000cc", "aten::bmm", CaseState::Crash);
  dead.ending = "signal 11 (Segmentation fault)";
  dead.stderrTail = "bad\nend";
  dead.message = "the process died";
  Outcome& open = add("00000000000000dd", "aten::mm", CaseState::NotRun);
  open = begun(open);
  for (UseClaim& use : record.inputs[0].assessment.models[0].uses) {
    const Model& model = record.inputs[0].inventory.models[0];
    if (model.uses[use.use].op.str() == "aten::silu") {
      use.caseIds = {"00000000000000bb"};
    } else if (use.use < 3) {
      use.caseIds = {"00000000000000aa"};
    }
  }
  return record;
}

std::vector<Named> all() {
  return {{"ready", ready()},
          {"unconfirmed", unconfirmed()},
          {"unknown_release", unknownRelease()},
          {"blocked", blocked()},
          {"open", open()},
          {"hostile", hostile()},
          {"two_models", twoModels()},
          {"portfolio", portfolio()},
          {"unreadable", unreadable()},
          {"ran", ran()}};
}

}  // namespace neuroncheck::report::samples

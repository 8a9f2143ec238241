// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline.h"

#include <fnmatch.h>
#include <sys/utsname.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/io.h"
#include "cli/trace.h"
#include "core/version.h"
#include "opdb/assess.h"
#include "opdb/database_locate.h"
#include "opdb/location.h"
#include "scanner/checkpoint/describe.h"
#include "scanner/digest.h"

namespace neuroncheck::cli {
namespace {

// Hashing a file must not cost more than reading its graph: larger files are reported without a
// digest.
constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{64} << 20;

InputResult notRead(const std::string& path, ErrorCode code, std::string message) {
  InputResult result;
  result.inventory.path = path;
  result.error = Error{.code = code, .message = std::move(message), .context = {}};
  return result;
}

// What --op left out was not judged: the verdict of a part must not read as that of the model.
void noteLeftOut(Assessment& assessment, const std::vector<std::size_t>& leftOut,
                 const std::string& pattern) {
  for (std::size_t i = 0; i < assessment.models.size(); ++i) {
    if (leftOut[i] == 0) {
      continue;
    }
    ModelAssessment& model = assessment.models[i];
    model.verdict = worst(model.verdict, Verdict::Unknown);
    assessment.verdict = worst(assessment.verdict, Verdict::Unknown);
    model.notChecked.insert(
        model.notChecked.begin(),
        NotChecked{.what = fmt::format("{} uses of other operators", leftOut[i]),
                   .why = fmt::format("--op '{}' looks at matching operators only", pattern),
                   .how = "run without --op"});
  }
}

}  // namespace

Result<opdb::Database> openDatabase(const Options& options) {
  if (options.database) {
    return opdb::Database::open(*options.database);
  }
  NEURONCHECK_TRY(const std::string path, opdb::findDefaultDatabase());
  if (const std::string outdated = opdb::outdatedCopy(opdb::findDefaultDatabase({}));
      !outdated.empty() && !options.quiet) {
    printWarning(outdated);
  }
  return opdb::Database::open(path);
}

Result<ScanContext> scanContext(const Options& options, const opdb::Database& database,
                                TorchClient& torch) {
  ScanContext context{.database = database, .scan = {}, .weightsOnly = options.weightsOnly};
  for (const std::string& text : options.inputShapes) {
    NEURONCHECK_TRY(InputShape shape, InputShape::parse(text));
    context.scan.inputShapes.push_back(std::move(shape));
  }
  for (const std::string& library : options.libraries) {
    std::error_code error;
    const auto path = std::filesystem::canonical(library, error);
    if (error) {
      return fail(ErrorCode::Usage, fmt::format("--load-library {}: {}", library, error.message()));
    }
    context.scan.libraries.push_back(path.string());
  }
  if (const auto program = worker::findTorchProgram()) {
    context.scan.torchHost = [&torch](const Json& request) { return torch.ask(request); };
  } else if (program.error().code == ErrorCode::Usage) {
    return tl::unexpected(program.error());
  } else {
    context.scan.torchHostAbsent = program.error().text();
  }
  return context;
}

Result<void> checkScriptFlags(const Options& options, const std::vector<InputResult>& inputs) {
  if (options.inputShapes.empty() && options.libraries.empty()) {
    return {};
  }
  // What could not be read has an error of its own, and may have been the file that was meant.
  const bool any = std::ranges::any_of(inputs, [](const InputResult& input) {
    return input.error || input.inventory.kind == FileKind::TorchScript;
  });
  if (any) {
    return {};
  }
  return fail(ErrorCode::Usage,
              fmt::format("{} is for TorchScript files, and none was given: an exported program "
                          "has its shapes and schemas",
                          options.inputShapes.empty() ? "--load-library" : "--input-shape"));
}

InputResult scanInput(const std::string& path, const ScanContext& context) {
  auto scanned = scanner::scan(path, context.database, context.scan);
  InputResult result;
  if (scanned.inventory) {
    result.inventory = *std::move(scanned.inventory);
    if (scanned.noProgram && !context.weightsOnly) {
      result.error = std::move(scanned.noProgram);
    } else if (scanned.noProgram) {
      result.inventory.models.push_back(scanner::weightsModel(*result.inventory.checkpoint));
    }
  } else {
    result.error = std::move(scanned.inventory).error();
    result.inventory.kind = scanned.kind;
  }
  result.inventory.path = path;
  result.inventory.size = scanned.size;
  if ((scanned.size != 0 || scanned.kind == FileKind::Empty) && scanned.size <= kMaxHashedBytes) {
    result.inventory.sha256 = scanner::sha256OfFile(path).value_or("");
  }
  return result;
}

std::string hostName() {
  utsname host{};
  return uname(&host) == 0 ? fmt::format("{} {} {}", host.sysname, host.release, host.machine)
                           : "unknown";
}

Result<RunRecord> runCheck(const Options& options, const opdb::Database& database,
                           std::vector<std::string> command) {
  NEURONCHECK_TRY(const Target wanted, targetOf(options));
  if (options.trace && wanted.mode != ExecutionMode::Eager) {
    return fail(ErrorCode::Usage,
                "--trace shows what eager mode dispatches: it says nothing of --mode compile");
  }
  RunRecord record;
  NEURONCHECK_TRY(record.target, opdb::resolveTarget(database, wanted));
  record.tool = toolName();
  record.command = std::move(command);
  record.started = utcNow();
  record.environment.host = hostName();
  record.database = fmt::format("{} ({})", database.path(), database.catalogueVersion());
  const std::string today = utcToday();
  TorchClient torch;
  NEURONCHECK_TRY(const ScanContext context, scanContext(options, database, torch));
  Progress progress(options.quiet);
  for (const std::string& path : options.inputs) {
    if (signalReceived() != 0) {
      record.inputs.push_back(
          notRead(path, ErrorCode::Unavailable, "not read: the run was interrupted"));
      continue;
    }
    progress.step(record.inputs.size(), options.inputs.size(), path);
    InputResult input = scanInput(path, context);
    if (!input.error) {
      const std::vector<std::size_t> leftOut = filterOperators(input.inventory, options.opFilter);
      std::vector<ModelTrace> traces;
      if (options.trace) {
        NEURONCHECK_TRY(traces, traceModels(input.inventory, record.target, database,
                                            context.scan.libraries, torch));
      }
      input.assessment = opdb::assess(input.inventory, record.target, database, today, traces);
      noteLeftOut(input.assessment, leftOut, options.opFilter);
    }
    record.inputs.push_back(std::move(input));
  }
  progress.finish();
  NEURONCHECK_TRY_VOID(checkScriptFlags(options, record.inputs));
  if (!database.damage().empty()) {
    // A read that failed answered with nothing: the claims above are not to be shown.
    return inputError(
        fmt::format("{}: damaged operator database: {}", database.path(), database.damage()));
  }
  record.finished = utcNow();
  return record;
}

std::vector<std::size_t> filterOperators(Inventory& inventory, const std::string& pattern) {
  std::vector<std::size_t> leftOut;
  for (Model& model : inventory.models) {
    leftOut.push_back(pattern.empty() ? 0 : std::erase_if(model.uses, [&pattern](const OpUse& use) {
      return fnmatch(pattern.c_str(), use.op.str().c_str(), 0) != 0;
    }));
    for (std::uint32_t id = 0; OpUse & use : model.uses) {
      use.id = id++;
    }
  }
  return leftOut;
}

int withSignal(int code) {
  const int signal = signalReceived();
  return signal == 0 ? code : 128 + signal;
}

}  // namespace neuroncheck::cli

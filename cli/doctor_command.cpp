// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/commands.h"
#include "cli/config.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "cli/torch_client.h"
#include "core/inventory_json.h"
#include "core/version.h"
#include "opdb/assess.h"
#include "opdb/database_locate.h"
#include "opdb/rules.h"
#include "worker/torch_worker.h"

namespace neuroncheck::cli {
namespace {

/// One line of the report: what was looked for, what was found, what to do when it is missing.
struct Check {
  std::string what;
  std::string state;  ///< ok | absent | warning
  std::string detail;
  std::string remedy;
};

// Parts of the design that this version does not have. Naming them keeps "absent" from looking like
// "nothing found".
struct AbsentPart {
  const char* what;
  const char* meaning;
};
constexpr std::array kAbsentParts{
    AbsentPart{"training", "no --training: backward and optimiser operators are not derived"},
    AbsentPart{"neuron-check-cxx", "no scan of C++ and CUDA extension sources"},
    AbsentPart{"neuron-check-viewer", "no desktop viewer"},
};

Check databaseCheck(const opdb::Database& database) {
  const std::vector<opdb::Release> releases = database.releases("torch-neuronx");
  std::string names;
  for (const opdb::Release& release : releases) {
    names += fmt::format("{}{} ({}{})", names.empty() ? "" : ", ", release.name, release.date,
                         release.registrationsComplete ? ", complete" : "");
  }
  return {.what = "operator database",
          .state = releases.empty() ? "warning" : "ok",
          .detail = fmt::format(
              "{}; catalogue of {}; torch-neuronx releases: {}; {} vendor rules, {} features",
              database.path(), database.catalogueVersion(), releases.empty() ? "none" : names,
              database.rules("torch-neuronx").size(), database.features("torch-neuronx").size()),
          .remedy = releases.empty() ? "import a support table: neuron-check db import FILE" : ""};
}

// Evidence older than this many days deserves a look at the vendor's current table.
Check ageCheck(const opdb::Database& database, const Options& options) {
  const auto target = targetOf(options).and_then(
      [&](const Target& wanted) { return opdb::resolveTarget(database, wanted); });
  if (!target) {
    return {.what = "default target",
            .state = "warning",
            .detail = target.error().text(),
            .remedy = ""};
  }
  bool complete = false;
  for (const opdb::Release& release : database.releases(target->product)) {
    complete |= release.name == target->answeringRelease && release.registrationsComplete;
  }
  return {.what = "default target",
          .state = complete ? "ok" : "warning",
          .detail = fmt::format("{} {}, chip {}, mode {}", target->product,
                                target->answeringRelease, target->chip, name(target->mode)),
          .remedy = complete ? ""
                             : "the list of operators of this release is not complete here: import "
                               "the vendor's table "
                               "(neuron-check db import FILE --release " +
                                   target->answeringRelease + ")"};
}

Check torchCheck() {
  TorchClient torch;
  const auto hello = torch.handshake();
  if (!hello) {
    return {.what = "neuron-check-torch",
            .state = "absent",
            .detail = "TorchScript is read by the names in its source only; no --trace",
            .remedy = hello.error().text()};
  }
  const int landlock = hello->value("landlock", 0);
  return {
      .what = "neuron-check-torch",
      .state = landlock > 0 ? "ok" : "warning",
      .detail = fmt::format("libtorch {}; TorchScript is loaded in a sandbox{}",
                            hello->value("torch", "?"), landlock > 0 ? "" : " without file rules"),
      .remedy = landlock > 0 ? ""
                             : "this kernel has no Landlock: the system call filter alone keeps "
                               "a file from others"};
}

/// Which devices cases can be run on from here; none is touched.
Check devicesCheck() {
  const auto program = worker::findTorchProgram();
  if (!program) {
    return {.what = "device runs",
            .state = "absent",
            .detail =
                "no case can be run: what runs on the device and whether its numbers agree "
                "stays not checked",
            .remedy = program.error().text()};
  }
  std::error_code ignored;
  const bool simulator = std::filesystem::exists(
      std::filesystem::path(*program).parent_path() / "libneuron_sim.so", ignored);
  return {.what = "device runs",
          .state = simulator ? "ok" : "warning",
          .detail = fmt::format("--run --device cpu, {}plugin:LIBRARY, python:MODULE; none was "
                                "looked for",
                                simulator ? "sim, " : ""),
          .remedy = simulator ? "" : "the simulated device, libneuron_sim.so, is not there"};
}

std::vector<Check> inspect(const Options& options, bool& usable) {
  std::vector<Check> checks{
      {.what = "program", .state = "ok", .detail = std::string(toolName()), .remedy = ""}};
  if (std::filesystem::exists(kConfigFile)) {
    checks.push_back(
        {.what = "project defaults", .state = "ok", .detail = kConfigFile, .remedy = ""});
  }
  const auto database = openDatabase(options);
  usable = database.has_value();
  if (database) {
    checks.push_back(databaseCheck(*database));
    checks.push_back(ageCheck(*database, options));
    if (const std::string outdated = opdb::outdatedCopy(opdb::findDefaultDatabase({}));
        !outdated.empty() && !options.database) {
      checks.push_back(
          {.what = "database copy", .state = "warning", .detail = outdated, .remedy = ""});
    }
  } else {
    checks.push_back({.what = "operator database",
                      .state = "absent",
                      .detail = database.error().text(),
                      .remedy = "build or install the project, or pass --db FILE"});
  }
  checks.push_back(torchCheck());
  checks.push_back(devicesCheck());
  for (const AbsentPart& part : kAbsentParts) {
    checks.push_back({.what = part.what,
                      .state = "absent",
                      .detail = part.meaning,
                      .remedy = "not part of this version"});
  }
  return checks;
}

void writeText(const std::vector<Check>& checks, std::ostream& out) {
  for (const Check& check : checks) {
    fmt::print(out, "{:<8} {:<20} {}\n", check.state, check.what, harmless(check.detail));
    if (!check.remedy.empty()) {
      fmt::print(out, "{:29} -> {}\n", "", check.remedy);
    }
  }
}

void writeJson(const std::vector<Check>& checks, std::ostream& out) {
  Json document{
      {"schema", "neuron-check/doctor/1"}, {"tool", toolName()}, {"checks", Json::array()}};
  for (const Check& check : checks) {
    document["checks"].push_back({{"what", check.what},
                                  {"state", check.state},
                                  {"detail", check.detail},
                                  {"remedy", check.remedy}});
  }
  out << dumpJson(document, 1) << '\n';
}

Result<int> doctor(const Options& options) {
  const std::string format = options.format.value_or("terminal");
  if (format != "terminal" && format != "json") {
    return fail(ErrorCode::Usage,
                fmt::format("--format '{}': the doctor formats are terminal and json", format));
  }
  bool usable = false;
  const std::vector<Check> checks = inspect(options, usable);
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) -> Result<void> {
    format == "json" ? writeJson(checks, out) : writeText(checks, out);
    return {};
  }));
  return usable ? kExitOk : kExitUnavailable;
}

}  // namespace

void addDoctorCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "doctor", "what is installed, which evidence is loaded, what this version cannot do");
  addDatabaseFlag(*command, line.options);
  addOutputFlags(*command, line.options, "terminal or json (default: terminal)");
  command->footer("Exit code 3 when the operator database cannot be opened.");
  command->callback([&line]() {
    line.action = [&line]() {
      return runCommand(line.options, [&line]() { return doctor(line.options); });
    };
  });
}

}  // namespace neuroncheck::cli

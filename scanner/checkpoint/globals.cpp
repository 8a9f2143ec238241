// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/globals.h"

#include <algorithm>
#include <array>

#include "core/dtype.h"
#include "scanner/pickle/saved_tensor.h"

namespace neuroncheck::scanner {
namespace {

constexpr auto kData =
    std::to_array<std::string_view>({"collections.OrderedDict",
                                     "collections.Counter",
                                     "torch.nn.parameter.Parameter",
                                     "torch.serialization._get_layout",
                                     "torch.Size",
                                     "torch.Tensor",
                                     "torch.device",
                                     "_codecs.encode",
                                     "builtins.bytearray",
                                     "builtins.set",
                                     "__builtin__.set",
                                     "__builtin__.bytearray",
                                     "builtins.complex",
                                     "__builtin__.complex",
                                     "torch.per_tensor_affine",
                                     "torch.per_channel_affine",
                                     "torch.per_tensor_symmetric",
                                     "torch.per_channel_symmetric",
                                     "torch.per_channel_affine_float_qparams",
                                     "torch._tensor._rebuild_from_type_v2",
                                     "torch._utils._rebuild_parameter",
                                     "torch._utils._rebuild_parameter_with_state",
                                     "torch._utils._rebuild_qtensor",
                                     "torch._utils._rebuild_tensor",
                                     "torch._utils._rebuild_tensor_v2",
                                     "torch._utils._rebuild_tensor_v3",
                                     "torch._utils._rebuild_sparse_tensor",
                                     "torch._utils._rebuild_meta_tensor_no_storage",
                                     "torch._utils._rebuild_nested_tensor",
                                     "torch._utils._rebuild_wrapper_subclass",
                                     "torch._utils._rebuild_device_tensor_from_numpy",
                                     "torch._utils._rebuild_device_tensor_from_cpu_tensor",
                                     "torch.storage.TypedStorage"});

/// Modules whose functions act on the machine. A pickle that names one is an attack or a mistake.
constexpr auto kCommandModules =
    std::to_array<std::string_view>({"os",         "posix",
                                     "nt",         "sys",
                                     "subprocess", "shutil",
                                     "socket",     "pty",
                                     "commands",   "popen2",
                                     "runpy",      "importlib",
                                     "imp",        "code",
                                     "codeop",     "ctypes",
                                     "webbrowser", "requests",
                                     "urllib",     "http",
                                     "ftplib",     "smtplib",
                                     "asyncio",    "multiprocessing",
                                     "threading",  "signal",
                                     "tempfile",   "pathlib",
                                     "io",         "pickle",
                                     "_pickle",    "cPickle",
                                     "marshal",    "shelve",
                                     "zipimport",  "pkgutil",
                                     "timeit",     "cProfile",
                                     "pdb",        "bdb",
                                     "platform",   "_posixsubprocess",
                                     "torch.hub",  "torch.utils.cpp_extension",
                                     "distutils",  "setuptools",
                                     "pip",        "site"});

constexpr auto kCommandBuiltins = std::to_array<std::string_view>(
    {"eval",      "exec",       "execfile", "compile", "open",    "file",    "input",
     "raw_input", "__import__", "getattr",  "setattr", "delattr", "globals", "locals",
     "vars",      "breakpoint", "apply",    "map",     "filter",  "reload",  "help"});

constexpr auto kCommands = std::to_array<std::string_view>(
    {"operator.attrgetter", "operator.methodcaller", "operator.itemgetter", "types.CodeType",
     "types.FunctionType", "functools.partial", "functools.reduce", "torch.load", "torch.jit.load",
     "torch.package.PackageImporter", "numpy.load", "numpy.fromfile", "torch.from_file",
     "torch.storage._load_from_bytes"});

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool within(std::string_view name, std::string_view module) {
  return name.starts_with(module) && name.size() > module.size() && name[module.size()] == '.';
}

bool isCommand(std::string_view global) {
  const bool module = std::ranges::any_of(
      kCommandModules, [&](std::string_view listed) { return within(global, listed); });
  if (module || contains(kCommands, global)) {
    return true;
  }
  for (const std::string_view builtins : {"builtins", "__builtin__", "__builtins__"}) {
    if (within(global, builtins) &&
        contains(kCommandBuiltins, global.substr(builtins.size() + 1))) {
      return true;
    }
  }
  return false;
}

bool isDType(std::string_view global) {
  const auto dtype = within(global, "torch") ? parseDType(global) : std::nullopt;
  return dtype && *dtype != DType::Unknown && global == std::string("torch.").append(name(*dtype));
}

bool isStorage(std::string_view global) {
  return within(global, "torch") && pickle::dtypeOfStorageClass(global) &&
         global.ends_with("Storage");
}

}  // namespace

GlobalRisk riskOf(std::string_view global) {
  if (contains(kData, global) || isDType(global) || isStorage(global)) {
    return GlobalRisk::Data;
  }
  if (isCommand(global)) {
    return GlobalRisk::Command;
  }
  if (within(global, "torch.nn.modules") || within(global, "torch.ao.nn")) {
    return GlobalRisk::Module;
  }
  return GlobalRisk::Foreign;
}

void addGlobals(Checkpoint& checkpoint, const std::set<std::string>& names) {
  std::set<std::string> all = names;
  for (const PickleGlobal& global : checkpoint.globals) {
    all.insert(global.name);
  }
  checkpoint.globals.clear();
  for (const std::string& name : all) {
    checkpoint.globals.push_back({.name = name, .risk = riskOf(name)});
  }
}

}  // namespace neuroncheck::scanner

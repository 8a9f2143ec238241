// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/load.h"

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::torchscript {
namespace {

/// Reads from a descriptor that was opened before the sandbox closed the file system.
class DescriptorReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  DescriptorReader(int file, std::uint64_t size) : file_(file), size_(size) {}
  size_t size() const override { return size_; }
  size_t read(uint64_t pos, void* buffer, size_t count, const char* /*what*/) const override {
    auto* bytes = static_cast<char*>(buffer);
    size_t done = 0;
    while (done < count) {
      const ssize_t got =
          ::pread(file_, bytes + done, count - done, static_cast<off_t>(pos + done));
      if (got <= 0) {
        break;
      }
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  int file_;
  std::uint64_t size_;
};

/// libtorch's message without its C++ backtrace; multi-line texts of its compiler stay.
std::string plainMessage(const std::string& text) {
  const std::size_t trace = text.find("\nException raised from");
  std::string out = text.substr(0, trace);
  constexpr std::size_t kLongest = 1500;
  if (out.size() > kLongest) {
    // What happened stands at the end, after the stack.
    out = out.substr(0, kLongest / 2) + "\n...\n" + out.substr(out.size() - kLongest / 2);
  }
  return out;
}

struct Attempted {
  std::optional<torch::jit::Module> module;
  std::string error;
};

Attempted loadOnce(int file, std::uint64_t size, std::optional<c10::Device> device) {
  try {
    return {.module = torch::jit::load(std::make_shared<DescriptorReader>(file, size), device),
            .error = {}};
  } catch (const std::exception& error) {
    return {.module = std::nullopt, .error = plainMessage(error.what())};
  }
}

/// The operator that libtorch's compiler does not know, by its message; nullopt for any other.
std::optional<std::string> unknownOperator(const std::string& message) {
  static const std::regex pattern(
      R"(Unknown builtin op: ([A-Za-z_][A-Za-z0-9_]*::[A-Za-z0-9_.]+)\.)");
  std::smatch match;
  if (!std::regex_search(message, match, pattern)) {
    return std::nullopt;
  }
  return match[1].str();
}

}  // namespace

Result<Loaded> loadModule(int file, std::uint64_t size, StubRegistry& stubs) {
  constexpr int kMostAttempts = 200;
  std::optional<c10::Device> device = c10::Device(c10::kMeta);
  std::string metaError;
  for (int i = 0; i < kMostAttempts; ++i) {
    Attempted attempt = loadOnce(file, size, device);
    if (attempt.module) {
      Loaded loaded{
          .module = *std::move(attempt.module), .onMeta = device.has_value(), .notes = {}};
      if (!metaError.empty()) {
        loaded.notes.push_back(
            fmt::format("loaded with memory for its tensors, because that without failed: {}",
                        metaError.substr(0, metaError.find('\n'))));
      }
      return loaded;
    }
    const auto unknown = unknownOperator(attempt.error);
    if (unknown && stubs.add(*unknown)) {
      continue;
    }
    if (stubs.tryNextGuess()) {
      continue;
    }
    if (device) {
      metaError = attempt.error;
      device.reset();
      stubs.restartGuesses();
      continue;
    }
    return inputError(attempt.error);
  }
  return inputError(
      fmt::format("more than {} attempts to find schemas for its custom operators", kMostAttempts));
}

}  // namespace neuroncheck::torchscript

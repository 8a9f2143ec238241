// SPDX-License-Identifier: Apache-2.0
// neuron-check-torch: the only program that links libtorch. neuron-check starts it and talks to it
// over pipes; people can ask it for its version.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "torch_host/requests.h"
#include "worker/frame.h"

namespace {

using nlohmann::json;

std::string text(const json& message) {
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

int serve() {
  namespace worker = neuroncheck::worker;
  std::signal(SIGPIPE, SIG_IGN);
  // Answers go to a descriptor of their own: a library that prints must not spoil the stream.
  const int output = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!worker::writeFrame(output, text(neuroncheck::torch_host::handshake()))) {
    return 1;
  }
  while (true) {
    const auto frame = worker::readFrame(STDIN_FILENO);
    if (!frame) {
      fmt::print(stderr, "{}\n", frame.error().text());
      return 1;
    }
    if (!*frame) {
      return 0;
    }
    const json request = json::parse(**frame, nullptr, false);
    if (request.is_object() && request.value("do", "") == "quit") {
      return 0;
    }
    if (!worker::writeFrame(output, text(neuroncheck::torch_host::answer(request)))) {
      return 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view command = argc == 2 ? argv[1] : "";
  if (command == "worker") {
    return serve();
  }
  if (command == "--version") {
    fmt::print("{}\n", text(neuroncheck::torch_host::handshake()));
    return 0;
  }
  fmt::print(stderr,
             "usage: neuron-check-torch worker | --version\n\n"
             "Reads TorchScript files and dispatches operators for neuron-check, which starts it "
             "by itself.\nMessages on standard input and output: docs/worker-protocol.md.\n");
  return 2;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 4;
}

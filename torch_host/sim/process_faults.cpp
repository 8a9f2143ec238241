// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/process_faults.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace neuroncheck::sim {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

void* takeMebibyte() {
  void* data =
      ::mmap(nullptr, kMebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return nullptr;
  }
  std::memset(data, 0x5a, kMebibyte);
  return data;
}

/// No compiler may see that it never ends, nor make a loop of it.
// NOLINTNEXTLINE(misc-no-recursion): that is the fault
int sink(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : sink(depth + 1) + frame[0];
}

[[noreturn]] void hang(bool noisy) {
  for (;;) {
    if (noisy && ::write(STDERR_FILENO, ".", 1) < 0) {
      noisy = false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

[[noreturn]] void killSelf() {
  ::kill(::getpid(), SIGKILL);
  ::raise(SIGKILL);  // a sandbox may forbid the first
  std::_Exit(137);
}

}  // namespace

void disturbProcess(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::Segv: {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
      break;
    }
    case FaultKind::Abort:
      std::abort();
    case FaultKind::Exit:
      std::_Exit(fault.exitCode);
    case FaultKind::Sigkill:
      killSelf();
    case FaultKind::StackOverflow:
      std::exit(sink(0));
    case FaultKind::Hang:
      hang(false);
    case FaultKind::HangWithOutput:
      hang(true);
    case FaultKind::Slow:
      std::this_thread::sleep_for(std::chrono::milliseconds(fault.milliseconds));
      break;
    case FaultKind::Leak:
      for (std::int64_t i = 0; i < fault.mebibytes; ++i) {
        takeMebibyte();
      }
      break;
    default:
      break;
  }
}

std::int64_t exhaustMemory(std::int64_t mebibytes) {
  std::vector<void*> blocks;
  blocks.reserve(static_cast<std::size_t>(mebibytes));
  while (static_cast<std::int64_t>(blocks.size()) < mebibytes) {
    void* block = takeMebibyte();
    if (block == nullptr) {
      break;
    }
    blocks.push_back(block);
  }
  for (void* block : blocks) {
    ::munmap(block, kMebibyte);
  }
  return static_cast<std::int64_t>(blocks.size());
}

}  // namespace neuroncheck::sim

// SPDX-License-Identifier: Apache-2.0
#include "worker/frame.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck::worker {
namespace {

constexpr std::size_t kHeader = 4;
// Memory grows with what arrives, so that a claimed length alone costs nothing.
constexpr std::size_t kStep = std::size_t{1} << 20;

tl::unexpected<Error> streamError(const char* what, int code) {
  return fail(ErrorCode::Unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(code)));
}

Result<void> writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return streamError("the worker takes no message", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// Waits until `fd` has something to read; Unavailable when the deadline passes first.
Result<void> waitReadable(int fd, std::optional<Clock::time_point> deadline) {
  while (true) {
    int wait = -1;
    if (deadline) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      wait = static_cast<int>(std::clamp<decltype(left)>(left, 0, 60'000));
    }
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&entry, 1, wait);
    if (ready > 0) {
      return {};
    }
    if (ready < 0 && errno != EINTR) {
      return streamError("waiting for the worker", errno);
    }
    if (deadline && Clock::now() >= *deadline) {
      return fail(ErrorCode::Unavailable, "no answer in time");
    }
  }
}

/// Reads up to `count` bytes; fewer only at the end of the stream.
Result<std::string> readUpTo(int fd, std::size_t count, std::optional<Clock::time_point> deadline) {
  std::string out;
  while (out.size() < count) {
    NEURONCHECK_TRY_VOID(waitReadable(fd, deadline));
    const std::size_t old = out.size();
    out.resize(old + std::min(kStep, count - old));
    const ssize_t got = ::read(fd, out.data() + old, out.size() - old);
    out.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) {
      return streamError("reading from the worker", errno);
    }
    if (got == 0) {
      break;
    }
  }
  return out;
}

}  // namespace

Result<void> writeFrame(int fd, std::string_view message) {
  if (message.size() > kMaxFrame) {
    return fail(ErrorCode::Internal,
                fmt::format("a message of {} bytes is too long for a worker", message.size()));
  }
  std::string header(kHeader, '\0');
  for (std::size_t i = 0; i < kHeader; ++i) {
    header[i] = static_cast<char>((message.size() >> (8 * i)) & 0xFF);
  }
  NEURONCHECK_TRY_VOID(writeAll(fd, header));
  return writeAll(fd, message);
}

Result<std::optional<std::string>> readFrame(int fd, std::optional<Clock::time_point> deadline,
                                             std::uint32_t maxBytes) {
  NEURONCHECK_TRY(const std::string header, readUpTo(fd, kHeader, deadline));
  if (header.empty()) {
    return std::nullopt;
  }
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(header[i])) << (8 * i);
  }
  if (header.size() < kHeader) {
    return fail(ErrorCode::Unavailable, "the worker's answer ends within its length");
  }
  if (length > maxBytes) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the worker's answer claims {} bytes, more than the {} allowed", length,
                            maxBytes));
  }
  NEURONCHECK_TRY(std::string message, readUpTo(fd, length, deadline));
  if (message.size() < length) {
    return fail(ErrorCode::Unavailable, fmt::format("the worker's answer ends after {} of {} bytes",
                                                    message.size(), length));
  }
  return std::optional(std::move(message));
}

}  // namespace neuroncheck::worker

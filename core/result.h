// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace neuroncheck {

/// What kind of failure an Error is; the command line maps it to an exit code (docs/cli.md).
enum class ErrorCode : std::uint8_t {
  Usage,        ///< the caller asked for something impossible (exit 2)
  Input,        ///< a file is unreadable, damaged, hostile or of an unsupported kind (exit 2)
  Unavailable,  ///< a device, backend or optional program is absent (exit 3)
  Output,       ///< a report could not be written (exit 4)
  Internal,     ///< our own fault (exit 4)
  Nothing,      ///< nothing was found, matched or run (exit 5)
};

/// A failure as a value. `message` says what happened and names the record or argument; each layer
/// that passes the error on may add one line of context ("while reading models/model.json"),
/// innermost first.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::vector<std::string> context;
  std::source_location where = std::source_location::current();

  /// The message with its context, outermost first: "a.pt2: models/model.json: node 7: unknown
  /// union member".
  [[nodiscard]] std::string text() const;
  /// Adds a layer of context and returns the error, for use in a return statement.
  [[nodiscard]] Error&& within(std::string layer) &&;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Makes the failing alternative of a Result.
[[nodiscard]] tl::unexpected<Error> fail(
    ErrorCode code, std::string message,
    std::source_location where = std::source_location::current());
[[nodiscard]] inline tl::unexpected<Error> inputError(
    std::string message, std::source_location where = std::source_location::current()) {
  return fail(ErrorCode::Input, std::move(message), where);
}

/// Prints the broken invariant with a backtrace and aborts. For programmer errors only, never for
/// input.
[[noreturn]] void invariantBroken(std::string_view expression, std::string_view message,
                                  std::source_location where = std::source_location::current());

}  // namespace neuroncheck

/// Aborts when an invariant of our own code does not hold.
#define NEURONCHECK_CHECK(condition, message)                \
  do {                                                       \
    if (!(condition)) {                                      \
      ::neuroncheck::invariantBroken(#condition, (message)); \
    }                                                        \
  } while (false)

#define NEURONCHECK_CONCAT_(a, b) a##b
#define NEURONCHECK_CONCAT(a, b) NEURONCHECK_CONCAT_(a, b)

/// `NEURONCHECK_TRY(auto x, f());` assigns the value of a Result or returns its Error from the
/// enclosing function.
#define NEURONCHECK_TRY(declaration, expression) \
  NEURONCHECK_TRY_(NEURONCHECK_CONCAT(tryResult, __LINE__), declaration, expression)
#define NEURONCHECK_TRY_(name, declaration, expression) \
  auto name = (expression);                             \
  if (!name) {                                          \
    return ::tl::unexpected(std::move(name).error());   \
  }                                                     \
  declaration = *std::move(name)

/// The same for a Result<void>.
#define NEURONCHECK_TRY_VOID(expression)                   \
  do {                                                     \
    if (auto tryVoid = (expression); !tryVoid) {           \
      return ::tl::unexpected(std::move(tryVoid).error()); \
    }                                                      \
  } while (false)

// SPDX-License-Identifier: Apache-2.0
#include "core/result.h"

#include <backward.hpp>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck {

std::string Error::text() const {
  std::string out;
  for (const std::string& layer : std::views::reverse(context)) {
    out += layer;
    out += ": ";
  }
  return out + message;
}

Error&& Error::within(std::string layer) && {
  context.push_back(std::move(layer));
  return std::move(*this);
}

tl::unexpected<Error> fail(ErrorCode code, std::string message, std::source_location where) {
  return tl::unexpected<Error>(Error{code, std::move(message), {}, where});
}

void invariantBroken(std::string_view expression, std::string_view message,
                     std::source_location where) {
  fmt::print(stderr, "neuron-check: internal fault at {}:{} in {}: {} ({})\n", where.file_name(),
             where.line(), where.function_name(), message, expression);
  backward::StackTrace trace;
  trace.load_here(32);
  backward::Printer printer;
  printer.snippet = false;
  printer.print(trace, stderr);
  (void)std::fflush(stderr);
  std::abort();
}

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace neuroncheck::scanner::testing {

/// `text` with every `from` replaced by `to`; aborts the test program when there is none, so that
/// no test loses its point.
[[nodiscard]] std::string with(std::string text, std::string_view from, std::string_view to);

/// JSON of a program of two nodes over one parameter and one input of symbolic length: `linear`,
/// then `relu`.
[[nodiscard]] std::string smallProgram();

/// A layout C archive of that program with its two configs; a root folder "m/".
[[nodiscard]] std::string smallArchive(std::string_view programJson);

/// The weights config of that archive.
[[nodiscard]] std::string smallWeightsConfig();

}  // namespace neuroncheck::scanner::testing

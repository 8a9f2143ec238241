// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace neuroncheck::scanner {

/// Text of a file as it may stand in messages and reports: bytes that are no UTF-8 and control
/// characters become "\xNN", everything beyond `maxBytes` an ellipsis.
[[nodiscard]] std::string printable(std::string_view text, std::size_t maxBytes = 200);

/// "1 tensor", "2 tensors".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

/// Length of the UTF-8 sequence at the start of `text`, 0 when it starts with none.
[[nodiscard]] std::size_t utf8Length(std::string_view text);

}  // namespace neuroncheck::scanner

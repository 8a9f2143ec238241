// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "scanner/pickle/machine.h"
#include "scanner/pickle/opcodes.h"

namespace neuroncheck::scanner::pickle {

/// The number, text, bytes, bool or None an opcode pushes; nullopt for one that does anything else.
[[nodiscard]] std::optional<Value> scalarOf(const Opcode& opcode);

/// The argument of a text opcode without its newline.
[[nodiscard]] std::string_view withoutNewline(std::string_view argument);

}  // namespace neuroncheck::scanner::pickle

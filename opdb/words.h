// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The words the data files and the database use for the enumerations of core and database.h.
[[nodiscard]] std::string_view name(RowScope scope);
[[nodiscard]] std::optional<RowScope> parseRowScope(std::string_view word);
/// "cia", "cea", "ceanf", "kernel"; "" for Unknown.
[[nodiscard]] std::string_view name(DispatchClass dispatchClass);
[[nodiscard]] std::optional<DispatchClass> parseDispatchClass(std::string_view word);
/// "", "view", "view_or_copy", "kernel_view".
[[nodiscard]] std::string_view name(ViewClass viewClass);
[[nodiscard]] std::optional<ViewClass> parseViewClass(std::string_view word);

/// The non-empty parts between separators, trimmed.
[[nodiscard]] std::vector<std::string> splitWords(std::string_view text, char separator);
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Lower case of ASCII letters.
[[nodiscard]] std::string lowered(std::string_view text);

/// The packet of the functional form: "aten::relu" for "aten::relu_"; the packet itself for an
/// operator that is not in place by name ("aten::__ilshift__" is none).
[[nodiscard]] std::string functionalPacket(const OpName& op);

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "core/arg_value.h"
#include "core/result.h"
#include "core/schema.h"
#include "core/text_cursor.h"

namespace neuroncheck {

/// The largest N of "int[N]": a scalar default is copied that often.
inline constexpr std::size_t kMaxFixedLength = 64;

/// Reads the default value of a schema argument whose type facts are known; the cursor stands
/// behind the "=". `fixedLength` is N of "int[N]": there a scalar default stands for N copies, as
/// in torch. Enumerations may be given by torch's word ("contiguous_format", "long", "Mean") or, as
/// torch prints schemas, by the integer of its c10 enumeration.
[[nodiscard]] Result<ArgValue> parseSchemaDefault(TextCursor& cursor,
                                                  const SchemaArgument& argument,
                                                  std::optional<std::size_t> fixedLength);

}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/result.h"
#include "opdb/import.h"
#include "opdb/import_names.h"
#include "opdb/import_row.h"
#include "opdb/table.h"

namespace neuroncheck::opdb {

/// Turns one foreign table into rows of our own columns. Skipped rows and words go to `report`, and
/// the mapping of columns. Fails with Usage when several columns could be meant, or none is called
/// "status", "support", "supported" or "support status" although one speaks of it. A table without
/// an operator or a status column gives no rows and a note.
[[nodiscard]] Result<std::vector<FieldRow>> foreignRows(const Table& table,
                                                        const OperatorNames& names,
                                                        const ImportOptions& options,
                                                        ImportReport& report);

}  // namespace neuroncheck::opdb

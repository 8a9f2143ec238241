// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace neuroncheck::opdb::sqlite {

/// Marks a SQLite file as an operator database ("NCOD" in the file header).
inline constexpr std::int32_t kApplicationId = 0x4E434F44;

/// The SQL of every migration, in order: number 1 first. `PRAGMA user_version` holds how many were
/// applied. Generated at build time from opdb/migrations/*.sql.
[[nodiscard]] std::span<const std::string_view> migrations();

}  // namespace neuroncheck::opdb::sqlite

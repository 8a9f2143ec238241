# SPDX-License-Identifier: Apache-2.0
# Writes the numbered migrations as one C++ source. Called with -DOUTPUT=... -DINPUTS=a.sql|b.sql
string(REPLACE "|" ";" files "${INPUTS}")
list(LENGTH files count)
set(text "// SPDX-License-Identifier: Apache-2.0\n// Generated from opdb/migrations/*.sql.\n#include \"opdb/sqlite/migrations.h\"\n\n")
string(APPEND text "namespace neuroncheck::opdb::sqlite {\nnamespace {\n\nconstexpr std::array<std::string_view, ${count}> kMigrations = {{\n")
foreach(file IN LISTS files)
  file(READ "${file}" sql)
  string(APPEND text "R\"migration(${sql})migration\",\n")
endforeach()
string(APPEND text "}};\n\n}  // namespace\n\nstd::span<const std::string_view> migrations() { return kMigrations; }\n\n}  // namespace neuroncheck::opdb::sqlite\n")
file(WRITE "${OUTPUT}" "${text}")

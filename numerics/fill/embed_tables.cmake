# SPDX-License-Identifier: Apache-2.0
# Writes the tables of datasets/numerics that fills need as one C++ source. Called with -DOUTPUT=... -DLEGALITY=... -DEDGES=...
set(text "// SPDX-License-Identifier: Apache-2.0\n// Generated from datasets/numerics/*.tsv.\n#include \"numerics/fill/fill_plan.h\"\n\nnamespace neuroncheck::numerics {\n")
foreach(pair IN ITEMS "legalityTableText|${LEGALITY}" "domainEdgeTableText|${EDGES}")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 function)
  list(GET pair 1 file)
  file(READ "${file}" table)
  string(APPEND text "\nstd::string_view ${function}() {\n  return R\"table(${table})table\";\n}\n")
endforeach()
string(APPEND text "\n}  // namespace neuroncheck::numerics\n")
file(WRITE "${OUTPUT}" "${text}")

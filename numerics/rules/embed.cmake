# SPDX-License-Identifier: Apache-2.0
# Writes the rule tables as one C++ source. Called with -DOUTPUT=... -DFOLDER=...
file(READ "${FOLDER}/op_rules.tsv" rules)
file(READ "${FOLDER}/companions.tsv" companions)
set(text "// SPDX-License-Identifier: Apache-2.0\n// Generated from datasets/numerics/*.tsv.\n#include \"numerics/rules/rule_data.h\"\n\n")
string(APPEND text "namespace neuroncheck::numerics::rule_data {\n\n")
string(APPEND text "std::string_view opRulesText() {\n  return R\"table(${rules})table\";\n}\n\n")
string(APPEND text "std::string_view companionsText() {\n  return R\"table(${companions})table\";\n}\n\n")
string(APPEND text "}  // namespace neuroncheck::numerics::rule_data\n")
file(WRITE "${OUTPUT}" "${text}")

// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_rows.h"

namespace neuroncheck::opdb::test {
namespace {

using Given = InventoryBuilder::Given;

ArgValue of(DType dtype) { return tensor(dtype); }
ArgValue symbolic() { return tensor(DType::Float32, {symbol("s0"), SymInt(4)}); }

/// Arguments named in `names`, all of one type.
Given all(const std::vector<std::string>& names, DType dtype) {
  Given given;
  for (const std::string& name : names) {
    given.emplace(name, of(dtype));
  }
  return given;
}

}  // namespace

std::vector<RowCase> rowCases() {
  constexpr Severity kError = Severity::Error;
  constexpr Severity kWarning = Severity::Warning;
  const Given strided{{"stride", integers({2, 2})}, {"dilation", integers({2, 2})}};
  const Given plain{{"stride", integers({2, 2})}, {"dilation", integers({1, 1})}};
  Given transposed = strided;
  transposed.emplace("transposed", boolean(true));
  Given forward = strided;
  forward.emplace("transposed", boolean(false));
  Given adding = all({"self"}, DType::Int64);
  adding.emplace("accumulate", boolean(true));
  Given writing = all({"self"}, DType::Int64);
  writing.emplace("accumulate", boolean(false));

  std::vector<RowCase> rows;
  const auto row = [&rows](std::string code, std::string first, std::string rule, Severity severity,
                           Given fires, Given near) {
    rows.push_back({std::move(code), std::move(first), std::move(rule), severity, std::move(fires),
                    std::move(near), "trn2"});
  };
  row("NCC_EVRF001", "aten::triangular_solve", "NC251", kError, {}, RowCase::other());
  row("NCC_EVRF004", "*", "NC406", kError, all({"self"}, DType::Complex64), {});
  row("NCC_EVRF005", "*", "NC407", kError, all({"self"}, DType::Float8E4M3FNUZ),
      all({"self"}, DType::Float8E4M3FN));
  row("NCC_EVRF010", "aten::convolution", "NC252", kError, transposed, forward);
  row("NCC_EVRF010", "aten::conv_transpose1d", "NC252", kError, strided, plain);
  row("NCC_EVRF013", "aten::topk", "NC253", kError, all({"self"}, DType::Int64), {});
  row("NCC_EVRF016", "aten::scatter_reduce", "NC254", kError, all({"self"}, DType::UInt8), {});
  row("NCC_EVRF016", "aten::scatter.reduce", "NC254", kError, all({"self"}, DType::Bool), {});
  row("NCC_EVRF016", "aten::index_put", "NC254", kError, adding, writing);
  row("NCC_EVRF018", "aten::max_pool1d", "NC255", kError, {{"dilation", integers({1, 2})}},
      {{"dilation", integers({1, 1})}});
  row("NCC_EVRF060", "aten::scatter_add", "NC258", kWarning, all({"self"}, DType::Int32), {});
  row("NCC_EVRF061", "_c10d_functional::all_reduce", "NC259", kWarning,
      all({"input"}, DType::Int32), {});
  row("NCC_EVRF062", "aten::pow.Tensor_Tensor", "NC260", kWarning, all({"self"}, DType::Int64), {});
  row("NCC_EVRF062", "aten::pow.Scalar", "NC260", kWarning, all({"exponent"}, DType::Int64), {});
  row("NCC_EVRF063", "_c10d_functional::reduce_scatter_tensor", "NC261", kWarning,
      all({"input"}, DType::Int64), {});
  row("NCC_EVRF022", "aten::__rshift__.Scalar", "NC256", kError, all({"self"}, DType::Int8),
      all({"self"}, DType::Int32));
  row("NCC_EVRF035", "aten::mm", "NC411", kError, all({"self"}, DType::Int64), {});
  row("NCC_EVRF035", "aten::addmm", "NC411", kError, all({"mat1"}, DType::Int32), {});
  row("NCC_EVRF035", "aten::linear", "NC411", kError, all({"input"}, DType::Int32), {});
  row("NCC_EVRF051", "*", "NC408", kError, all({"self"}, DType::Float8E4M3FN),
      all({"self"}, DType::Float8E5M2));
  row("NCC_EMOD025", "*", "NC301", kError, {{"self", symbolic()}}, {});
  row("NCC_EVRF029", "aten::sort", "NC257", kWarning, {}, RowCase::other());
  return rows;
}

std::vector<std::string> operatorsOf(const CompilerRule& rule) {
  std::vector<std::string> out;
  for (const std::string& target : rule.targets) {
    if (target == "*") {
      out.emplace_back("aten::neg");
      continue;
    }
    if (rule.scope == RowScope::Overload) {
      out.push_back(target);
      continue;
    }
    for (const OpName& overload : database().overloads(target)) {
      const OpInfo* info = database().find(overload);
      if (info != nullptr && !info->schema.isOut()) {
        out.push_back(overload.str());
      }
    }
  }
  return out;
}

}  // namespace neuroncheck::opdb::test

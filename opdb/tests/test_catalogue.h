// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schema.h"
#include "opdb/builder.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "opdb-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
    std::filesystem::remove_all(path_, error);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline void writeFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}
inline std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A small catalogue of real schemas.
inline const std::vector<std::string>& smallSchemas() {
  static const std::vector<std::string> kSchemas = {
      "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
      "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
      "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
      "aten::relu(Tensor self) -> Tensor",
      "aten::relu_(Tensor(a!) self) -> Tensor(a!)",
      "aten::gelu(Tensor self, *, str approximate='none') -> Tensor",
      "aten::gelu.out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)",
      "aten::mm(Tensor self, Tensor mat2) -> Tensor",
      "aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
      "aten::linalg_inv(Tensor A) -> Tensor",
      "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
      "padding, "
      "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
      "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] "
      "padding=0, "
      "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
      "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
      "MemoryFormat? memory_format=None) -> Tensor(a)",
      "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
      "prims::gelu_like(Tensor self) -> Tensor",
      "prims::exp(Tensor self) -> Tensor",
      "other::exp(Tensor self) -> Tensor",
  };
  return kSchemas;
}

/// The data files of a small database in a folder, each of which a test may overwrite before
/// building.
inline BuildInputs smallInputs(const TemporaryFolder& folder) {
  BuildInputs inputs;
  inputs.catalogueVersion = "torch 2.13.0";
  std::string ops;
  for (const std::string& schema : smallSchemas()) {
    ops += fmt::format(
        R"({{"name":"{}","schema":"{}","tags":["core"],"variants":["function"],"dispatch_class":"kernel",)"
        R"("structured_twin":null,"cpu_kernel":true,"throws_only":false,"view":"","mutates":false,"core_decomp":false}})"
        "\n",
        schema.substr(0, schema.find('(')), schema);
  }
  inputs.ops = folder / "ops.jsonl";
  writeFile(inputs.ops, ops);
  inputs.expansions = folder / "expansions.jsonl";
  writeFile(
      inputs.expansions,
      R"({"op":"aten::conv2d","child":"aten::convolution","times":"1","mode":"always","condition":null,)"
      R"("args":{"input":{"parent":"input"},"transposed":{"const":false}},"samples":7,"source":"opinfo"})"
      "\n");
  inputs.releases = folder / "releases.csv";
  writeFile(inputs.releases,
            "product,release,order,sdk,date,torch,compiler,registrations_complete,note\n"
            "torch-neuronx,2.12.3,1,2.32,2026-09-15,2.12.1,neuronx-cc 2.27,no,\n"
            "torch-neuronx,2.14.3.0,2,2.33.0,2026-10-20,2.14.0,neuronx-cc 2.28,yes,\n"
            "torch-xla,2.9,1,2.31,2026-01-01,2.9,,no,another product\n");
  inputs.support = folder / "support.csv";
  writeFile(
      inputs.support,
      "op,scope,status,product,release,mode,chip,dtypes,predicate,otherwise,path_note,vendor_test,"
      "note,"
      "evidence,confidence,observed,source\n"
      "aten::relu,packet,native,torch-neuronx,2.14.3.0,eager,,,,,,,,documented,high,2026-10-20,"
      "vendor\n"
      "aten::gelu,overload,native,torch-neuronx,2.12.3,eager,,\"float32,bfloat16\","
      "\"approximate in "
      "{'none','tanh'}\",unsupported,,xfail,,measured-by-user,medium,2026-09-15,user\n"
      "aten::relu,packet,unsupported,torch-xla,2.9,any,,,,,,,,documented,high,2026-01-01,xla page\n"
      "aten::mm,overload,native,torch-xla,2.9,any,,,,,,,,documented,high,2026-01-01,xla page\n");
  inputs.features = folder / "features.csv";
  writeFile(inputs.features,
            "id,applies_to,mode,status,message,release,evidence,confidence,source\n"
            "sparse,sparse layouts,any,unsupported,sparse tensors are "
            "refused,2.14.3.0,documented,medium,page\n");
  inputs.rules = folder / "rules.csv";
  writeFile(inputs.rules,
            "code,hlo,targets,scope,mode,predicate,machine_checkable,note,product,release,answers_"
            "for,evidence,"
            "confidence,source\n"
            "NCC_X1,integer dot,aten::mm,packet,any,dtype(self) == "
            "int64,yes,,neuronx-cc,2.27,torch-neuronx,"
            "documented,high,page\n"
            "NCC_X2,complex,*,packet,any,any_dtype in "
            "{complex64},yes,,neuronx-cc,2.27,torch-neuronx,documented,high,page\n"
            "NCC_X3,hidden,,,any,,no,,neuronx-cc,2.27,torch-xla,documented,high,page\n");
  return inputs;
}

/// Builds the small database of a folder; a test that calls this expects the files to be good.
inline std::string buildSmall(const TemporaryFolder& folder) {
  const std::string path = folder / "operators.db";
  const auto built = buildDatabase(smallInputs(folder), path);
  EXPECT_TRUE(built.has_value()) << (built ? "" : built.error().text());
  if (built) {
    EXPECT_TRUE(built->problems.empty()) << built->problems.front();
  }
  return path;
}

inline Database openSmall(const std::string& path) {
  auto database = Database::open(path);
  if (!database) {
    throw std::runtime_error(database.error().text());
  }
  return *std::move(database);
}

inline OpName op(std::string_view text) { return OpName::parse(text).value(); }

}  // namespace neuroncheck::opdb

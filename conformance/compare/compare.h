// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "numerics/verdict/judgement.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::conformance {

/// How the tensors of two files are paired and judged.
struct CompareOptions {
  /// Names that differ: expected, actual. Others are paired by equal names.
  std::vector<std::pair<std::string, std::string>> map;
  /// The operator that made every tensor ("aten::mm"; "aten::max.dim#1" for its second output), and
  /// of single ones by the name in EXPECTED, which wins.
  std::optional<std::string> op;
  std::map<std::string, std::string> opOf;
  std::optional<double> reduction;              ///< terms of the sum behind one element
  std::optional<numerics::Format> accumulator;  ///< of the device; absent: fp32 (fp64 of fp64)
  std::optional<numerics::AllcloseTolerance> allclose;  ///< an extra gate beside the verdict
  unsigned threads = 1;                                 ///< at most; the report is the same
  std::string filter;                                   ///< only names that contain this
  tensor_io::OpenOptions open;
  /// Called now and then, by every pass over a tensor: elements done of all, the tensor at hand and
  /// which pass it is. True stops the comparison at once.
  std::function<bool(std::int64_t done, std::int64_t total, const std::string& name)> progress;
};

/// One tensor of EXPECTED and what came of it.
struct TensorComparison {
  std::string name;        ///< in EXPECTED
  std::string actualName;  ///< in ACTUAL
  std::string expected;    ///< "f64[4,16]"; empty where it could not be read
  std::string actual;
  std::vector<std::int64_t> sizes;  ///< of the result; complex with its components
  std::string judgedAs;             ///< the rule in words
  bool unreadable = false;          ///< the file is damaged here: exit code 2
  numerics::Judgement judgement;
};

struct CompareReport {
  std::string expectedPath;
  std::string actualPath;
  std::vector<TensorComparison> tensors;  ///< in the order of EXPECTED
  std::vector<std::string> onlyInActual;  ///< never compared
  std::size_t filteredOut = 0;            ///< names of EXPECTED that the filter left out
  std::optional<numerics::AllcloseTolerance> allclose;
  bool stopped = false;  ///< interrupted: what is not in `tensors` was not compared

  /// Every tensor passes, the extra gate too where there is one, and there is one at all.
  [[nodiscard]] bool passes() const;
  [[nodiscard]] bool unreadable() const;
  [[nodiscard]] std::size_t count(CaseState state) const;
};

/// Judges every tensor of one file against the truth in another; files may be larger than memory.
/// Fails with Input for files that cannot be opened, are one and the same, or whose names do not
/// fit `map`; with Usage for an operator without a name or a sum without a length; with Nothing
/// when there is no tensor to compare.
///
/// With the tensors alone the magnitudes behind their sums are not known: they are estimated from
/// the size of the results, and each comparison says so.
[[nodiscard]] Result<CompareReport> compareFiles(const std::string& expectedPath,
                                                 const std::string& actualPath,
                                                 const CompareOptions& options);

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
// Faults of operators other than the matrix product, each on data that is right but for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "numerics/tests/mutation/evidence.h"
#include "numerics/tests/mutation/subjects.h"

namespace neuroncheck::numerics::testing {
namespace {

using Subjects = std::vector<Subject> (*)(DType);

Bench benchOf(std::initializer_list<Subjects> kinds) {
  Bench bench;
  for (const Subjects subjects : kinds) {
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16}) {
      for (const Subject& subject : subjects(dtype)) {
        bench.run(subject);
      }
    }
  }
  return bench;
}

void check(std::string_view section, const Bench& bench) {
  expectLegalPass(bench.legal());
  expectCaught(bench.faults());
  expectEvidence(std::string(section) + " summary", summaryText(bench.faults(), bench.legal()));
  expectEvidence(std::string(section) + " table", tableText(bench.faults()));
}

TEST(MutationTable, ContractionFaultsAreCaught) {
  check("contraction", benchOf({convolutionSubjects, matmulBackwardSubjects}));
}

TEST(MutationTable, ReductionFaultsAreCaught) { check("reduction", benchOf({reductionSubjects})); }

TEST(MutationTable, NormalisationFaultsAreCaught) {
  check("normalisation", benchOf({normSubjects, softmaxSubjects, attentionSubjects}));
}

TEST(MutationTable, ElementwiseFaultsAreCaught) {
  check("elementwise", benchOf({elementwiseSubjects}));
}

TEST(MutationTable, IndexFaultsAreCaught) {
  Bench bench = benchOf({indexSubjects});
  for (const Subject& subject : integerSubjects()) {
    bench.run(subject);
  }
  check("index", bench);
}

TEST(MutationTable, FaultsOfIndexResultsAreCaught) {
  Bench bench;
  for (const DType dtype : {DType::Float32, DType::BFloat16}) {
    for (const Subject& subject : selectionSubjects(dtype)) {
      bench.run(subject);
    }
  }
  check("selection", bench);
  // Nothing is rounded: there is no noise to hide in.
  EXPECT_TRUE(
      std::ranges::none_of(bench.faults(), [](const Outcome& o) { return !o.noOp && o.missed(); }));
}

}  // namespace
}  // namespace neuroncheck::numerics::testing

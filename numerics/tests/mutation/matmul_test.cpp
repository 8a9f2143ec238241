// SPDX-License-Identifier: Apache-2.0
// Twelve faults of a matrix product on four kinds of inputs: what notices which.
#include <gtest/gtest.h>

#include "numerics/tests/mutation/evidence.h"
#include "numerics/tests/mutation/matmul_subject.h"

namespace neuroncheck::numerics::testing {
namespace {

TEST(MutationTable, MatmulFaultsAreCaughtAndReorderingsPass) {
  Bench bench;
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16}) {
    for (const Family family :
         {Family::Normal, Family::NormalF32, Family::Small, Family::Positive}) {
      bench.run(matmulSubject(dtype, family));
    }
  }
  ASSERT_EQ(bench.faults().size(), 12U * 4 * 3);
  expectLegalPass(bench.legal());
  expectCaught(bench.faults());
  expectEvidence("matmul summary", summaryText(bench.faults(), bench.legal()));
  expectEvidence("matmul table", tableText(bench.faults()));
}

}  // namespace
}  // namespace neuroncheck::numerics::testing

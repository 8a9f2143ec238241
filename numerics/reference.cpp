// SPDX-License-Identifier: Apache-2.0
#include "numerics/reference.h"

namespace neuroncheck::numerics {

Result<void> Reference::evaluateIntegers(const Request& /*request*/, std::int64_t /*first*/,
                                         std::span<std::int64_t> /*out*/) {
  return fail(ErrorCode::Internal, "the reference of this operator has no integer results");
}

std::span<const std::byte> Reference::truthBytes(DType /*dtype*/, std::int64_t /*first*/,
                                                 std::int64_t /*count*/) {
  return {};
}

}  // namespace neuroncheck::numerics

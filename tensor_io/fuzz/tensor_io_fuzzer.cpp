// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of tensors: what is read lies within the file and fits its shape, what is
// refused says why.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor_io/tensor_file.h"

namespace {

using namespace neuroncheck;
using namespace neuroncheck::tensor_io;

/// The last byte that the strides reach, one past it; the file's own sum of sizes must agree.
std::uint64_t reachOf(const TensorHead& head) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < head.sizes.size(); ++d) {
    if (head.sizes[d] == 0) {
      return 0;
    }
    last += (head.sizes[d] - 1) * head.strides[d];
  }
  return static_cast<std::uint64_t>(last + 1) * static_cast<std::uint64_t>(itemSize(head.dtype));
}

void look(const TensorFile& file, const std::string& name) {
  const auto entry = file.entry(name);
  if (!entry) {
    if (entry.error().message.empty() || entry.error().code != ErrorCode::Input) {
      __builtin_trap();
    }
    return;
  }
  const auto head = file.head(name);
  if (!head || head->byteCount != entry->bytes.size() || reachOf(*head) != head->byteCount) {
    __builtin_trap();
  }
  unsigned sum = 0;
  for (const std::byte byte : entry->bytes) {
    sum += std::to_integer<unsigned>(byte);
  }
  // The sum is used, so that every byte is read.
  volatile unsigned kept = sum;
  (void)kept;
  (void)file.verify(name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxTensors = 64;
  const OpenOptions options{.opaque = DType::BFloat16,
                            .dtypes = {{"a", DType::Float8E5M2}},
                            .maxUnpackedBytes = std::uint64_t{1} << 20};
  const auto file = openTensorBytes(std::as_bytes(std::span(data, size)), options);
  if (!file) {
    if (file.error().message.empty() || file.error().code != ErrorCode::Input) {
      __builtin_trap();
    }
    return 0;
  }
  std::size_t count = 0;
  for (const std::string& name : (*file)->names()) {
    if (++count > kMaxTensors) {
      break;
    }
    look(**file, name);
  }
  return 0;
}

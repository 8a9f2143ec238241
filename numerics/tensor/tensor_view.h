// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "numerics/format/float_format.h"

namespace neuroncheck::numerics {

/// A dense tensor somebody else owns: bytes with dtype, sizes and strides. Sizes, strides and
/// offset are in elements; a view of rank 0 has one element. Little-endian, as every format and
/// machine we read is.
struct TensorView {
  DType dtype = DType::Unknown;
  std::span<const std::byte> bytes;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;

  /// Checks that the dtype has a fixed size per element, that no size is negative, and that every
  /// element lies within `bytes`. All other functions here expect a view made by these two.
  [[nodiscard]] static Result<TensorView> make(DType dtype, std::span<const std::byte> bytes,
                                               std::vector<std::int64_t> sizes,
                                               std::vector<std::int64_t> strides,
                                               std::int64_t offset = 0);
  [[nodiscard]] static Result<TensorView> contiguous(DType dtype, std::span<const std::byte> bytes,
                                                     std::vector<std::int64_t> sizes);

  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] bool isContiguous() const;
  /// A complex tensor as its components: a last dimension of size 2 and the component's dtype.
  /// Others are returned as they are.
  [[nodiscard]] TensorView asReal() const;
  /// "f32[4,16]" as in the case grammar.
  [[nodiscard]] std::string str() const;
};

/// The dtype of a complex dtype's real and imaginary part; any other as it is.
[[nodiscard]] DType componentOf(DType dtype);
/// Product of sizes; an Error when one is negative or the product passes int64.
[[nodiscard]] Result<std::int64_t> elementCount(std::span<const std::int64_t> sizes);
[[nodiscard]] std::vector<std::int64_t> contiguousStrides(std::span<const std::int64_t> sizes);
/// Row-major position of a linear index, and back. `sizes` has no zero.
[[nodiscard]] std::vector<std::int64_t> positionOf(std::int64_t linear,
                                                   std::span<const std::int64_t> sizes);
[[nodiscard]] std::int64_t linearOf(std::span<const std::int64_t> position,
                                    std::span<const std::int64_t> sizes);

/// Reads runs of a view in row-major order, whatever its strides.
class ElementReader {
 public:
  /// `view` must outlive the reader. Complex dtypes are read through asReal().
  explicit ElementReader(const TensorView& view);

  /// Raw elements [first, first + out.size() / itemSize); returns a span of the tensor itself when
  /// the run is contiguous there, else of an own buffer that the next call reuses.
  [[nodiscard]] std::span<const std::byte> raw(std::int64_t first, std::int64_t count);
  /// Values as doubles. Exact for every floating-point dtype, bool and integers up to 2^53; larger
  /// integers are rounded: judge those with integers().
  void values(std::int64_t first, std::span<double> out);
  /// Integers and bools; uint64 by its bits.
  void integers(std::int64_t first, std::span<std::int64_t> out);

 private:
  [[nodiscard]] std::int64_t placeOf(std::int64_t linear) const;

  const TensorView& view_;
  bool contiguous_;
  std::int64_t item_;
  std::vector<std::byte> buffer_;
};

/// Converts a contiguous run. `raw` holds out.size() elements.
void decodeRun(DType dtype, std::span<const std::byte> raw, std::span<double> out);
/// The same, asking meanwhile for the bytes of the run after it: the processor's own prefetching
/// stops at the end of a page and does not see past the arithmetic between two runs.
void decodeAhead(DType dtype, std::span<const std::byte> raw, std::span<double> out);
/// Asks for `count` bytes that lie `ahead` bytes after `run`, in or beyond its tensor.
void askFor(const std::byte* run, std::size_t ahead, std::size_t count);
/// Elements between two askings: so few that no memory access has to wait for their turn.
inline constexpr std::size_t kAhead = 128;
void decodeIntegers(DType dtype, std::span<const std::byte> raw, std::span<std::int64_t> out);
/// One element from its value, rounded to nearest even; integers are truncated and wrapped to the
/// width. For tests and fills.
void encodeElement(DType dtype, double value, std::byte* out);

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "numerics/fill/legality.h"

namespace neuroncheck::numerics {

/// The fills of docs/numerics.md, G1 to G10. `FillRequest::variant` chooses within one.
enum class FillId : std::uint8_t {
  DenseIntegers,   ///< G1: no zeros; every sum of k terms exact in the accumulator
  SparseIntegers,  ///< G2: exact in the output too; variant 1: the dense factor beside a sparse one
  Normal,          ///< G3: N(0,1) times 2^0, 2^-20, 2^10 (variants 0, 1, 2)
  UniformPositive,  ///< G4: U(0,1), never 0
  SpecialValues,    ///< G5: a table per dtype; several operands run through their product
  Cancellation,     ///< G6: variants in CancellationVariant
  BitPatterns,      ///< G7: variant 0 any pattern, 1 finite with evenly spread exponents
  Exhaustive,       ///< G8: every pattern; evenly spread ones where elements are fewer
  PositionCodes,    ///< G9: where an element comes from; variant: which digit
  DomainEdges,      ///< G10: where the operator's formula changes, from a table per operator
};
inline constexpr std::size_t kFillCount = static_cast<std::size_t>(FillId::DomainEdges) + 1;
/// "G1" to "G10".
[[nodiscard]] std::string_view name(FillId fill);
[[nodiscard]] std::optional<FillId> parseFill(std::string_view text);

/// Variants of G6.
enum class CancellationVariant : std::uint8_t {
  Pairs,        ///< x and -x (1 + d) next to each other, d a few ulps
  Mean10,       ///< N(10, 1): variances and norms that subtract a mean
  Mean1000,     ///< N(1000, 1), or a quarter of the largest number where that is less
  LeftFactor,   ///< a dot product of condition 2^conditionLog2: its left operand
  RightFactor,  ///< its right operand, or the terms of such a sum when `factors` is 1
};

/// One tensor of a case. The same request gives the same bytes on every machine.
struct FillRequest {
  FillId fill = FillId::DenseIntegers;
  int variant = 0;
  DType dtype = DType::Float32;  ///< complex dtypes: components are filled like a last dimension 2
  std::vector<std::int64_t> sizes;
  std::uint64_t seed = 0;    ///< of the attempt; all tensors of a case have the same
  std::uint32_t tensor = 0;  ///< index of the tensor among the operands
  int operands = 1;          ///< tensors that G5 and G8 combine with each other
  std::int64_t k = 1;        ///< terms of the longest sum behind an output element
  int factors = 2;           ///< operands multiplied in each term: 1 for sum, 2 for products
  /// The dimension of this tensor that is summed over, negative from the end (G2, G6).
  std::optional<std::int64_t> reductionAxis;
  double accumulatorLimit = 0x1p24;  ///< integers up to here are exact in the accumulator
  double outputLimit = 0x1p24;       ///< and up to here in the output: exactIntegers() of its dtype
  int conditionLog2 = 16;            ///< G6: log2 of the condition number of the dot product
  std::string op;                    ///< G10: "aten::exp"
  Legality legality;
};

/// A request that has been checked. Copies share nothing that changes; usable from any thread.
class Filler {
 public:
  /// An Error when the fill has no meaning for the dtype, nothing exact fits the limits, or the
  /// legality cannot be met (indices into nothing, more unique ones than there are).
  [[nodiscard]] static Result<Filler> make(FillRequest request);

  /// Elements of `sizes`; a complex one counts once.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Writes elements first, first + 1, ... (row-major) to `out`, whose size is a multiple of the
  /// item size and stays within the tensor. What is written depends on neither.
  void write(std::int64_t first, std::span<std::byte> out) const;
  [[nodiscard]] std::vector<std::byte> all() const;

 private:
  Filler() = default;

  DType dtype_ = DType::Unknown;  ///< of the components
  std::int64_t components_ = 1;   ///< of an element
  std::int64_t count_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t tensor_ = 0;
  /// Pattern of a component from its index and its random bits.
  std::function<std::uint64_t(std::int64_t index, std::uint64_t word)> source_;
};

/// Filler::make() and write() in one call.
[[nodiscard]] Result<void> fill(const FillRequest& request, std::int64_t first,
                                std::span<std::byte> out);

/// The largest N such that a dtype holds every integer from 0 to N. bool: 1; e8m0: 2.
[[nodiscard]] double exactIntegers(DType dtype);
/// Numbers of the table of special values (G5): `operands` tensors need that to the power of
/// `operands` elements to meet every combination.
[[nodiscard]] std::int64_t specialValueCount(DType dtype);
/// Variants of G9 that together tell `count` positions apart: digits to a base that the dtype holds
/// exactly (128 for bf16).
[[nodiscard]] int positionPasses(DType dtype, std::int64_t count);
[[nodiscard]] std::int64_t positionBase(DType dtype);

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "numerics/reference.h"
#include "numerics/verdict/tensor_reference.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::conformance {

/// Follows passes over tensors of files and gives their pages back behind them, so that memory does
/// not grow with the tensors.
class PagesBehind {
 public:
  /// `entry` has to stay where it is; `elements` as the passes count them.
  void watch(const tensor_io::TensorEntry& entry, std::int64_t elements);
  /// A pass is at element `first`; one that starts over is a new pass.
  void at(std::int64_t first);
  /// Nothing of the tensors is needed for now.
  void finish();
  /// The number of the pass, from 1.
  [[nodiscard]] int pass() const { return pass_; }

 private:
  struct Watched {
    const tensor_io::TensorEntry* entry;
    std::size_t item;
    bool inOrder;  ///< read from the first byte to the last; else all over the tensor
  };
  std::vector<Watched> watched_;
  std::int64_t released_ = 0;
  std::int64_t last_ = 0;
  int pass_ = 1;
};

/// The truth of a file, with the magnitudes behind it guessed: |H|, but not less than a floor.
class FileReference final : public numerics::Reference {
 public:
  /// Called before elements from `first` on are read, by every pass. An Error ends the comparison.
  using Reading = std::function<Result<void>(std::int64_t first)>;

  FileReference(const numerics::TensorView& truth, std::optional<double> floor, Reading reading)
      : view_(truth), truth_(view_), floor_(floor), reading_(std::move(reading)) {}

  [[nodiscard]] bool offers(const numerics::Request& request) const override;
  [[nodiscard]] Result<void> evaluate(const numerics::Request& request, std::int64_t first,
                                      std::span<double> out) override;
  [[nodiscard]] Result<void> evaluateIntegers(const numerics::Request& request, std::int64_t first,
                                              std::span<std::int64_t> out) override;
  [[nodiscard]] std::span<const std::byte> truthBytes(DType dtype, std::int64_t first,
                                                      std::int64_t count) override;
  [[nodiscard]] std::span<const std::byte> storage() const override { return truth_.storage(); }
  /// Only of a truth that fits in memory: a larger one is read in order, so that its pages can be
  /// given back behind the pass.
  [[nodiscard]] std::unique_ptr<Reference> share() const override;

 private:
  numerics::TensorView view_;
  numerics::TensorReference truth_;
  std::optional<double> floor_;
  Reading reading_;
};

/// Root mean square of the finite values.
[[nodiscard]] Result<double> rootMeanSquare(const numerics::TensorView& view,
                                            const FileReference::Reading& reading);

}  // namespace neuroncheck::conformance

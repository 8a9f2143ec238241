// SPDX-License-Identifier: Apache-2.0
#include "conformance/compare/file_reference.h"

#include <algorithm>
#include <cmath>

namespace neuroncheck::conformance {
namespace {

/// Large enough that giving pages back costs nothing beside reading them.
constexpr std::int64_t kBytes = std::int64_t{16} << 20;
constexpr std::int64_t kRun = 4096;

}  // namespace

void PagesBehind::watch(const tensor_io::TensorEntry& entry, std::int64_t elements) {
  if (elements > 0) {
    const bool inOrder = entry.strides == numerics::contiguousStrides(entry.sizes);
    watched_.push_back({&entry, entry.bytes.size() / static_cast<std::size_t>(elements), inOrder});
  }
}

void PagesBehind::at(std::int64_t first) {
  if (first < last_) {
    finish();
    ++pass_;
  }
  last_ = first;
  const std::int64_t behind = first - released_;
  const bool due = std::ranges::any_of(watched_, [&](const Watched& w) {
    return behind * static_cast<std::int64_t>(w.item) >= kBytes;
  });
  if (!due) {
    return;
  }
  for (const Watched& w : watched_) {
    if (w.inOrder) {
      w.entry->release(static_cast<std::size_t>(released_) * w.item,
                       static_cast<std::size_t>(behind) * w.item);
    } else {
      w.entry->release(0, w.entry->bytes.size());
    }
  }
  released_ = first;
}

void PagesBehind::finish() {
  for (const Watched& w : watched_) {
    w.entry->release(0, w.entry->bytes.size());
  }
  released_ = 0;
  last_ = 0;
}

bool FileReference::offers(const numerics::Request& request) const {
  return truth_.offers(request) ||
         (request.what == numerics::Quantity::Magnitude && floor_.has_value());
}

Result<void> FileReference::evaluate(const numerics::Request& request, std::int64_t first,
                                     std::span<double> out) {
  NEURONCHECK_TRY_VOID(reading_(first));
  NEURONCHECK_TRY_VOID(truth_.evaluate({numerics::Quantity::Truth, {}}, first, out));
  if (request.what == numerics::Quantity::Magnitude) {
    std::ranges::transform(out, out.begin(),
                           [&](double h) { return std::max(std::abs(h), *floor_); });
  }
  return {};
}

Result<void> FileReference::evaluateIntegers(const numerics::Request& request, std::int64_t first,
                                             std::span<std::int64_t> out) {
  NEURONCHECK_TRY_VOID(reading_(first));
  return truth_.evaluateIntegers(request, first, out);
}

std::span<const std::byte> FileReference::truthBytes(DType dtype, std::int64_t first,
                                                     std::int64_t count) {
  // What cannot be had as bytes is asked for as values, where the Error can be said.
  return reading_(first) ? truth_.truthBytes(dtype, first, count) : std::span<const std::byte>();
}

std::unique_ptr<numerics::Reference> FileReference::share() const {
  constexpr std::size_t kFits = std::size_t{256} << 20;
  if (view_.bytes.size() > kFits) {
    return nullptr;
  }
  return std::make_unique<FileReference>(view_, floor_,
                                         [](std::int64_t) { return Result<void>(); });
}

Result<double> rootMeanSquare(const numerics::TensorView& view,
                              const FileReference::Reading& reading) {
  numerics::ElementReader reader(view);
  std::vector<double> run(kRun);
  double sum = 0;
  std::int64_t finite = 0;
  for (std::int64_t first = 0; first < view.count(); first += kRun) {
    NEURONCHECK_TRY_VOID(reading(first));
    run.resize(static_cast<std::size_t>(std::min(kRun, view.count() - first)));
    reader.values(first, run);
    for (const double value : run) {
      sum += std::isfinite(value) ? value * value : 0;
      finite += std::isfinite(value) ? 1 : 0;
    }
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

}  // namespace neuroncheck::conformance

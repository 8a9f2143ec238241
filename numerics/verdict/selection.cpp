// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::numerics {
namespace {

/// Strict order of a selection.
bool precedes(double a, double b, const SelectionPromise& promise) {
  if (std::isnan(a) || std::isnan(b)) {
    const bool nanFirst = promise.largest || promise.nanFirst;
    return nanFirst ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
  }
  return promise.largest ? a > b : a < b;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Operand and indices as [outer][slice][inner], the dimension in the middle.
struct Shape {
  std::int64_t outer = 1;
  std::int64_t length = 1;  ///< of the operand's dimension
  std::int64_t chosen = 1;  ///< indices of one slice
  std::int64_t inner = 1;
};

class Selection {
 public:
  Selection(const SelectionRequest& request, const Shape& shape)
      : request_(request), shape_(shape), operand_(request.operand) {
    judgement_.metrics = Metrics(request.indices.sizes);
    values_.resize(static_cast<std::size_t>(shape.length));
    indices_.resize(static_cast<std::size_t>(request.indices.count()));
    ElementReader(request.indices).integers(0, indices_);
    if (request.values) {
      outputs_.resize(static_cast<std::size_t>(request.values->count()));
      ElementReader(*request.values).values(0, outputs_);
    }
  }

  Judgement run() {
    for (std::int64_t o = 0; o < shape_.outer; ++o) {
      for (std::int64_t i = 0; i < shape_.inner; ++i) {
        slice(o, i);
      }
    }
    conclude();
    return std::move(judgement_);
  }

 private:
  [[nodiscard]] std::int64_t place(std::int64_t o, std::int64_t at, std::int64_t i) const {
    return (o * shape_.length + at) * shape_.inner + i;
  }
  [[nodiscard]] double marginAt(std::int64_t place) const {
    return request_.margins.empty() ? 0 : request_.margins[static_cast<std::size_t>(place)];
  }

  /// One slice at a time: an operand may be larger than memory.
  void readSlice(std::int64_t o, std::int64_t i) {
    if (shape_.inner == 1) {
      operand_.values(place(o, 0, 0), values_);
      return;
    }
    for (std::int64_t at = 0; at < shape_.length; ++at) {
      operand_.values(place(o, at, i), std::span(values_).subspan(static_cast<std::size_t>(at), 1));
    }
  }
  [[nodiscard]] double valueAt(std::int64_t at) const {
    return values_[static_cast<std::size_t>(at)];
  }

  void slice(std::int64_t o, std::int64_t i) {
    readSlice(o, i);
    std::vector<std::int64_t> order(static_cast<std::size_t>(shape_.length));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
      return precedes(valueAt(a), valueAt(b), request_.promise);
    });
    open_ += same(valueAt(order.front()), valueAt(order.back())) ? 1 : 0;
    ++slices_;
    std::vector<bool> taken(order.size());
    std::vector<std::int64_t> picks;
    for (std::int64_t r = 0; r < shape_.chosen; ++r) {
      picks.push_back((o * shape_.chosen + r) * shape_.inner + i);
    }
    if (!request_.promise.sorted) {
      // A set: hold it against the truth in the truth's own order.
      std::ranges::stable_sort(picks, [&](std::int64_t a, std::int64_t b) {
        return precedes(pointedAt(a), pointedAt(b), request_.promise);
      });
    }
    for (std::size_t r = 0; r < picks.size(); ++r) {
      const std::size_t rank = r + static_cast<std::size_t>(request_.promise.firstRank);
      pick(picks[r], rank < order.size() ? order[rank] : -1, o, i, taken);
    }
  }

  /// The value an index points at; the last of all when it points nowhere.
  [[nodiscard]] double pointedAt(std::int64_t pick) const {
    const std::int64_t index = indices_[static_cast<std::size_t>(pick)];
    if (index < 0 || index >= shape_.length) {
      const double infinity = std::numeric_limits<double>::infinity();
      return request_.promise.largest ? -infinity : infinity;
    }
    return valueAt(index);
  }

  void pick(std::int64_t where, std::int64_t truth, std::int64_t o, std::int64_t i,
            std::vector<bool>& taken) {
    Metrics& m = judgement_.metrics;
    ++m.count;
    const std::int64_t index = indices_[static_cast<std::size_t>(where)];
    std::string why;
    if (index < 0 || index >= shape_.length) {
      why = fmt::format("index {} is outside [0, {})", index, shape_.length);
    } else if (taken[static_cast<std::size_t>(index)]) {
      why = fmt::format("index {} is returned twice in one slice", index);
    } else {
      taken[static_cast<std::size_t>(index)] = true;
      why = valueFault(where, index, truth, o, i);
    }
    if (why.empty()) {
      m.ratios.add(0);
      return;
    }
    m.ratios.add(std::numeric_limits<double>::infinity());
    ++m.faults.at(static_cast<std::size_t>(Fault::BeyondExpected));
    ++m.beyondMaximal;
    m.pattern.add(where, static_cast<double>(index));
    if (judgement_.integerPlaces.size() < Metrics::kWorstKept) {
      judgement_.integerPlaces.push_back({where, index, truth});
    }
    if (first_.empty()) {
      first_ = fmt::format("at {}: {}", where, why);
    }
  }

  std::string valueFault(std::int64_t where, std::int64_t index, std::int64_t truth, std::int64_t o,
                         std::int64_t i) {
    const double got = valueAt(index);
    const double due = valueAt(truth);
    if (!outputs_.empty() && !same(outputs_[static_cast<std::size_t>(where)], got)) {
      return fmt::format("the value output is {:.9g}, but index {} holds {:.9g}",
                         outputs_[static_cast<std::size_t>(where)], index, got);
    }
    const double room = marginAt(place(o, index, i)) + marginAt(place(o, truth, i));
    if (!same(got, due) && !(std::abs(got - due) <= room)) {
      return fmt::format("index {} holds {:.9g} where index {} holds {:.9g}", index, got, truth,
                         due);
    }
    if (index == truth) {
      return {};
    }
    if (same(got, due)) {
      ++ties_;
      if (request_.promise.firstOfTies) {
        return fmt::format("index {} is not the first of equal values: {} is", index, truth);
      }
    } else {
      ++close_;
    }
    return {};
  }

  void conclude() {
    Judgement& j = judgement_;
    j.pattern = j.metrics.pattern.classify();
    if (ties_ != 0) {
      j.notes.push_back(
          fmt::format("{} ties were broken otherwise than by the first index", ties_));
    }
    if (close_ != 0) {
      j.notes.push_back(
          fmt::format("{} decisions between values closer than their margins", close_));
    }
    if (j.metrics.wrong() != 0) {
      j.state = CaseState::Mismatch;
      j.cause = std::string(name(j.pattern.kind));
      j.reason = fmt::format("{} of {} indices, {}; {}", j.metrics.wrong(), j.metrics.count,
                             j.pattern.text(), first_);
      return;
    }
    j.trust.trusted = open_ != slices_ || shape_.length == 1;
    if (!j.trust.trusted) {
      j.trust.reason = "every slice holds one value only: any index would have been right";
      j.state = CaseState::Mistrusted;
      j.cause = "untrusted";
      j.reason = j.trust.reason;
      return;
    }
    j.state = CaseState::Pass;
    j.reason = fmt::format("all {} indices point at the right values", j.metrics.count);
  }

  const SelectionRequest& request_;
  Shape shape_;
  Judgement judgement_;
  ElementReader operand_;
  std::vector<double> values_;  ///< of the current slice
  std::vector<double> outputs_;
  std::vector<std::int64_t> indices_;
  std::int64_t open_ = 0;
  std::int64_t slices_ = 0;
  std::int64_t ties_ = 0;
  std::int64_t close_ = 0;
  std::string first_;
};

Judgement refused(CaseState state, std::string cause, std::string reason) {
  Judgement j;
  j.state = state;
  j.cause = std::move(cause);
  j.reason = std::move(reason);
  return j;
}

}  // namespace

Judgement judgeSelection(const SelectionRequest& request) {
  const TensorView& indices = request.indices;
  if (indices.dtype != request.expected.dtype || indices.sizes != request.expected.sizes) {
    return refused(CaseState::ShapeDtypeMismatch, "structure",
                   fmt::format("expected {}[{}], got {}", shortName(request.expected.dtype),
                               fmt::join(request.expected.sizes, ","), indices.str()));
  }
  if (indices.count() == 0 || request.operand.count() == 0) {
    return refused(CaseState::Mistrusted, "empty",
                   "there are no indices: an empty comparison is not a comparison");
  }
  const auto& sizes = request.operand.sizes;
  Shape shape;
  if (!request.dimension) {
    shape.length = request.operand.count();
    shape.chosen = indices.count();
  } else {
    const std::int64_t d = *request.dimension;
    NEURONCHECK_CHECK(d >= 0 && d < std::ssize(sizes), "dimension of a selection");
    shape.length = sizes[static_cast<std::size_t>(d)];
    const auto middle = sizes.begin() + d;
    shape.outer = std::accumulate(sizes.begin(), middle, std::int64_t{1}, std::multiplies<>());
    shape.inner = std::accumulate(middle + 1, sizes.end(), std::int64_t{1}, std::multiplies<>());
    shape.chosen = indices.count() / (shape.outer * shape.inner);
  }
  const bool fits = shape.outer * shape.inner * shape.chosen == indices.count() &&
                    shape.chosen + request.promise.firstRank <= shape.length &&
                    (!request.values || request.values->count() == indices.count());
  if (!fits) {
    return refused(CaseState::ShapeDtypeMismatch, "structure",
                   fmt::format("{} indices do not fit an operand of {}", indices.str(),
                               request.operand.str()));
  }
  return Selection(request, shape).run();
}

}  // namespace neuroncheck::numerics

// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/measure.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <vector>

#include "numerics/verdict/crew.h"
#include "numerics/verdict/run_reader.h"

namespace neuroncheck::numerics::detail {
namespace {

/// Elements that one thread takes at a time: enough to make the meeting of all threads after it
/// cheap, few enough that the sums which wait to be added need little memory.
constexpr std::int64_t kChunk = 1 << 18;
static_assert(kChunk % kProgress == 0 && kProgress % kRun == 0);

/// Whether the device's bits are the CPU's, and whether that says something: where the CPU itself
/// is not the nearest number, another machine would hardly err alike.
class CpuTwin {
 public:
  void add(const MetricsBlock& block, std::span<const double> cpu) {
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      const bool same =
          block.actual[i] == cpu[i] || (std::isnan(block.actual[i]) && std::isnan(cpu[i]));
      identical_ = identical_ && same;
      telling_ += cpu[i] != block.rounded[i] && std::isfinite(cpu[i]) ? 1 : 0;
      seen_ = true;
    }
  }
  void merge(const CpuTwin& other) {
    identical_ = identical_ && other.identical_;
    seen_ = seen_ || other.seen_;
    telling_ += other.telling_;
  }
  [[nodiscard]] bool suspicious() const { return seen_ && identical_ && telling_ >= 8; }

 private:
  bool identical_ = true;
  bool seen_ = false;
  std::int64_t telling_ = 0;
};

/// One thread's part of the pass.
class Walker {
 public:
  Walker(const JudgeRequest& request, Reference& reference)
      : reader_(request, reference),
        accumulator_(reader_.format(), policyOf(request), reader_.sizes(), request.allclose),
        hasCpu_(reference.offers({Quantity::CpuSameDType, {}})) {}

  [[nodiscard]] std::int64_t count() const { return reader_.count(); }
  [[nodiscard]] const Metrics& metrics() const { return accumulator_.metrics(); }
  [[nodiscard]] const CpuTwin& twin() const { return twin_; }
  void deferSums(std::vector<BlockSums>& sums) { accumulator_.deferSums(sums); }

  /// Elements [first, end); `first` is a multiple of kRun.
  Result<void> walk(std::int64_t first, std::int64_t end) {
    for (; first < end; first += kRun) {
      if (const auto equal = reader_.equalRun(first); !equal.empty()) {
        accumulator_.addEqual(first, equal);
        continue;
      }
      NEURONCHECK_TRY(const MetricsBlock block, reader_.read(first));
      accumulator_.add(block);
      if (hasCpu_) {
        NEURONCHECK_TRY(const auto cpu, reader_.also({Quantity::CpuSameDType, {}}, block));
        twin_.add(block, cpu);
      }
    }
    return {};
  }

 private:
  RunReader reader_;
  MetricsAccumulator accumulator_;
  bool hasCpu_;
  CpuTwin twin_;
};

void conclude(const JudgeRequest& request, const CpuTwin& twin, Metrics metrics,
              Judgement& judgement) {
  judgement.metrics = std::move(metrics);
  judgement.pattern = judgement.metrics.pattern.classify();
  judgement.identicalToCpu =
      twin.suspicious() && request.length >= 512 && !request.exactInAccumulator;
}

Result<void> measureAlone(const JudgeRequest& request, Walker& walker, Judgement& judgement) {
  for (std::int64_t first = 0; first < walker.count(); first += kProgress) {
    const std::int64_t end = std::min(first + kProgress, walker.count());
    NEURONCHECK_TRY_VOID(walker.walk(first, end));
    if (request.progress) {
      request.progress(end);
    }
  }
  conclude(request, walker.twin(), walker.metrics(), judgement);
  return {};
}

struct Member {
  std::unique_ptr<Reference> shared;  ///< null for the caller, who has the original
  Walker walker;
  std::vector<BlockSums> sums;
  Result<void> outcome;

  Member(const JudgeRequest& request, std::unique_ptr<Reference> own, Reference& original)
      : shared(std::move(own)), walker(request, shared ? *shared : original) {
    walker.deferSums(sums);
  }
  void walk(std::int64_t first, std::int64_t end) {
    sums.clear();
    try {
      outcome = first < end ? walker.walk(first, end) : Result<void>();
    } catch (const std::exception& error) {
      outcome = fail(ErrorCode::Internal, error.what());
    }
  }
};

/// Chunks side by side. The sums of their blocks wait and are added in the order of the elements,
/// so that they round as in a pass of one thread; all else is the same in any order.
Result<void> measureTogether(const JudgeRequest& request,
                             std::vector<std::unique_ptr<Member>>& members, Judgement& judgement) {
  const std::int64_t count = members.front()->walker.count();
  std::int64_t start = 0;
  const auto firstOf = [&](std::size_t member) {
    return std::min(start + static_cast<std::int64_t>(member) * kChunk, count);
  };
  Crew crew(members.size(), [&](std::size_t member) {
    members[member]->walk(firstOf(member), firstOf(member + 1));
  });
  Metrics metrics(members.front()->walker.metrics().pattern.sizes());
  while (start < count) {
    crew.together();
    for (std::size_t m = 0; m < crew.size(); ++m) {
      NEURONCHECK_TRY_VOID(members[m]->outcome);
      for (const BlockSums& sums : members[m]->sums) {
        metrics.add(sums);
      }
    }
    start = firstOf(crew.size());
    if (request.progress) {
      request.progress(start);
    }
  }
  CpuTwin twin;
  for (const auto& member : members) {
    metrics.merge(member->walker.metrics());
    twin.merge(member->walker.twin());
  }
  conclude(request, twin, std::move(metrics), judgement);
  return {};
}

}  // namespace

Result<void> measure(const JudgeRequest& request, Reference& reference, Judgement& judgement) {
  const std::int64_t chunks = (request.actual.asReal().count() + kChunk - 1) / kChunk;
  const std::int64_t wanted = std::min<std::int64_t>(request.threads, chunks);
  std::vector<std::unique_ptr<Reference>> shared;
  while (std::ssize(shared) + 1 < wanted) {
    shared.push_back(reference.share());
    if (shared.back() == nullptr) {
      shared.clear();
      break;
    }
  }
  if (shared.empty()) {
    Walker walker(request, reference);
    return measureAlone(request, walker, judgement);
  }
  std::vector<std::unique_ptr<Member>> members;
  members.push_back(std::make_unique<Member>(request, nullptr, reference));
  for (auto& own : shared) {
    members.push_back(std::make_unique<Member>(request, std::move(own), reference));
  }
  return measureTogether(request, members, judgement);
}

}  // namespace neuroncheck::numerics::detail

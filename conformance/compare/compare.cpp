// SPDX-License-Identifier: Apache-2.0
#include "conformance/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/compare/choose_rule.h"
#include "conformance/compare/file_reference.h"

namespace neuroncheck::conformance {
namespace {

using numerics::Judgement;
using numerics::TensorView;
using tensor_io::TensorEntry;
using tensor_io::TensorFile;

Judgement refused(CaseState state, std::string cause, std::string reason) {
  Judgement judgement = numerics::notComparable(std::move(reason));
  judgement.state = state;
  judgement.cause = std::move(cause);
  return judgement;
}

std::string headText(const tensor_io::TensorHead& head) {
  return fmt::format("{}[{}]", shortName(head.dtype), fmt::join(head.sizes, ","));
}

/// Whether a truth of one dtype can judge a result of another: the same, or wider of its kind.
std::optional<std::string> unfit(DType truth, DType result) {
  if (truth == result) {
    return std::nullopt;
  }
  const auto t = numerics::formatOf(truth);
  const auto r = numerics::formatOf(result);
  if (kind(truth) != kind(result) || !t || !r) {
    return fmt::format("expected {}, got {}", name(truth), name(result));
  }
  const bool wider = traits(*t).significandBits > traits(*r).significandBits &&
                     traits(*t).maxExponent() >= traits(*r).maxExponent();
  return wider ? std::nullopt
               : std::optional(fmt::format("EXPECTED is {}, too coarse to judge {}", name(truth),
                                           name(result)));
}

/// Elements between two looks at the clock.
constexpr std::int64_t kProgressEvery = std::int64_t{1} << 16;

class Comparer {
 public:
  Comparer(const TensorFile& expected, const TensorFile& actual, const CompareOptions& options)
      : expected_(expected), actual_(actual), options_(options) {}

  Result<CompareReport> run() {
    NEURONCHECK_TRY_VOID(pair());
    for (const auto& [name, actualName] : pairs_) {
      NEURONCHECK_TRY(TensorComparison done, compare(name, actualName));
      if (report_.stopped) {
        break;
      }
      report_.tensors.push_back(std::move(done));
    }
    return std::move(report_);
  }

 private:
  Result<void> pair() {
    std::map<std::string, std::string> renamed;
    std::set<std::string> used;
    for (const auto& [from, to] : options_.map) {
      if (!expected_.has(from) || !actual_.has(to)) {
        return inputError(fmt::format("--map {}={}: {} has no tensor of that name", from, to,
                                      expected_.has(from) ? "ACTUAL" : "EXPECTED"));
      }
      renamed[from] = to;
    }
    // The one array of each npy file is a pair whatever it is called.
    const bool sole = expected_.names().size() == 1 && actual_.names().size() == 1 &&
                      expected_.kind() == tensor_io::TensorFileKind::Npy;
    for (const std::string& name : expected_.names()) {
      if (name.find(options_.filter) == std::string::npos) {
        ++report_.filteredOut;
        continue;
      }
      const auto found = renamed.find(name);
      const std::string to = found != renamed.end() ? found->second
                             : sole                 ? actual_.names().front()
                                                    : name;
      pairs_.emplace_back(name, to);
      used.insert(to);
      total_ += countOf(name);
    }
    for (const std::string& name : actual_.names()) {
      const bool left = name.find(options_.filter) != std::string::npos && !used.contains(name);
      if (left) {
        report_.onlyInActual.push_back(name);
      }
    }
    if (pairs_.empty()) {
      return fail(ErrorCode::Nothing,
                  report_.filteredOut == 0
                      ? "EXPECTED holds no tensor: there is nothing to compare"
                      : fmt::format("no tensor name contains '{}'", options_.filter));
    }
    return {};
  }

  [[nodiscard]] std::int64_t countOf(const std::string& name) const {
    const auto head = expected_.head(name);
    return head ? numerics::elementCount(head->sizes).value_or(0) : 0;
  }

  Result<TensorComparison> compare(const std::string& name, const std::string& actualName) {
    TensorComparison out;
    out.name = name;
    out.actualName = actualName;
    NEURONCHECK_TRY(const ChosenRule chosen, chooseRule(name, options_));
    out.judgedAs = chosen.words;
    if (!actual_.has(actualName)) {
      out.judgement = refused(CaseState::Missing, "missing", "ACTUAL has no such tensor");
      return out;
    }
    const auto truth = whole(expected_, name);
    const auto result = whole(actual_, actualName);
    if (!truth || !result) {
      out.unreadable = true;
      out.judgement = refused(CaseState::NotComparable, "unreadable",
                              (truth ? result.error() : truth.error()).text());
      return out;
    }
    out.expected = headText(*truth);
    out.actual = headText(*result);
    out.judgement = judgeEntries(*truth, *result, chosen, out);
    done_ += numerics::elementCount(truth->sizes).value_or(0);
    return out;
  }

  /// A tensor whose bytes are those that were written, as far as the file can tell.
  Result<TensorEntry> whole(const TensorFile& file, const std::string& name) {
    NEURONCHECK_TRY(TensorEntry entry, file.entry(name));
    NEURONCHECK_TRY_VOID(file.verify(name, [&](std::uint64_t done) -> Result<void> {
      report_.stopped =
          report_.stopped ||
          (options_.progress &&
           options_.progress(done_, total_,
                             fmt::format("{}, checksum after {} MiB", name, done >> 20)));
      return report_.stopped ? Result<void>(fail(ErrorCode::Nothing, "interrupted"))
                             : Result<void>();
    }));
    return entry;
  }

  Judgement judgeEntries(const TensorEntry& truth, const TensorEntry& result,
                         const ChosenRule& chosen, TensorComparison& out) {
    if (truth.sizes != result.sizes) {
      return refused(CaseState::ShapeDtypeMismatch, "structure",
                     fmt::format("expected {}, got {}", out.expected, out.actual));
    }
    if (const auto why = unfit(truth.dtype, result.dtype)) {
      return refused(CaseState::ShapeDtypeMismatch, "dtype", *why);
    }
    if (!chosen.rule) {
      return numerics::notComparable(chosen.words);
    }
    const auto t = TensorView::make(truth.dtype, truth.bytes, truth.sizes, truth.strides);
    const auto r = TensorView::make(result.dtype, result.bytes, result.sizes, result.strides);
    if (!t || !r) {
      return numerics::notComparable((t ? r.error() : t.error()).text());
    }
    out.sizes = r->asReal().sizes;
    pages_ = PagesBehind();
    pages_.watch(truth, t->asReal().count());
    pages_.watch(result, r->asReal().count());
    Judgement judgement = judgeViews(*t, *r, chosen, out);
    pages_.finish();
    return judgement;
  }

  /// What every pass over a tensor says before it reads on.
  Result<void> reading(std::int64_t first, const std::string& name) {
    pages_.at(first);
    const bool due = first == 0 || first < said_ || first - said_ >= kProgressEvery;
    if (due && options_.progress) {
      said_ = first;
      const std::string text =
          pages_.pass() == 1 ? name : fmt::format("{}, pass {}", name, pages_.pass());
      report_.stopped = report_.stopped || options_.progress(done_ + first, total_, text);
    }
    return report_.stopped ? Result<void>(fail(ErrorCode::Nothing, "interrupted")) : Result<void>();
  }

  Judgement judgeViews(const TensorView& truth, const TensorView& result, const ChosenRule& chosen,
                       TensorComparison& out) {
    numerics::JudgeRequest request;
    request.actual = result;
    request.expected = {result.dtype, result.sizes, std::nullopt};
    request.rule = *chosen.rule;
    request.length = chosen.length;
    request.allclose = options_.allclose;
    request.threads = options_.threads;
    std::vector<std::string> notes;
    const bool floating = isFloating(result.dtype) || isComplex(result.dtype);
    if (floating && options_.accumulator) {
      request.arithmetic = numerics::declaredArithmetic(*numerics::formatOf(result.dtype));
      request.arithmetic->accumulator = *options_.accumulator;
      notes.push_back(
          fmt::format("accumulated in {}, as --accumulate says", name(*options_.accumulator)));
    }
    const bool rounds = floating && chosen.rule->opClass != numerics::OpClass::Exact;
    if (rounds && truth.dtype == result.dtype) {
      ++request.rule.roundings;
      notes.push_back(fmt::format("EXPECTED is itself rounded to {}: one more rounding is allowed",
                                  name(truth.dtype)));
    }
    std::optional<double> floor;
    const auto reads = [&](std::int64_t first) { return reading(first, out.name); };
    if (rounds && chosen.estimatesMagnitude) {
      // Terms of random sign: their magnitudes add up to sqrt(k) times what they cancel to.
      const auto size = rootMeanSquare(truth.asReal(), reads);
      floor = size.value_or(0) * std::sqrt(std::max(chosen.length, 1.0));
      notes.push_back(
          fmt::format("magnitudes behind the sums estimated as {:.3g} from the size of "
                      "EXPECTED",
                      *floor));
    }
    if (chosen.isIndex && !floating) {
      notes.emplace_back(
          "indices of equal values may differ rightly; tensors alone cannot show it");
    }
    FileReference reference(truth, floor, reads);
    Judgement judgement = judge(request, reference);
    judgement.notes.insert(judgement.notes.begin(), notes.begin(), notes.end());
    return judgement;
  }

  const TensorFile& expected_;
  const TensorFile& actual_;
  const CompareOptions& options_;
  CompareReport report_;
  std::vector<std::pair<std::string, std::string>> pairs_;
  PagesBehind pages_;
  std::int64_t said_ = 0;  ///< where the pass was when progress was last told
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace

bool CompareReport::passes() const {
  return !tensors.empty() && !stopped &&
         std::ranges::all_of(tensors, [](const TensorComparison& t) {
           return isPass(t.judgement.state) && t.judgement.allclosePasses.value_or(true);
         });
}

bool CompareReport::unreadable() const {
  return std::ranges::any_of(tensors, [](const TensorComparison& t) { return t.unreadable; });
}

std::size_t CompareReport::count(CaseState state) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      tensors, [&](const TensorComparison& t) { return t.judgement.state == state; }));
}

Result<CompareReport> compareFiles(const std::string& expectedPath, const std::string& actualPath,
                                   const CompareOptions& options) {
  NEURONCHECK_TRY(const auto expected, tensor_io::openTensorFile(expectedPath, options.open));
  NEURONCHECK_TRY(const auto actual, tensor_io::openTensorFile(actualPath, options.open));
  std::error_code ignored;
  if (std::filesystem::equivalent(expectedPath, actualPath, ignored)) {
    return inputError(fmt::format("{} and {} are one file: a comparison with itself shows nothing",
                                  expectedPath, actualPath));
  }
  NEURONCHECK_TRY(CompareReport report, Comparer(*expected, *actual, options).run());
  report.expectedPath = expectedPath;
  report.actualPath = actualPath;
  report.allclose = options.allclose;
  return report;
}

}  // namespace neuroncheck::conformance

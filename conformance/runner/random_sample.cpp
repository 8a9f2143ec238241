// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/random_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "conformance/runner/random_leaky.h"
#include "conformance/runner/worker_reference.h"
#include "numerics/random/distribution_tests.h"
#include "numerics/random/draws.h"
#include "numerics/random/dropout.h"
#include "numerics/random/independence.h"

namespace neuroncheck::conformance {
namespace {

using numerics::Distribution;
using numerics::DistributionKind;
using numerics::ElementReader;
using numerics::Quantisation;
using numerics::RandomFinding;
using numerics::RandomTest;
using numerics::TensorView;

/// Integers of a range this wide are judged as a continuous distribution: no value of them occurs
/// often enough to be counted.
constexpr double kWideRange = 4096;

std::vector<double> valuesOf(const TensorView& view) {
  std::vector<double> out(static_cast<std::size_t>(view.count()));
  ElementReader(view).values(0, out);
  return out;
}

std::vector<std::byte> bytesOf(const TensorView& view) {
  ElementReader reader(view);
  const auto raw = reader.raw(0, view.count());
  return {raw.begin(), raw.end()};
}

/// The range torch promises for random_() without an end: every integer of the dtype, or of a
/// floating-point one those it counts up to (aten/src/ATen/native/DistributionTemplates.h).
double endOfRandom(DType dtype) {
  if (dtype == DType::Bool) {
    return 2;
  }
  if (isFloating(dtype)) {
    const auto format = numerics::formatOf(dtype);
    return format ? 1 / numerics::traits(*format).unitRoundoff() + 1 : 2;
  }
  const auto bits = static_cast<int>(itemSize(dtype)) * 8;
  return std::ldexp(1.0, dtype == DType::UInt8 ? bits : bits - 1);
}

class Findings {
 public:
  explicit Findings(const RandomSample& sample)
      : sample_(sample), arguments_(*sample.step, sample.schema), layout_(layoutOf(*sample.step)) {}

  Result<RandomFindings> make() {
    for (const Json& output : sample_.answer->at("outputs")) {
      NEURONCHECK_TRY(TensorView view, viewOf(output, sample_.memory));
      outputs_.push_back(std::move(view));
    }
    out_.outputs.resize(outputs_.size());
    if (outputs_.empty() || outputs_.front().count() == 0) {
      return inputError("a result without elements draws nothing");
    }
    if (isComplex(outputs_.front().dtype)) {
      return inputError("complex random numbers are not judged");
    }
    NEURONCHECK_TRY_VOID(judge());
    return std::move(out_);
  }

 private:
  Result<void> judge() {
    switch (sample_.op->kind) {
      case RandomKind::Sampler:
        return sampler();
      case RandomKind::Bernoulli:
        return bernoulli();
      case RandomKind::BernoulliEach:
        return bernoulliEach();
      case RandomKind::Dropout:
        return dropout();
      case RandomKind::ChannelDropout:
        return channelDropout();
      case RandomKind::AlphaDropout:
        return alphaDropout();
      case RandomKind::Permutation:
        return permutation();
      case RandomKind::Draws:
        return draws();
      case RandomKind::LeakyNoise:
        break;
    }
    NEURONCHECK_TRY(const TensorView input, operand(0));
    const Leaky leaky{.dtype = outputs_[0].dtype,
                      .input = valuesOf(input),
                      .output = valuesOf(outputs_[0]),
                      .noise = outputs_.size() > 1 ? valuesOf(outputs_[1]) : std::vector<double>(),
                      .lower = arguments_.number("lower").value_or(1.0 / 8),
                      .upper = arguments_.number("upper").value_or(1.0 / 3),
                      .training = arguments_.integer("training").value_or(0) != 0};
    return judgeLeaky(leaky, out_);
  }

  void add(std::size_t output, RandomFinding finding) {
    out_.outputs.at(output).push_back(std::move(finding));
  }

  [[nodiscard]] Result<TensorView> operand(std::size_t index) const {
    if (index >= layout_.operands.size()) {
      return inputError("an operand is missing");
    }
    const CaseTensor& tensor = *layout_.operands[index];
    const std::size_t root = layout_.roots[index];
    return TensorView::make(tensor.dtype,
                            sample_.memory.subspan(sample_.operands[root], layout_.bytes[root]),
                            tensor.sizes, stridesOf(tensor), tensor.offset);
  }

  /// The value of a parameter: a number among the arguments, or the one that a tensor has
  /// throughout.
  [[nodiscard]] Result<double> parameter(std::string_view name, double absent) const {
    if (name.empty()) {
      return absent;
    }
    const auto& names = arguments_.ofOperands();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return arguments_.number(name).value_or(absent);
    }
    NEURONCHECK_TRY(const TensorView view,
                    operand(static_cast<std::size_t>(found - names.begin())));
    const std::vector<double> values = valuesOf(view);
    const bool same = std::ranges::all_of(values, [&](double v) { return v == values.front(); });
    if (values.empty() || !same) {
      return inputError("each element has a distribution of its own");
    }
    return values.front();
  }

  Result<void> sampler() {
    const TensorView& result = outputs_.front();
    DistributionKind kind = sample_.op->distribution;
    const bool integers = kind == DistributionKind::Integers;
    NEURONCHECK_TRY(double a, parameter(sample_.op->a, 0));
    NEURONCHECK_TRY(double b, parameter(sample_.op->b, integers ? endOfRandom(result.dtype) : 1));
    if (integers && isFloating(result.dtype) && b > endOfRandom(result.dtype)) {
      return inputError("the integers it draws are rounded to the dtype");
    }
    const bool wide = integers && b - a > kWideRange;
    if (wide) {
      kind = DistributionKind::Uniform;
    }
    NEURONCHECK_TRY(const Distribution distribution, Distribution::make(kind, a, b));
    Quantisation quantisation = Quantisation::of(result.dtype, distribution);
    if (wide) {
      quantisation = {.format = numerics::Format::Float64, .grid = 1, .origin = a};
    }
    out_.what = integers ? fmt::format("integers of [{}, {})", a, b) : distribution.str();
    const std::vector<double> values = valuesOf(result);
    for (const numerics::SampleTest& test :
         numerics::distributionTests(distribution, quantisation)) {
      add(0, test(values));
    }
    for (const numerics::SampleTest& test : numerics::independenceTests()) {
      add(0, test(values));
    }
    addDuplicates(result);
    if (wide && isIntegral(result.dtype)) {
      std::vector<std::int64_t> whole(values.size());
      ElementReader(result).integers(0, whole);
      add(0,
          numerics::lowBitsTest(whole, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    }
    return {};
  }

  /// Blocks of 4 KiB: what one engine instruction or one core makes is of about that size.
  void addDuplicates(const TensorView& result) {
    constexpr std::size_t kBlock = 4096;
    const std::vector<std::byte> bytes = bytesOf(result);
    if (bytes.size() >= 2 * kBlock) {
      add(0, numerics::duplicateBlockTest(bytes, static_cast<std::size_t>(itemSize(result.dtype)),
                                          kBlock));
    }
  }

  Result<void> bernoulli() {
    const double p = arguments_.number("p").value_or(0.5);
    out_.what = fmt::format("bernoulli({})", p);
    out_.deterministic = p <= 0 || p >= 1;
    add(0, numerics::bernoulliTest(valuesOf(outputs_.front()), p));
    return {};
  }

  Result<void> bernoulliEach() {
    const auto& names = arguments_.ofOperands();
    const auto found = std::ranges::find(names, "p");
    NEURONCHECK_TRY(
        const TensorView view,
        operand(found == names.end() ? 0 : static_cast<std::size_t>(found - names.begin())));
    std::vector<double> probabilities = valuesOf(view);
    const std::vector<double> values = valuesOf(outputs_.front());
    if (probabilities.size() == 1) {
      probabilities.resize(values.size(), probabilities.front());
    }
    if (probabilities.size() != values.size()) {
      return inputError("its operands differ in size");
    }
    out_.what = "bernoulli with a probability for each element";
    add(0, numerics::bernoulliTest(values, probabilities));
    return {};
  }

  /// The probability of a zero.
  [[nodiscard]] double dropped() const {
    const double p = arguments_.number("p").value_or(0.5);
    if (sample_.step->op.base == "_fused_dropout") {
      return 1 - p;  // it is given the probability to keep
    }
    for (const char* word : {"train", "training"}) {
      if (arguments_.integer(word) == 0) {
        return 0;
      }
    }
    return p;
  }

  Result<void> dropout() {
    const double p = dropped();
    out_.what = fmt::format("dropout of p = {}", p);
    out_.deterministic = p <= 0 || p >= 1;
    NEURONCHECK_TRY(const TensorView input, operand(0));
    const std::vector<std::byte> before = bytesOf(input);
    const std::vector<std::byte> after = bytesOf(outputs_.front());
    const numerics::DropoutSample sample{
        .dtype = outputs_.front().dtype, .input = before, .output = after, .p = p};
    NEURONCHECK_TRY(RandomFinding finding, numerics::dropoutTest(sample));
    add(0, std::move(finding));
    if (outputs_.size() > 1) {
      add(1, mask(valuesOf(input)));
    }
    return backward(sample);
  }

  /// The mask says what was kept.
  [[nodiscard]] RandomFinding mask(const std::vector<double>& input) const {
    const std::vector<double> output = valuesOf(outputs_[0]);
    const std::vector<double> kept = valuesOf(outputs_[1]);
    const auto n = static_cast<std::int64_t>(kept.size());
    for (std::size_t i = 0; i < kept.size() && i < output.size(); ++i) {
      if (kept[i] != 0 && kept[i] != 1) {
        return numerics::failed(RandomTest::Dropout, n,
                                fmt::format("the mask is {} at {}", kept[i], i));
      }
      if (input[i] != 0 && (output[i] != 0) != (kept[i] != 0)) {
        return numerics::failed(
            RandomTest::Dropout, n,
            fmt::format("element {} is {} where the mask says {}", i, output[i], kept[i]));
      }
    }
    return n == 0
               ? numerics::mistrusted(RandomTest::Dropout, n, "the mask is empty")
               : numerics::passed(RandomTest::Dropout, n, "the mask is where the output survived");
  }

  Result<void> backward(const numerics::DropoutSample& sample) {
    const Json none = Json::array();
    const Json& gradients =
        sample_.answer->contains("gradients") ? sample_.answer->at("gradients") : none;
    if (gradients.size() != 1 || gradients[0].value("absent", false)) {
      return {};
    }
    NEURONCHECK_TRY(const TensorView gradient, viewOf(gradients[0], sample_.memory));
    const auto item = static_cast<std::size_t>(itemSize(sample.dtype));
    const std::size_t count = sample.output.size() / item;
    if (gradient.dtype != sample.dtype || sample_.cotangents.size() < count * sizeof(float)) {
      return {};
    }
    std::vector<std::byte> weights(sample.output.size());
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, sample_.cotangents.data() + i * sizeof(float), sizeof(float));
      numerics::encodeElement(sample.dtype, value, weights.data() + i * item);
    }
    NEURONCHECK_TRY(out_.gradient,
                    numerics::dropoutBackwardTest(sample, weights, bytesOf(gradient)));
    return {};
  }

  /// Whole channels are dropped: the first element of each tells of it, and the others agree.
  Result<void> channelDropout() {
    const double p = dropped();
    out_.what = fmt::format("dropout of channels, p = {}", p);
    out_.deterministic = p <= 0 || p >= 1;
    NEURONCHECK_TRY(const TensorView input, operand(0));
    const TensorView& output = outputs_.front();
    if (output.sizes.size() < 2) {
      return inputError("it has no channels");
    }
    const auto item = static_cast<std::size_t>(itemSize(output.dtype));
    const std::vector<std::byte> before = bytesOf(input);
    const std::vector<std::byte> after = bytesOf(output);
    const std::vector<double> x = valuesOf(input);
    const std::vector<double> y = valuesOf(output);
    const auto channels = static_cast<std::size_t>(output.sizes[0] * output.sizes[1]);
    const std::size_t each = y.size() / channels;
    std::vector<std::byte> firstBefore;
    std::vector<std::byte> firstAfter;
    for (std::size_t at = 0; at < y.size(); at += each) {
      const auto begin = static_cast<std::ptrdiff_t>(at * item);
      const auto end = static_cast<std::ptrdiff_t>((at + 1) * item);
      firstBefore.insert(firstBefore.end(), before.begin() + begin, before.begin() + end);
      firstAfter.insert(firstAfter.end(), after.begin() + begin, after.begin() + end);
      for (std::size_t i = at; i < at + each; ++i) {
        if (x[i] != 0 && x[at] != 0 && (y[i] != 0) != (y[at] != 0)) {
          add(0, numerics::failed(RandomTest::Dropout, static_cast<std::int64_t>(y.size()),
                                  fmt::format("element {} is not as its channel", i)));
          return {};
        }
      }
    }
    NEURONCHECK_TRY(
        RandomFinding finding,
        numerics::dropoutTest(
            {.dtype = output.dtype, .input = firstBefore, .output = firstAfter, .p = p}));
    add(0, std::move(finding));
    return {};
  }

  Result<void> alphaDropout() {
    const double p = dropped();
    out_.what = fmt::format("alpha dropout of p = {}", p);
    out_.deterministic = p <= 0 || p >= 1;
    NEURONCHECK_TRY(const TensorView input, operand(0));
    add(0,
        alphaDropoutTest(outputs_.front().dtype, valuesOf(input), valuesOf(outputs_.front()), p));
    return {};
  }

  Result<void> permutation() {
    const std::vector<double> values = valuesOf(outputs_.front());
    std::vector<std::int64_t> whole(values.size());
    std::ranges::transform(values, whole.begin(),
                           [](double v) { return static_cast<std::int64_t>(v); });
    const auto n = static_cast<std::int64_t>(whole.size());
    out_.what = fmt::format("permutations of {}", n);
    add(0, numerics::permutationTest(whole, n));
    return {};
  }

  Result<void> draws() {
    NEURONCHECK_TRY(const TensorView weights, operand(0));
    const std::vector<double> all = valuesOf(weights);
    const auto categories =
        static_cast<std::size_t>(weights.sizes.empty() ? 0 : weights.sizes.back());
    const auto perRow = outputs_.front().sizes.empty() ? 0 : outputs_.front().sizes.back();
    const bool replacement = arguments_.integer("replacement").value_or(0) != 0;
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(outputs_.front().count()));
    ElementReader(outputs_.front()).integers(0, drawn);
    out_.what = fmt::format("draws of {} categories {} replacement", categories,
                            replacement ? "with" : "without");
    for (std::size_t row = 1; row * categories < all.size(); ++row) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * categories);
      if (!std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(categories), begin)) {
        return inputError("its rows have weights of their own");
      }
    }
    add(0, numerics::drawsTest(drawn, perRow, std::span(all).first(categories), replacement));
    return {};
  }

  const RandomSample& sample_;
  CaseArguments arguments_;
  OperandLayout layout_;
  std::vector<TensorView> outputs_;
  RandomFindings out_;
};

}  // namespace

Result<RandomFindings> findingsOf(const RandomSample& sample) { return Findings(sample).make(); }

}  // namespace neuroncheck::conformance

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/kernels/normalisation.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kLength = 256;
constexpr std::int64_t kGroups = 4;
constexpr double kEpsilon = 1e-5;

struct NormCase {
  NormShape shape{kRows, kLength, false};
  NormOptions options{kEpsilon, true, 0, true, {}, {}, {}};
  Values x, weight, bias;

  [[nodiscard]] Values on(const Machine& m) const {
    return normalise(m, shape, x, weight, bias, options);
  }
  [[nodiscard]] Values onFp32() const { return on(Machine(Format::Float32)); }
};

NormCase inputsOf(const Subject& s, Family family) {
  NormCase c;
  c.shape.perRow = s.op == "batch_norm";
  if (s.op == "group_norm") {
    c.shape.channel = kLength / kGroups;
    c.shape.groups = kGroups;
  }
  // Of group_norm: kGroups channels in each of kGroups groups.
  const std::int64_t parameters = c.shape.perRow         ? kRows
                                  : c.shape.channel != 0 ? kGroups * kGroups
                                                         : kLength;
  c.x = fill(family, s.format(), kRows * kLength, seedOf(s, 1), kLength);
  c.weight = fill(Family::Normal, s.format(), parameters, seedOf(s, 2));
  c.bias = fill(Family::Normal, s.format(), parameters, seedOf(s, 3));
  return c;
}

NormCase with(NormCase c, const NormOptions& options) {
  c.options = options;
  return c;
}

/// As kernels of torch do or did for bf16 and fp16, with everything else in fp32.
void addNarrowMoments(Subject& s, const NormCase& c) {
  const Format narrow = s.dtype == DType::Float16 ? Format::Float16 : Format::BFloat16;
  NormOptions o = c.options;
  o.momentsIn = narrow;
  s.fault(fmt::format("mean and variance summed in {}", name(narrow)), with(c, o).onFp32());
  if (!o.takesMean) {
    return;  // the rule of rms_norm lets a device store what is on the way
  }
  o = c.options;
  o.momentsStoredIn = narrow;
  s.fault(fmt::format("mean and 1/deviation stored in {}", name(narrow)), with(c, o).onFp32());
  o = c.options;
  o.foldedIn = narrow;
  s.fault(fmt::format("scale and shift stored in {}", name(narrow)), with(c, o).onFp32());
}

void addMomentFaults(Subject& s, const NormCase& c) {
  NormOptions o = c.options;
  o.epsilon = 0;
  s.fault("eps missing", with(c, o).onFp32());
  o.epsilon = 10 * kEpsilon;
  s.fault("eps ten times", with(c, o).onFp32());
  o = c.options;
  o.correction = 1;
  s.fault("unbiased variance", with(c, o).onFp32());
  o = c.options;
  o.takesMean = !o.takesMean;
  s.fault(o.takesMean ? "mean subtracted" : "mean not subtracted", with(c, o).onFp32());
  o = c.options;
  o.takesRoot = false;
  s.fault("divided by the variance", with(c, o).onFp32());
  s.fault("moments in bf16", c.on(Machine(Format::BFloat16)));
  if (s.dtype != DType::BFloat16) {
    s.fault("moments in fp16", c.on(Machine(Format::Float16)));
  }
  addNarrowMoments(s, c);
}

void addParameterFaults(Subject& s, const NormCase& c) {
  NormCase other = c;
  std::ranges::fill(other.weight, 1.0);
  s.fault("weight missing", other.onFp32());
  other = c;
  other.weight = rotated(c.weight, std::ssize(c.weight), 1);
  s.fault("weight one off", other.onFp32());
  other = c;
  std::ranges::for_each(other.weight, [](double& w) { w += 1; });
  s.fault("weight plus one", other.onFp32());
  other = c;
  std::ranges::fill(other.bias, 0.0);
  s.fault("bias missing", other.onFp32());
  other = c;
  other.bias = rotated(c.bias, std::ssize(c.bias), 1);
  s.fault("bias one off", other.onFp32());
}

/// Statistics taken from the wrong elements.
void addExtentFaults(Subject& s, const NormCase& c) {
  NormCase other = c;
  other.shape.rows = kRows / 2;
  other.shape.n = 2 * kLength;
  other.shape.groups = std::max<std::int64_t>(c.shape.groups / 2, 1);
  if (std::ssize(c.weight) == kLength) {
    other.weight.insert(other.weight.end(), c.weight.begin(), c.weight.end());
    other.bias.insert(other.bias.end(), c.bias.begin(), c.bias.end());
  }
  s.fault("two rows as one", other.onFp32());
  other = c;
  other.shape.rows = 2 * kRows;
  other.shape.n = kLength / 2;
  other.shape.groups = 2 * c.shape.groups;
  if (c.shape.channel != 0) {
    s.fault("half a row only", other.onFp32());
  }
  if (c.shape.perRow) {
    Values twice, bias;
    for (std::int64_t r = 0; r < 2 * kRows; ++r) {
      twice.push_back(at(c.weight, r / 2));
      bias.push_back(at(c.bias, r / 2));
    }
    other.weight = twice;
    other.bias = bias;
    s.fault("half a row only", other.onFp32());
  }
  other = c;
  other.x = transposed(c.x, kRows, kLength);
  s.fault("strides ignored", other.onFp32());
}

Subject norm(DType dtype, const std::string& op, Family family) {
  const bool native = op == "batch_norm" || op == "group_norm";
  Subject s = subjectOf(op, dtype, std::string(name(family)), {kRows, kLength},
                        shippedRule((native ? "aten::native_" : "aten::") + op),
                        static_cast<double>(kLength));
  NormCase c = inputsOf(s, family);
  c.options.takesMean = op != "rms_norm";
  if (op == "rms_norm") {
    std::ranges::fill(c.bias, 0.0);
  }
  s.truth = c.on(Machine::exact());
  s.magnitude = normaliseMagnitude(c.shape, c.x, c.weight, c.bias, c.options);
  addOrders(s, [&](const Machine& m) { return c.on(m); });
  addMomentFaults(s, c);
  addParameterFaults(s, c);
  addExtentFaults(s, c);
  addOutputFaults(s);
  return s;
}

/// One gradient of layer_norm; `which` takes it out of the three.
Subject gradient(DType dtype, const std::string& of, Values NormGradients::* which) {
  Subject s = subjectOf("layer_norm backward, " + of, dtype, "offset",
                        of == "input" ? std::vector<std::int64_t>{kRows, kLength}
                                      : std::vector<std::int64_t>{kLength},
                        shippedRule("aten::native_layer_norm_backward", of == "input"    ? 0
                                                                        : of == "weight" ? 1
                                                                                         : 2),
                        static_cast<double>(of == "input" ? kLength : kRows));
  const NormCase c = inputsOf(s, Family::Offset);
  const Values dy = fill(Family::Normal, s.format(), kRows * kLength, seedOf(s, 4));
  const auto on = [&](const Machine& m, const Values& dout, const Values& x, const Values& w) {
    return normaliseBackward(m, c.shape, dout, x, w, c.options).*which;
  };
  s.truth = on(Machine::exact(), dy, c.x, c.weight);
  s.magnitude = normaliseBackwardMagnitude(c.shape, dy, c.x, c.weight, c.options).*which;
  addOrders(s, [&](const Machine& m) { return on(m, dy, c.x, c.weight); });
  const Machine m(Format::Float32);
  Values last = dy;
  std::fill(last.end() - kLength, last.end(), 0.0);
  s.fault("last row of the gradient ignored", on(m, last, c.x, c.weight));
  s.fault("gradient one column off", on(m, rotated(dy, kLength, 1), c.x, c.weight));
  if (of == "input") {
    s.fault("weight missing", on(m, dy, c.x, Values(c.weight.size(), 1.0)));
    Values simple;
    for (std::int64_t i = 0; i < std::ssize(dy); ++i) {
      simple.push_back(at(dy, i) * at(c.weight, i % kLength));
    }
    s.fault("statistics taken for constants", std::move(simple));
  }
  if (of != "bias") {  // a sum over rows does not care for their order
    s.fault("gradient one row off", on(m, rotated(dy, std::ssize(dy), kLength), c.x, c.weight));
    s.fault("rows of the input one off",
            on(m, dy, rotated(c.x, std::ssize(c.x), kLength), c.weight));
    s.fault("moments in bf16", on(Machine(Format::BFloat16), dy, c.x, c.weight));
  }
  addOutputFaults(s);
  return s;
}

}  // namespace

std::vector<Subject> normSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const char* op : {"layer_norm", "rms_norm", "batch_norm", "group_norm"}) {
    subjects.push_back(norm(dtype, op, Family::Scales));
    subjects.push_back(norm(dtype, op, Family::Offset));
  }
  subjects.push_back(gradient(dtype, "input", &NormGradients::x));
  subjects.push_back(gradient(dtype, "weight", &NormGradients::weight));
  subjects.push_back(gradient(dtype, "bias", &NormGradients::bias));
  return subjects;
}

}  // namespace neuroncheck::numerics::testing

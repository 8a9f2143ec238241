// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {

Subject subjectOf(std::string op, DType dtype, std::string inputs, std::vector<std::int64_t> sizes,
                  OutputRule rule, double length) {
  Subject s;
  s.op = std::move(op);
  s.dtype = dtype;
  s.inputs = std::move(inputs);
  s.sizes = std::move(sizes);
  s.rule = std::move(rule);
  s.length = length;
  return s;
}

std::uint64_t seedOf(const Subject& subject, std::uint64_t operand) {
  std::uint64_t hash = 0xcbf29ce484222325ULL + operand;  // FNV-1a
  const std::string key = subject.op + subject.inputs + std::string(shortName(subject.dtype));
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash;
}

Values rotated(const Values& values, std::int64_t n, std::int64_t by) {
  Values out = values;
  for (auto row = out.begin(); row != out.end(); row += n) {
    std::rotate(row, row + (by + n) % n, row + n);
  }
  return out;
}

namespace {

const ConvShape kConv{2, 8, 9, 9, 6, 3, 3, 1, 1, 1, 2};

struct ConvOperands {
  Values x, weight, bias;
};

/// The weights of one filter, spatially transposed or turned by half.
Values turned(const Values& weight, bool half) {
  Values out = weight;
  for (std::size_t first = 0; first < out.size(); first += 9) {
    for (std::size_t i = 0; i < 9; ++i) {
      out[first + i] = weight[first + (half ? 8 - i : i % 3 * 3 + i / 3)];
    }
  }
  return out;
}

Values scaled(Values values, double by) {
  for (double& x : values) {
    x *= by;
  }
  return values;
}

void addIndexingFaults(Subject& s, const ConvShape& shape, const ConvOperands& in) {
  const Machine m(Format::Float32);
  const std::int64_t plane = shape.height * shape.width;
  const std::int64_t perFilter = shape.length();
  s.fault("window one column off", conv2d(m, shape, in.x, in.weight, in.bias, 1));
  s.fault("padding reads 1", conv2d(m, shape, in.x, in.weight, in.bias, 0, 1));
  s.fault("kernel flipped", conv2d(m, shape, in.x, turned(in.weight, true), in.bias));
  s.fault("kernel transposed", conv2d(m, shape, in.x, turned(in.weight, false), in.bias));
  s.fault("groups exchanged",
          conv2d(m, shape, rotated(in.x, shape.channels * plane, shape.channels / 2 * plane),
                 in.weight, in.bias));
  s.fault("channels one off",
          conv2d(m, shape, rotated(in.x, shape.channels * plane, plane), in.weight, in.bias));
  s.fault("rows and columns of the input exchanged",
          conv2d(
              m, shape,
              [&] {
                Values x;
                for (std::int64_t p = 0; p < shape.batch * shape.channels; ++p) {
                  const Values one(in.x.begin() + p * plane, in.x.begin() + (p + 1) * plane);
                  const Values turn = transposed(one, shape.height, shape.width);
                  x.insert(x.end(), turn.begin(), turn.end());
                }
                return x;
              }(),
              in.weight, in.bias));
  s.fault("channels_last read as contiguous",
          conv2d(
              m, shape,
              [&] {
                Values x;
                const std::int64_t image = shape.channels * plane;
                for (std::int64_t b = 0; b < shape.batch; ++b) {
                  const Values one(in.x.begin() + b * image, in.x.begin() + (b + 1) * image);
                  const Values turn = transposed(one, shape.channels, plane);
                  x.insert(x.end(), turn.begin(), turn.end());
                }
                return x;
              }(),
              in.weight, in.bias));
  s.fault(
      "filters one off",
      conv2d(m, shape, in.x, rotated(in.weight, shape.filters * perFilter, perFilter), in.bias));
  s.fault("batch 0 read throughout", [&] {
    Values x = in.x;
    std::copy_n(in.x.begin(), shape.channels * plane, x.begin() + shape.channels * plane);
    return conv2d(m, shape, x, in.weight, in.bias);
  }());
}

void addConvFaults(Subject& s, const ConvShape& shape, const ConvOperands& in) {
  const Machine m(Format::Float32);
  const std::int64_t perFilter = shape.length();
  s.fault("bias missing", conv2d(m, shape, in.x, in.weight, scaled(in.bias, 0)));
  s.fault("bias twice", conv2d(m, shape, in.x, in.weight, scaled(in.bias, 2)));
  s.fault("bias one filter off",
          conv2d(m, shape, in.x, in.weight, rotated(in.bias, shape.filters, 1)));
  Values last = in.weight;
  for (std::int64_t i = perFilter - 1; i < std::ssize(last); i += perFilter) {
    at(last, i) = 0;
  }
  s.fault("last tap skipped", conv2d(m, shape, in.x, last, in.bias));
  ConvShape dilated = shape;
  dilated.dilation = 2;
  dilated.padding = 2;
  s.fault("dilated", conv2d(m, dilated, in.x, in.weight, in.bias));
  s.fault("inputs cast to bf16",
          conv2d(m, shape, roundedTo(Format::BFloat16, in.x),
                 roundedTo(Format::BFloat16, in.weight), in.bias),
          HypothesisId::BFloat16Inputs);
  s.fault("bf16 per MAC",
          conv2d(Machine(Format::BFloat16, Order::Fused), shape, in.x, in.weight, in.bias),
          HypothesisId::BFloat16Accumulation);
}

Subject convolution(DType dtype, Family family) {
  const ConvShape& shape = kConv;
  Subject s = subjectOf("conv2d", dtype, std::string(name(family)),
                        {shape.batch, shape.filters, shape.outHeight(), shape.outWidth()},
                        shippedRule("aten::conv2d"), static_cast<double>(shape.length()));
  const std::int64_t inputs = shape.batch * shape.channels * shape.height * shape.width;
  const ConvOperands in{fill(family, s.format(), inputs, seedOf(s, 1)),
                        fill(family, s.format(), shape.filters * shape.length(), seedOf(s, 2)),
                        fill(family, s.format(), shape.filters, seedOf(s, 3))};
  const Machine exact = Machine::exact();
  s.truth = conv2d(exact, shape, in.x, in.weight, in.bias);
  s.magnitude = conv2d(exact, shape, absolute(in.x), absolute(in.weight), absolute(in.bias));
  for (const auto& [id, format] : kCastInputs) {
    s.values[id] =
        conv2d(exact, shape, roundedTo(format, in.x), roundedTo(format, in.weight), in.bias);
  }
  s.rooms[HypothesisId::BFloat16Accumulation] =
      roomOf(Format::BFloat16, convPartialSums(shape, in.x, in.weight, 1));
  s.rooms[HypothesisId::Float16Accumulation] =
      roomOf(Format::Float16, convPartialSums(shape, in.x, in.weight, 1));
  addOrders(s, [&](const Machine& m) { return conv2d(m, shape, in.x, in.weight, in.bias); });
  addIndexingFaults(s, shape, in);
  addConvFaults(s, shape, in);
  addOutputFaults(s, true);
  return s;
}

/// Gradients of a[m,k] b[k,n]: dA = dC b^T and dB = a^T dC.
Subject matmulGradient(DType dtype, bool ofLeft) {
  const MatmulShape forward{24, 200, 20};
  const MatmulShape shape = ofLeft ? MatmulShape{forward.rows, forward.columns, forward.length}
                                   : MatmulShape{forward.length, forward.rows, forward.columns};
  Subject s = subjectOf(ofLeft ? "matmul backward, left" : "matmul backward, right", dtype,
                        "normal", {shape.rows, shape.columns}, shippedRule("aten::mm"),
                        static_cast<double>(shape.length));
  const Values operand =
      fill(Family::Normal, s.format(), forward.length * (ofLeft ? forward.columns : forward.rows),
           seedOf(s, 1));
  const Values gradient =
      fill(Family::Normal, s.format(), forward.rows * forward.columns, seedOf(s, 2));
  // The operand as the product wants it, and as a kernel that forgets to transpose reads it.
  const Values turned = ofLeft ? transposed(operand, forward.length, forward.columns)
                               : transposed(operand, forward.rows, forward.length);
  const auto product = [&](const Machine& m, const Values& other, const Values& dc) {
    return ofLeft ? matmul(m, shape, dc, other) : matmul(m, shape, other, dc);
  };
  s.truth = product(Machine::exact(), turned, gradient);
  s.magnitude = product(Machine::exact(), absolute(turned), absolute(gradient));
  addOrders(s, [&](const Machine& m) { return product(m, turned, gradient); });
  const Machine m(Format::Float32);
  s.fault("operand not transposed", product(m, operand, gradient));
  s.fault("gradient transposed",
          product(m, turned, transposed(gradient, forward.rows, forward.columns)));
  Values partial = gradient;
  std::fill(partial.end() - forward.columns, partial.end(), 0.0);
  s.fault("last row of the gradient ignored", product(m, turned, partial));
  s.fault("gradient accumulated twice", [&] {
    Values twice = product(m, turned, gradient);
    for (double& x : twice) {
      x *= 2;
    }
    return twice;
  }());
  s.fault("rows of the gradient one off",
          product(m, turned, rotated(gradient, std::ssize(gradient), forward.columns)));
  addOutputFaults(s, true);
  return s;
}

}  // namespace

std::vector<Subject> convolutionSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const Family family : {Family::Normal, Family::Small, Family::Positive}) {
    subjects.push_back(convolution(dtype, family));
  }
  return subjects;
}

std::vector<Subject> matmulBackwardSubjects(DType dtype) {
  std::vector<Subject> subjects;
  subjects.push_back(matmulGradient(dtype, true));
  subjects.push_back(matmulGradient(dtype, false));
  return subjects;
}

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/kernels/contraction.h"

namespace neuroncheck::numerics::testing {

Values transposed(const Values& values, std::int64_t rows, std::int64_t columns) {
  Values out(values.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      at(out, j * rows + i) = at(values, i * columns + j);
    }
  }
  return out;
}

namespace {

/// Calls use(element, left row, right column) for each element of a product.
template <typename Use>
void forEachDot(const MatmulShape& s, const Values& a, const Values& b, const Use& use) {
  const Values columns = transposed(b, s.length, s.columns);
  for (std::int64_t i = 0; i < s.rows; ++i) {
    for (std::int64_t j = 0; j < s.columns; ++j) {
      use(i * s.columns + j, a.data() + i * s.length, columns.data() + j * s.length);
    }
  }
}

template <typename Term>
double rootOfPartialSums(std::int64_t n, std::int64_t tile, const Term& term) {
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += term(i);
    squares += (i + 1) % tile == 0 || i + 1 == n ? sum * sum : 0;
  }
  return std::sqrt(squares);
}

/// The terms of one output element of a convolution, by their number.
class Window {
 public:
  Window(const ConvShape& shape, const Values& x, const Values& weight, std::int64_t shiftX,
         double edge)
      : s_(shape), x_(x), weight_(weight), shiftX_(shiftX), edge_(edge) {}

  void moveTo(std::int64_t batch, std::int64_t filter, std::int64_t row, std::int64_t column) {
    batch_ = batch;
    filter_ = filter;
    top_ = row * s_.stride - s_.padding;
    left_ = column * s_.stride - s_.padding + shiftX_;
  }
  [[nodiscard]] double weight(std::int64_t i) const {
    return at(weight_, filter_ * s_.length() + i);
  }
  [[nodiscard]] double input(std::int64_t i) const {
    const std::int64_t area = s_.kernelHeight * s_.kernelWidth;
    const std::int64_t perGroup = s_.channels / s_.groups;
    const std::int64_t group = filter_ / (s_.filters / s_.groups);
    const std::int64_t channel = group * perGroup + i / area;
    const std::int64_t y = top_ + i % area / s_.kernelWidth * s_.dilation;
    const std::int64_t x = left_ + i % s_.kernelWidth * s_.dilation;
    if (y < 0 || y >= s_.height || x < 0 || x >= s_.width) {
      return edge_;
    }
    return at(x_, ((batch_ * s_.channels + channel) * s_.height + y) * s_.width + x);
  }

 private:
  const ConvShape& s_;
  const Values& x_;
  const Values& weight_;
  std::int64_t shiftX_;
  double edge_;
  std::int64_t batch_ = 0, filter_ = 0, top_ = 0, left_ = 0;
};

template <typename Use>
void forEachWindow(const ConvShape& s, Window window, const Use& use) {
  std::int64_t element = 0;
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t f = 0; f < s.filters; ++f) {
      for (std::int64_t y = 0; y < s.outHeight(); ++y) {
        for (std::int64_t x = 0; x < s.outWidth(); ++x) {
          window.moveTo(n, f, y, x);
          use(element++, f, window);
        }
      }
    }
  }
}

}  // namespace

Values matmul(const Machine& machine, const MatmulShape& shape, const Values& a, const Values& b) {
  Values out(static_cast<std::size_t>(shape.rows * shape.columns));
  forEachDot(shape, a, b, [&](std::int64_t element, const double* left, const double* right) {
    at(out, element) = machine.dot(
        shape.length, [&](std::int64_t i) { return left[i]; },
        [&](std::int64_t i) { return right[i]; });
  });
  return out;
}

Values partialSums(const MatmulShape& shape, const Values& a, const Values& b, std::int64_t tile) {
  Values out(static_cast<std::size_t>(shape.rows * shape.columns));
  forEachDot(shape, a, b, [&](std::int64_t element, const double* left, const double* right) {
    at(out, element) =
        rootOfPartialSums(shape.length, tile, [&](std::int64_t i) { return left[i] * right[i]; });
  });
  return out;
}

Values roomOf(Format format, Values partialSums) {
  for (double& x : partialSums) {
    x *= 4 * traits(format).unitRoundoff();
  }
  return partialSums;
}

Values conv2d(const Machine& machine, const ConvShape& shape, const Values& x, const Values& weight,
              const Values& bias, std::int64_t shiftX, double edge) {
  Values out(
      static_cast<std::size_t>(shape.batch * shape.filters * shape.outHeight() * shape.outWidth()));
  forEachWindow(shape, Window(shape, x, weight, shiftX, edge),
                [&](std::int64_t element, std::int64_t filter, const Window& window) {
                  const double sum = machine.dot(
                      shape.length(), [&](std::int64_t i) { return window.input(i); },
                      [&](std::int64_t i) { return window.weight(i); });
                  at(out, element) = machine(sum + at(bias, filter));
                });
  return out;
}

Values convPartialSums(const ConvShape& shape, const Values& x, const Values& weight,
                       std::int64_t tile) {
  Values out(
      static_cast<std::size_t>(shape.batch * shape.filters * shape.outHeight() * shape.outWidth()));
  forEachWindow(shape, Window(shape, x, weight, 0, 0),
                [&](std::int64_t element, std::int64_t /*filter*/, const Window& window) {
                  at(out, element) = rootOfPartialSums(shape.length(), tile, [&](std::int64_t i) {
                    return window.input(i) * window.weight(i);
                  });
                });
  return out;
}

}  // namespace neuroncheck::numerics::testing

// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

/// |x|^2 over `dims` of the full spectrum, of which the last dimension holds the first half.
Tensor squareOfHalf(const Tensor& x, const Dims& dims, std::int64_t signal) {
  const std::int64_t half = dims.back();
  const std::int64_t stored = std::min(x.size(half), signal / 2 + 1);
  const Tensor square = x.narrow(half, 0, stored).abs().square();
  Tensor sum = 2 * square.sum(dims, true) - square.narrow(half, 0, 1).sum(dims, true);
  if (signal % 2 == 0 && stored == signal / 2 + 1) {
    sum = sum - square.narrow(half, stored - 1, 1).sum(dims, true);
  }
  return sum;
}

double factorOf(const Evaluation& e, double count) {
  if (e.declares("normalization")) {
    const std::int64_t kind = e.integer("normalization", 0);
    return kind == 1 ? 1 / std::sqrt(count) : kind == 2 ? 1 / count : 1;
  }
  const std::string norm = e.text("norm", "backward");
  const bool inverse = e.name == "aten::fft_ifft" || e.name == "aten::fft_irfft";
  return norm == "ortho" ? 1 / std::sqrt(count) : (norm == "forward") != inverse ? 1 / count : 1;
}

Tensor fft(const Evaluation& e) {
  Tensor x = e.tensor("self");
  const Dims dims = e.dims("dim", x);
  const bool half = e.name == "aten::_fft_c2r" || e.name == "aten::fft_irfft";
  const std::int64_t stored = x.size(dims.back());
  const std::int64_t signal =
      half ? e.integer("last_dim_size", e.integer("n", 2 * (stored - 1))) : e.integer("n", stored);
  double count = static_cast<double>(signal);
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
    count *= static_cast<double>(x.size(dims[i]));
  }
  if (!half && signal < stored) {
    x = x.narrow(dims.back(), 0, signal);
  }
  const Tensor square = half ? squareOfHalf(x, dims, signal) : x.abs().square().sum(dims, true);
  return factorOf(e, count) * square.sqrt() + e.h;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Without blanks, with the implicit output written out.
Equation equationOf(const std::string& text) {
  Equation out;
  std::string inputs;
  for (const char each : text) {
    inputs += each == ' ' ? "" : std::string(1, each);
  }
  const auto arrow = inputs.find("->");
  const bool written = arrow != std::string::npos;
  out.output = written ? inputs.substr(arrow + 2) : "";
  inputs = inputs.substr(0, arrow);
  if (!written) {
    out.output = inputs.find("...") == std::string::npos ? "" : "...";
    for (char label = 'A'; label <= 'z'; ++label) {
      if (std::isalpha(label) != 0 && std::ranges::count(inputs, label) == 1) {
        out.output += label;
      }
    }
  }
  for (std::size_t from = 0; from != std::string::npos;) {
    const auto comma = inputs.find(',', from);
    out.inputs.push_back(inputs.substr(from, comma - from));
    from = comma == std::string::npos ? comma : comma + 1;
  }
  return out;
}

/// Labels of a and b that something else still needs; "..." stays.
std::string kept(const std::string& a, const std::string& b, const std::string& others) {
  const bool dots = (a + b).find("...") != std::string::npos;
  std::string out = dots ? "..." : "";
  for (const char label : a + b) {
    if (label != '.' && others.find(label) != std::string::npos &&
        out.find(label) == std::string::npos) {
      out += label;
    }
  }
  return out;
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& tensors) {
  return torchCall("aten::einsum", "", {equation, tensors});
}

/// The last of the pairwise contractions, on absolute values: torch goes from left to right, or
/// as the path says, whose results go to the end.
Tensor lastContraction(const Evaluation& e) {
  Equation equation = equationOf(e.text("equation", ""));
  std::vector<Tensor> tensors = e.at("tensors").toTensorVector();
  const bool given = e.has("path");
  const Dims path = e.ints("path");
  for (std::size_t step = 0; tensors.size() > 2; ++step) {
    auto i = static_cast<std::size_t>(!given ? 0 : path.at(2 * step));
    auto j = static_cast<std::size_t>(!given ? 1 : path.at(2 * step + 1));
    if (j < i) {
      std::swap(i, j);
    }
    const std::string a = equation.inputs.at(i);
    const std::string b = equation.inputs.at(j);
    const std::vector<Tensor> both{tensors.at(i), tensors.at(j)};
    for (const std::size_t gone : {j, i}) {
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(gone));
      equation.inputs.erase(equation.inputs.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    std::string others = equation.output;
    for (const std::string& each : equation.inputs) {
      others += each;
    }
    const std::string labels = kept(a, b, others);
    const Tensor contracted = einsum(a + "," + b + "->" + labels, both);
    equation.inputs.insert(given ? equation.inputs.end() : equation.inputs.begin(), labels);
    tensors.insert(given ? tensors.end() : tensors.begin(), contracted);
  }
  return einsum(equation.inputs.at(0) + "," + equation.inputs.at(1) + "->" + equation.output,
                {tensors[0].abs(), tensors[1].abs()});
}

Tensor storedEinsum(const Evaluation& e) {
  return e.at("tensors").toTensorVector().size() > 2 ? lastContraction(e) : e.h;
}

}  // namespace

Formulas transformFormulas() {
  return {{"fft", fft, "_fft_c2c _fft_c2r _fft_r2c fft_fft fft_ifft fft_irfft fft_rfft"},
          {"stored_product", storedEinsum, "einsum"}};
}

}  // namespace neuroncheck::companion

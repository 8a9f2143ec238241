// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/companion.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <string>

#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/functional.h"

namespace neuroncheck::companion {
namespace {

const Formulas& table() {
  static const Formulas all = [] {
    Formulas out;
    for (const auto part : {generalFormulas, elementwiseFormulas, decisionFormulas,
                            reductionFormulas, softmaxFormulas, lossFormulas, normalisationFormulas,
                            attentionFormulas, attentionBackwardFormulas, accumulationFormulas,
                            transformFormulas, interpolationFormulas, gridFormulas}) {
      std::ranges::copy(part(), std::back_inserter(out));
    }
    return out;
  }();
  return all;
}

bool covers(const Formula& formula, std::string_view base) {
  const std::string padded = " " + std::string(formula.operators) + " ";
  return formula.operators.empty() ||
         padded.find(" " + std::string(base) + " ") != std::string::npos;
}

std::string_view baseName(std::string_view name) {
  const auto colons = name.find("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// With the sizes of the output, complex ones as components.
Tensor fitted(const Tensor& s, const Evaluation& e) {
  Tensor out = s.to(at::kDouble).expand(e.h.sizes());
  if (e.signedTruth.is_complex()) {
    Dims sizes = out.sizes().vec();
    sizes.push_back(2);
    out = out.unsqueeze(-1).expand(sizes);
  }
  return out.abs().contiguous();
}

Result<Tensor> computed(const Formula& formula, const Call& call) {
  try {
    const c10::AutoGradMode noGradients(false);
    const FunctionalCall functional(call);
    const Evaluation e(functional.call());
    return fitted(formula.compute(e), e);
  } catch (const c10::Error& error) {
    return inputError("no '" + std::string(formula.word) + "' for " + call.op.schema().name() +
                      ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return inputError("no '" + std::string(formula.word) + "' for " + call.op.schema().name() +
                      ": " + error.what());
  }
}

}  // namespace

Result<Tensor> magnitude(std::string_view word, const Call& call) {
  at::set_num_threads(1);
  const std::string base = functionalName(call.op.schema().name());
  bool known = false;
  for (const Formula& formula : table()) {
    if (formula.word != word) {
      continue;
    }
    known = true;
    if (covers(formula, baseName(base)) || covers(formula, baseName(call.op.schema().name()))) {
      return computed(formula, call);
    }
  }
  return inputError(known
                        ? "no formula of '" + std::string(word) + "' for " + call.op.schema().name()
                        : "no magnitude is called '" + std::string(word) + "'");
}

std::vector<std::string_view> words() {
  std::vector<std::string_view> out;
  for (const Formula& formula : table()) {
    if (std::ranges::find(out, formula.word) == out.end()) {
      out.push_back(formula.word);
    }
  }
  return out;
}

}  // namespace neuroncheck::companion

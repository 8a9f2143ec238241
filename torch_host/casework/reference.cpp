// SPDX-License-Identifier: Apache-2.0
// What a case should give, on the CPU: the same dtypes as evidence, fp64 as truth, and the
// magnitudes that its sums cancel from.
#include <ATen/ops/view_as_real.h>

#include <chrono>

#include <fmt/format.h>

#include "numerics/format/float_format.h"
#include "torch_host/casework/alternatives.h"
#include "torch_host/casework/batch.h"
#include "torch_host/casework/length_operands.h"
#include "torch_host/casework/precision.h"
#include "torch_host/casework/requests.h"
#include "torch_host/companion/companion.h"

namespace neuroncheck::casework {
namespace {

using nlohmann::json;

/// How an output is judged, as far as the reference has to know it.
struct Wanted {
  bool decision = false;     ///< class K: another result may be right too
  bool exact = false;        ///< the same-dtype result is the truth
  std::string length = "1";  ///< k, an expression over the operands
  std::vector<std::pair<std::string, std::string>> magnitudes;  ///< key of the answer, word
};

std::vector<Wanted> wantedOf(const json& entry) {
  std::vector<Wanted> out;
  for (const json& rule : entry.value("rules", json::array())) {
    Wanted wanted;
    wanted.decision = rule.value("decision", false);
    wanted.exact = rule.value("exact", false);
    wanted.length = rule.value("length", std::string("1"));
    for (const char* key : {"magnitude", "unstable", "stored"}) {
      if (const auto word = rule.value(key, std::string()); !word.empty() && word != "none") {
        wanted.magnitudes.emplace_back(key, word);
      }
    }
    out.push_back(std::move(wanted));
  }
  return out;
}

bool isReal(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
         (tensor.is_floating_point() || tensor.is_complex());
}

bool isDouble(const at::Tensor& tensor) {
  return tensor.scalar_type() == c10::kDouble || tensor.scalar_type() == c10::kComplexDouble;
}

void forgetGradient(CaseValue& value) {
  if (auto* tensor = std::get_if<CaseTensor>(&value.value)) {
    tensor->grad = false;
  } else if (auto* list = std::get_if<CaseList>(&value.value)) {
    std::ranges::for_each(list->items, forgetGradient);
  }
}

/// Evaluates one case.
class ReferenceCase {
 public:
  ReferenceCase(const Job& job, Arena& arena, const json& entry)
      : job_(job),
        arena_(arena),
        wanted_(wantedOf(entry)),
        hypotheses_(entry.value("hypotheses", std::vector<std::string>())),
        movedOnly_(entry.value("moved_only", false)),
        roundNumbers_(computesInFloat32(job.spec)) {}

  json run() {
    if (!stage("same", [&] { return runSame(); })) {
      return std::move(answer_);
    }
    if (needsTruth_ && !stage("truth", [&] { return runTruth(); })) {
      return std::move(answer_);
    }
    for (const std::string& hypothesis : hypotheses_) {
      // One that does not work out explains nothing, which is no fault of the reference.
      if (const auto raised = raisedBy([&] { return runHypothesis(hypothesis); })) {
        answer_["not_evaluated"][hypothesis] = raised->message;
      }
    }
    return std::move(answer_);
  }

 private:
  bool stage(std::string_view name, const std::function<Result<void>()>& body) {
    return runStage(answer_, name, body);
  }

  [[nodiscard]] const Wanted& wanted(std::size_t output) const {
    static const Wanted kNothing{.decision = false, .exact = true, .length = "1", .magnitudes = {}};
    return wanted_.empty() ? kNothing : wanted_[std::min(output, wanted_.size() - 1)];
  }

  Result<void> runSame() {
    const Manner manner;
    NEURONCHECK_TRY(Execution same, execute(job_, arena_, manner));
    json outputs = json::array();
    for (std::size_t i = 0; i < same.outputs.size(); ++i) {
      const OutputTensor& output = same.outputs[i];
      NEURONCHECK_TRY(json one, stored(output.tensor, arena_));
      one["alias"] = output.alias;
      one["written"] = output.written;
      needsTruth_ = needsTruth_ || (isReal(output.tensor) && !wanted(i).exact);
      outputs.push_back(std::move(one));
    }
    NEURONCHECK_TRY(const std::vector<std::size_t> changed, same.operands->changed());
    answer_["outputs"] = std::move(outputs);
    answer_["changed"] = changed;
    if (job_.spec.backward) {
      needsTruth_ = true;
      return storeGradients(same, manner, "same").map([](const Gradients&) {});
    }
    return {};
  }

  Result<Gradients> storeGradients(const Execution& done, const Manner& manner, const char* key) {
    NEURONCHECK_TRY(Gradients grads, gradientsOf(done, job_, arena_, manner));
    for (std::size_t i = 0; i < grads.values.size(); ++i) {
      NEURONCHECK_TRY(json one, stored(grads.values[i], arena_));
      json& entry = answer_["gradients"][i];
      entry["operand"] = grads.operands[i];
      entry[key] = std::move(one);
    }
    return grads;
  }

  /// The magnitude behind each gradient, from the call and its truth in fp64.
  Result<void> storeGradientMagnitudes(const Execution& fresh, const Execution& truth,
                                       const std::vector<at::Tensor>& results,
                                       const Gradients& grads, std::int64_t length) {
    const std::int64_t outputs = truth.outputs.front().tensor.numel();
    for (std::size_t i = 0; i < grads.values.size(); ++i) {
      json& entry = answer_["gradients"][i];
      const auto place = placeOf(fresh, grads.operands[i]);
      if (!place || !grads.values[i].defined()) {
        continue;
      }
      // As many products as the operator adds, shared out among the elements of the operand.
      const std::int64_t elements = std::max<std::int64_t>(1, grads.values[i].numel());
      const std::int64_t terms =
          std::max<std::int64_t>(1, (outputs * length + elements - 1) / elements);
      entry["length"] = terms;
      const companion::Call call{.op = *fresh.op,
                                 .arguments = fresh.arguments,
                                 .truth = results,
                                 .output = 0,
                                 .length = static_cast<double>(terms)};
      const auto magnitude =
          companion::gradientMagnitude(call, grads.cotangents, place->first, place->second);
      if (magnitude) {
        NEURONCHECK_TRY(entry["magnitude"], arena_.put(*magnitude));
      } else {
        entry["no_magnitude"] = magnitude.error().text();
      }
    }
    return {};
  }

  /// The argument that an operand is, and its place in it where that is a list.
  static std::optional<std::pair<std::size_t, std::size_t>> placeOf(const Execution& fresh,
                                                                    std::size_t operand) {
    const at::Tensor wanted = fresh.operands->made(operand);
    for (std::size_t i = 0; i < fresh.arguments.size(); ++i) {
      const c10::IValue& value = fresh.arguments[i];
      if (value.isTensor() && value.toTensor().is_same(wanted)) {
        return std::pair(i, std::size_t{0});
      }
      if (value.isTensorList()) {
        const auto list = value.toTensorVector();
        for (std::size_t k = 0; k < list.size(); ++k) {
          if (list[k].is_same(wanted)) {
            return std::pair(i, k);
          }
        }
      }
    }
    return std::nullopt;
  }

  /// Truth of every floating-point output in fp64, and the magnitudes behind it.
  Result<void> runTruth() {
    Manner manner = inFloat64(roundNumbers_, false);
    Execution truth;
    // In a sequence a tensor made by default in fp32 may meet one in fp64, which raises.
    if (raisedBy([&]() -> Result<void> {
          NEURONCHECK_TRY(truth, execute(job_, arena_, manner));
          return {};
        })) {
      manner = inFloat64(roundNumbers_, true);
      NEURONCHECK_TRY(truth, execute(job_, arena_, manner));
    }
    const auto narrow = [](const OutputTensor& output) {
      return isReal(output.tensor) && !isDouble(output.tensor);
    };
    if (std::ranges::any_of(truth.outputs, narrow)) {
      manner = inFloat64(roundNumbers_, true);
      NEURONCHECK_TRY(truth, execute(job_, arena_, manner));
    }
    if (truth.outputs.size() != answer_["outputs"].size()) {
      return inputError("in fp64 it has another number of results");
    }
    for (std::size_t i = 0; i < truth.outputs.size(); ++i) {
      const at::Tensor& tensor = truth.outputs[i].tensor;
      if (!isReal(tensor) || wanted(i).exact) {
        continue;
      }
      if (!isDouble(tensor)) {
        return inputError("the CPU has no fp64 kernel for it");
      }
      NEURONCHECK_TRY(answer_["outputs"][i]["truth"], arena_.put(tensor));
    }
    std::optional<Gradients> grads;
    if (job_.spec.backward) {
      NEURONCHECK_TRY(grads, storeGradients(truth, manner, "truth"));
    }
    return storeMagnitudes(truth, manner, grads);
  }

  Result<void> storeMagnitudes(const Execution& truth, const Manner& manner,
                               const std::optional<Gradients>& grads) {
    if (job_.spec.steps.size() != 1 && !movedOnly_) {
      return {};  // of a sequence nobody knows which sum is behind an element
    }
    // The operator may have written to its operands.
    Manner only = manner;
    only.call = false;
    Job alone = job_;
    alone.spec.backward = false;
    for (CaseArgument& argument : alone.spec.steps.back().args) {
      forgetGradient(argument.value);
    }
    NEURONCHECK_TRY(Execution fresh, execute(alone, arena_, only));
    const numerics::LengthOperands sizes =
        lengthOperandsOf(fresh.op->schema(), fresh.arguments, truth.outputs);
    std::vector<at::Tensor> results;
    for (const OutputTensor& output : truth.outputs) {
      results.push_back(output.tensor.defined() ? output.tensor.detach() : output.tensor);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!isReal(results[i]) || wanted(i).exact) {
        continue;
      }
      NEURONCHECK_TRY(const auto expression, numerics::LengthExpression::parse(wanted(i).length));
      NEURONCHECK_TRY(const std::int64_t length, expression.evaluate(sizes));
      answer_["outputs"][i]["length"] = length;
      NEURONCHECK_TRY_VOID(storeAlternative(fresh, results, i));
      for (const auto& [key, word] : wanted(i).magnitudes) {
        const companion::Call call{.op = *fresh.op,
                                   .arguments = fresh.arguments,
                                   .truth = results,
                                   .output = i,
                                   .length = static_cast<double>(length)};
        const auto magnitude = companion::magnitude(word, call);
        if (magnitude) {
          NEURONCHECK_TRY(answer_["outputs"][i][key], arena_.put(*magnitude));
        } else {
          answer_["outputs"][i]["no_" + key] = magnitude.error().text();
        }
      }
    }
    if (grads && !results.empty() && results.front().defined()) {
      NEURONCHECK_TRY(const auto expression, numerics::LengthExpression::parse(wanted(0).length));
      NEURONCHECK_TRY(const std::int64_t length, expression.evaluate(sizes));
      return storeGradientMagnitudes(fresh, truth, results, *grads, length);
    }
    return {};
  }

  /// The other right result of a decision.
  Result<void> storeAlternative(const Execution& fresh, const std::vector<at::Tensor>& results,
                                std::size_t output) {
    if (!wanted(output).decision) {
      return {};
    }
    const auto dtype = parseDType(answer_["outputs"][output].value("dtype", std::string()));
    const auto format = dtype ? numerics::formatOf(*dtype) : std::nullopt;
    const companion::Call call{.op = *fresh.op,
                               .arguments = fresh.arguments,
                               .truth = results,
                               .output = output,
                               .length = 1};
    // The quantity decided on is rounded to the output's format and has a few roundings behind it.
    constexpr double kFew = 2;
    const double unit = format ? numerics::traits(*format).unitRoundoff() : 0;
    const double accumulator = dtype == DType::Float64 ? unit : 0x1p-24;
    if (const auto other = alternativeOf(call, unit + kFew * accumulator)) {
      NEURONCHECK_TRY(answer_["outputs"][output]["alternative"], arena_.put(*other));
    }
    return {};
  }

  Result<void> runHypothesis(const std::string& name) {
    const auto manner = underHypothesis(name, roundNumbers_);
    if (!manner) {
      return inputError("not computed here");
    }
    NEURONCHECK_TRY(const Execution other, execute(job_, arena_, *manner));
    for (std::size_t i = 0; i < other.outputs.size() && i < answer_["outputs"].size(); ++i) {
      const at::Tensor& tensor = other.outputs[i].tensor;
      if (!tensor.defined() || tensor.layout() != c10::kStrided) {
        continue;
      }
      json& entry = answer_["outputs"][i];
      const bool real = entry.contains("truth");
      const at::Tensor values =
          real ? (tensor.is_complex() ? tensor : tensor.to(c10::kDouble)) : tensor.to(c10::kLong);
      NEURONCHECK_TRY(entry["hypotheses"][name], arena_.put(values));
    }
    return {};
  }

  const Job& job_;
  Arena& arena_;
  std::vector<Wanted> wanted_;
  std::vector<std::string> hypotheses_;
  bool movedOnly_;  ///< the steps before the last one round nothing
  bool roundNumbers_;
  bool needsTruth_ = false;
  json answer_ = json::object();
};

}  // namespace

json answerReference(const json& request) {
  auto arena =
      Arena::open(request.at("arena").get<std::string>(), request.at("begin").get<std::uint64_t>(),
                  request.at("end").get<std::uint64_t>());
  if (!arena) {
    return {{"error", arena.error().text()}};
  }
  Batch batch = batchOf(request);
  sandbox::Bounds bounds;
  bounds.wall = std::chrono::seconds(std::max(1, request.value("case_seconds", 60)));
  bounds.cpu = std::chrono::hours(24);
  bounds.memory = request.value("memory", std::uint64_t{8} << 30);
  bounds.sandboxed = false;  // torch's own code alone runs, and autograd starts threads
  bounds.keepErrors = true;
  json answer = json::object();
  const json& entries = request.at("cases");
  runBatch(
      batch, bounds, [] {},
      [&](const Job& job, bool&) {
        return ReferenceCase(job, *arena, entries.at(job.index)).run();
      },
      answer);
  answer["cases"] = std::move(batch.answers);
  return answer;
}

}  // namespace neuroncheck::casework

// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <ostream>

#include <nlohmann/json.hpp>

#include "conformance/compare/compare_text.h"
#include "core/version.h"

namespace neuroncheck::conformance {
namespace {

using Json = nlohmann::ordered_json;
using numerics::Judgement;
using numerics::Metrics;

Json real(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}
Json real(const std::optional<double>& value) { return value ? real(*value) : Json(nullptr); }

Json extreme(const numerics::Extreme& extreme) {
  return extreme.index < 0 ? Json(nullptr)
                           : Json{{"value", real(extreme.value)}, {"index", extreme.index}};
}

Json classesOf(const numerics::ClassTable& classes) {
  Json out = Json::array();
  for (std::size_t e = 0; e < numerics::kValueClassCount; ++e) {
    for (std::size_t a = 0; a < numerics::kValueClassCount; ++a) {
      const auto expected = static_cast<numerics::ValueClass>(e);
      const auto actual = static_cast<numerics::ValueClass>(a);
      if (const std::int64_t n = classes.at(expected, actual); n != 0) {
        out.push_back({{"expected", name(expected)}, {"actual", name(actual)}, {"count", n}});
      }
    }
  }
  return out;
}

Json faultsOf(const Metrics& m) {
  Json out = Json::object();
  for (std::size_t i = 1; i < numerics::kFaultCount; ++i) {
    if (m.faults.at(i) != 0) {
      out[std::string(name(static_cast<numerics::Fault>(i)))] = m.faults.at(i);
    }
  }
  return out;
}

Json metricsOf(const Metrics& m) {
  return {{"count", m.count},
          {"finite_pairs", m.finitePairs},
          {"max_abs", extreme(m.maxAbs)},
          {"max_rel", extreme(m.maxRel)},
          {"max_ulp", extreme(m.maxUlp)},
          {"max_ulp_distance", extreme(m.maxUlpDistance)},
          {"max_bound_ratio", extreme(m.maxRatio)},
          {"bound_ratio_p99", real(m.ratios.quantile(0.99))},
          {"relative_l2", real(m.relativeL2())},
          {"error_ratio", real(m.errorRatio())},
          {"sqnr_db", real(m.sqnr())},
          {"cosine", real(m.cosine())},
          {"bias", real(m.bias())},
          {"outward_bias", real(m.outwardBias())},
          {"wrong", m.wrong()},
          {"beyond_maximal_bound", m.beyondMaximal},
          {"faults", faultsOf(m)},
          {"sign_differs", m.signDiffers},
          {"zero_sign_differs", m.zeroSignDiffers},
          {"classes", classesOf(m.classes)},
          {"bound_ratio_histogram",
           {{"first_exponent", numerics::RatioHistogram::kFirstExponent},
            {"counts", m.ratios.counts()}}}};
}

Json placesOf(const TensorComparison& tensor) {
  Json out = Json::array();
  const Judgement& j = tensor.judgement;
  for (const auto& place : j.integerPlaces) {
    out.push_back({{"index", place.index},
                   {"position", numerics::positionOf(place.index, tensor.sizes)},
                   {"fault", "beyond-bound"},
                   {"actual", place.actual},
                   {"truth", place.truth}});
  }
  if (!out.empty()) {
    return out;
  }
  for (const numerics::Place& place : j.metrics.worst) {
    out.push_back({{"index", place.index},
                   {"position", numerics::positionOf(place.index, tensor.sizes)},
                   {"fault", name(place.fault)},
                   {"actual", real(place.actual)},
                   {"truth", real(place.truth)},
                   {"expected_bound", real(place.expectedBound)},
                   {"maximal_bound", real(place.maximalBound)},
                   {"bound_ratio", real(place.ratio)}});
  }
  return out;
}

Json trialsOf(const Judgement& j) {
  Json out = Json::array();
  for (const numerics::HypothesisTrial& trial : j.trials) {
    out.push_back({{"hypothesis", name(trial.id)},
                   {"explains_all", trial.explainsAll},
                   {"explained", trial.explained},
                   {"tried", trial.tried},
                   {"note", trial.note}});
  }
  return out;
}

Json tensorOf(const TensorComparison& tensor) {
  const Judgement& j = tensor.judgement;
  Json out = {{"name", tensor.name},
              {"actual_name", tensor.actualName},
              {"expected", tensor.expected},
              {"actual", tensor.actual},
              {"judged_as", tensor.judgedAs},
              {"state", name(j.state)},
              {"passes", isPass(j.state)},
              {"cause", j.cause},
              {"reason", j.reason},
              {"notes", j.notes},
              {"trusted", j.trust.trusted},
              {"allclose", j.allclosePasses ? Json(*j.allclosePasses) : Json(nullptr)}};
  if (j.metrics.count != 0) {
    out["pattern"] = {{"kind", name(j.pattern.kind)}, {"text", j.pattern.text()}};
    out["needed"] = {{"rtol_alone", real(j.needed.rtolAlone)},
                     {"atol_alone", real(j.needed.atolAlone)},
                     {"rtol_beside_default_atol", real(j.needed.rtolBesideDefaultAtol)},
                     {"bound_factor", real(j.needed.boundFactor)}};
    out["metrics"] = metricsOf(j.metrics);
    out["places"] = placesOf(tensor);
    out["trials"] = trialsOf(j);
  }
  return out;
}

}  // namespace

void writeCompareJson(const CompareReport& report, std::ostream& out) {
  Json counts = Json::object();
  for (std::size_t s = 0; s < kCaseStateCount; ++s) {
    const auto state = static_cast<CaseState>(s);
    if (const std::size_t n = report.count(state); n != 0) {
      counts[std::string(name(state))] = n;
    }
  }
  Json tensors = Json::array();
  for (const TensorComparison& tensor : report.tensors) {
    tensors.push_back(tensorOf(tensor));
  }
  const Json document = {
      {"schema", "neuron-check/compare/1"},
      {"tool", toolName()},
      {"expected", report.expectedPath},
      {"actual", report.actualPath},
      {"agrees", report.passes()},
      {"interrupted", report.stopped},
      {"counts", std::move(counts)},
      {"allclose", report.allclose ? Json{{"rtol", real(report.allclose->rtol)},
                                          {"atol", real(report.allclose->atol)}}
                                   : Json(nullptr)},
      {"tensors", std::move(tensors)},
      {"not_compared",
       {{"only_in_actual", report.onlyInActual}, {"filtered", report.filteredOut}}}};
  // Names of a file may hold any bytes: what is no UTF-8 is replaced, so that every reader takes
  // it.
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace neuroncheck::conformance

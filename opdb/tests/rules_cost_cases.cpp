// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Make weights(std::int64_t gib, std::string chip = "trn2") {
  return [gib, chip = std::move(chip)](InventoryBuilder& b, Target& t) {
    t.chip = chip;
    // One float32 element has four bytes.
    b.store("w", tensor(DType::Float32, {SymInt(gib), SymInt(kGiB / 4)})->spec, gib * kGiB,
            "weight_0");
  };
}

Make attention(std::int64_t length, bool mask, std::int64_t width = 64) {
  return [=](InventoryBuilder& b, Target&) {
    const TensorPtr all =
        tensor(DType::BFloat16, {SymInt(1), SymInt(2), SymInt(length), SymInt(width)});
    InventoryBuilder::Given given{{"query", all}, {"key", all}, {"value", all}};
    if (mask) {
      given.emplace("attn_mask", tensor(DType::Bool));
    }
    b.add("aten::scaled_dot_product_attention", given);
  };
}

Make reshape(std::vector<SymInt> strides) {
  return [strides = std::move(strides)](InventoryBuilder& b, Target&) {
    b.add("aten::reshape", {{"self", tensor(DType::Float32, {SymInt(4), SymInt(6)}, "x", strides)}},
          {tensor(DType::Float32, {SymInt(24)})});
  };
}

Make gather(DType index, std::int64_t stride) {
  return [=](InventoryBuilder& b, Target&) {
    b.add("aten::gather",
          {{"index", tensor(index, {SymInt(4), SymInt(6)}, "i", {SymInt(1), SymInt(stride)})}});
  };
}

}  // namespace

std::vector<RuleCase> costCases() {
  std::vector<RuleCase> out;
  out.push_back({"NC801", weights(25), weights(24), Severity::Warning});
  out.push_back({"NC801", weights(37, "trn3"), weights(36, "trn3"), Severity::Warning});
  out.push_back({"NC801", weights(17, "trn1"), weights(16, "trn1"), Severity::Warning});
  out.push_back({"NC802", weights(7), weights(6), Severity::Note});
  out.push_back({"NC803", [](auto& b, auto&) { b.add("aten::relu"); },
                 [](auto& b, auto&) {
                   b.add("aten::transpose.int");
                   b.claim().claim = Claim::NoDeviceWork;
                 },
                 Severity::Note});
  out.push_back({"NC804", [](auto& b, auto&) { b.add("aten::item"); },
                 [](auto& b, auto&) { b.add("aten::sum"); }, Severity::Note});
  out.push_back(
      {"NC805", reshape({SymInt(1), SymInt(4)}), reshape({SymInt(6), SymInt(1)}), Severity::Note});
  out.push_back({"NC806", attention(512, true), attention(512, false), Severity::Note});
  out.push_back({"NC806", attention(500, false), attention(1024, false), Severity::Note});
  out.push_back({"NC806", attention(512, false, 256), attention(512, false, 128), Severity::Note});
  out.push_back({"NC808", gather(DType::Int64, 0), gather(DType::Int32, 0), Severity::Note});
  out.push_back({"NC808", gather(DType::Int64, 0), gather(DType::Int64, 4), Severity::Note});
  return out;
}

}  // namespace neuroncheck::opdb::test

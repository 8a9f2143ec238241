// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/payload_config.h"

#include "scanner/pt2/document.h"
#include "scanner/pt2/values.h"

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<1>::Names kConfig = {"config"};
constexpr Fields<4>::Names kEntry = {"path_name", "is_param", "use_pickle", "tensor_meta"};

Result<void> readEntry(std::string_view name, Json value, std::string_view folder,
                       ValueReader& values, PayloadConfig& config) {
  NEURONCHECK_TRY(const auto fields, Fields<4>::read(value, kEntry, "the entry"));
  if (!fields.has(3)) {
    config.objects.emplace_back(name);
    return {};
  }
  StoredTensor tensor{
      .name = std::string(name), .spec = {}, .record = {}, .recordBytes = -1, .isParameter = false};
  NEURONCHECK_TRY_VOID(values.tensorMeta(fields[3], tensor.spec));
  NEURONCHECK_TRY(const Json path, fields.need(0, kEntry, "the entry"));
  NEURONCHECK_TRY(const std::string_view record, asString(path, "path_name"));
  tensor.record = std::string(folder) + std::string(record);
  if (fields.has(1)) {
    NEURONCHECK_TRY(tensor.isParameter, asBool(fields[1], "is_param"));
  }
  bool pickled = false;
  if (fields.has(2)) {
    NEURONCHECK_TRY(pickled, asBool(fields[2], "use_pickle"));
  }
  config.tensors.push_back(std::move(tensor));
  config.pickled.push_back(pickled);
  return {};
}

}  // namespace

Result<PayloadConfig> readPayloadConfig(const PaddedBytes& json, std::string_view folder,
                                        const Limits& limits) {
  NEURONCHECK_TRY(const Document document, Document::parse(json, limits.maxDepth));
  NEURONCHECK_TRY(const auto fields,
                  Fields<1>::read(document.root(), kConfig, "the payload config"));
  NEURONCHECK_TRY(const Json entries, fields.need(0, kConfig, "the payload config"));
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(entries, "config"));
  PayloadConfig config;
  Notes notes;
  ValueReader values(notes);
  config.tensors.reserve(object.size());
  for (const simdjson::dom::key_value_pair pair : object) {
    if (auto done = readEntry(pair.key, pair.value, folder, values, config); !done) {
      return tl::unexpected(
          std::move(done).error().within(fmt::format("entry '{}'", pair.key.substr(0, 120))));
    }
  }
  notes.moveTo(config.notes);
  return config;
}

std::optional<std::int64_t> storageBytes(const TensorSpec& spec) {
  const std::int64_t item = itemSize(spec.dtype);
  if (item == 0 || spec.isSymbolic() || spec.strides.size() != spec.sizes.size()) {
    return std::nullopt;
  }
  std::int64_t last = spec.storageOffset.value;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    if (spec.sizes[i].value == 0) {
      return 0;
    }
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(spec.sizes[i].value - 1, spec.strides[i].value, &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return std::nullopt;
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, item, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace neuroncheck::scanner::pt2

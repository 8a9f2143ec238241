// SPDX-License-Identifier: Apache-2.0
#include "scanner/pickle/saved_tensor.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::scanner::pickle {
namespace {

constexpr std::size_t kMaxRank = 1024;  ///< torch itself stops far below
constexpr int kMaxWrapping = 16;        ///< a parameter around a subclass around a tensor is three

struct StorageClass {
  std::string_view name;
  DType dtype;
};
constexpr auto kStorageClasses = std::to_array<StorageClass>({
    {"DoubleStorage", DType::Float64},
    {"FloatStorage", DType::Float32},
    {"HalfStorage", DType::Float16},
    {"BFloat16Storage", DType::BFloat16},
    {"LongStorage", DType::Int64},
    {"IntStorage", DType::Int32},
    {"ShortStorage", DType::Int16},
    {"CharStorage", DType::Int8},
    {"ByteStorage", DType::UInt8},
    {"BoolStorage", DType::Bool},
    {"ComplexDoubleStorage", DType::Complex128},
    {"ComplexFloatStorage", DType::Complex64},
    {"QInt8Storage", DType::QInt8},
    {"QInt32Storage", DType::QInt32},
    {"QUInt8Storage", DType::QUInt8},
    {"QUInt4x2Storage", DType::QUInt4x2},
    {"QUInt2x4Storage", DType::QUInt2x4},
});

std::string_view afterLastDot(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// The arguments of a call by position.
class Arguments {
 public:
  Arguments(const Pickle& pickle, const Value& call, std::string_view function)
      : pickle_(pickle), function_(function) {
    if (call.args != kNoValue && pickle.at(call.args).kind == Kind::Tuple) {
      items_ = &pickle.at(call.args).items;
    }
  }

  [[nodiscard]] std::size_t count() const { return items_ == nullptr ? 0 : items_->size(); }
  [[nodiscard]] Result<Index> at(std::size_t position) const {
    if (position >= count()) {
      return inputError(fmt::format("{} has {} arguments, one more than {} was expected", function_,
                                    count(), position));
    }
    return (*items_)[position];
  }
  [[nodiscard]] Result<std::int64_t> integer(std::size_t position) const {
    NEURONCHECK_TRY(const Index index, at(position));
    const Value& value = pickle_.at(index);
    if (value.kind != Kind::Int) {
      return inputError(fmt::format("argument {} of {} is no integer", position, function_));
    }
    return value.number;
  }
  [[nodiscard]] bool flag(std::size_t position) const {
    return position < count() && pickle_.at((*items_)[position]).kind == Kind::Bool &&
           pickle_.at((*items_)[position]).number != 0;
  }
  /// A tuple or list of integers, or a torch.Size made of one.
  [[nodiscard]] Result<std::vector<SymInt>> integers(std::size_t position) const {
    NEURONCHECK_TRY(Index index, at(position));
    const Value* value = &pickle_.at(index);
    if (value->kind == Kind::Call && pickle_.calleeOf(*value) == "torch.Size" &&
        value->args != kNoValue && pickle_.at(value->args).items.size() == 1) {
      value = &pickle_.at(pickle_.at(value->args).items.front());
    }
    if (value->kind != Kind::Tuple && value->kind != Kind::List) {
      return inputError(
          fmt::format("argument {} of {} is no tuple of integers", position, function_));
    }
    if (value->items.size() > kMaxRank) {
      return inputError(fmt::format("a tensor has {} dimensions", value->items.size()));
    }
    std::vector<SymInt> out;
    out.reserve(value->items.size());
    for (const Index item : value->items) {
      if (pickle_.at(item).kind != Kind::Int) {
        return inputError(
            fmt::format("argument {} of {} has an item that is no integer", position, function_));
      }
      out.emplace_back(pickle_.at(item).number);
    }
    return out;
  }
  [[nodiscard]] Result<DType> dtype(std::size_t position) const {
    NEURONCHECK_TRY(const Index index, at(position));
    const auto dtype = parseDType(pickle_.nameOf(index));
    if (!dtype || *dtype == DType::Unknown) {
      return inputError(fmt::format("argument {} of {} is no dtype: '{}'", position, function_,
                                    pickle_.nameOf(index).substr(0, 80)));
    }
    return *dtype;
  }

 private:
  const Pickle& pickle_;
  std::string_view function_;
  const std::vector<Index>* items_ = nullptr;
};

Device deviceOf(std::string_view location) {
  const std::size_t colon = location.find(':');
  Device device{.type = std::string(location.substr(0, colon)), .index = std::nullopt};
  if (colon != std::string_view::npos) {
    std::int64_t number = 0;
    bool digits = colon + 1 < location.size() && location.size() - colon < 10;
    for (const char c : location.substr(colon + 1)) {
      digits = digits && c >= '0' && c <= '9';
      number = digits ? number * 10 + (c - '0') : number;
    }
    if (digits) {
      device.index = number;
    }
  }
  return device;
}

class TensorReader {
 public:
  explicit TensorReader(const Pickle& pickle) : pickle_(pickle) {}

  Result<SavedTensor> read(Index index, int depth) { return read(pickle_.at(index), depth); }

  Result<SavedTensor> read(const Value& call, int depth) {
    const std::string_view name = pickle_.calleeOf(call);
    if (call.kind != Kind::Call || depth > kMaxWrapping) {
      return inputError("a tensor is wrapped too deeply, or is none");
    }
    const std::string_view function = afterLastDot(name);
    const Arguments args(pickle_, call, function);
    if (function == "_rebuild_tensor" || function == "_rebuild_tensor_v2" ||
        function == "_rebuild_tensor_v3") {
      return strided(args, function == "_rebuild_tensor_v3");
    }
    if (function == "_rebuild_parameter" || function == "_rebuild_parameter_with_state") {
      return parameter(args, depth);
    }
    if (function == "_rebuild_qtensor") {
      return quantized(args);
    }
    if (function == "_rebuild_sparse_tensor") {
      return sparse(args, depth);
    }
    if (function == "_rebuild_nested_tensor") {
      return nested(args, depth);
    }
    if (function == "_rebuild_meta_tensor_no_storage") {
      return meta(args);
    }
    if (function == "_rebuild_wrapper_subclass") {
      return subclass(args);
    }
    if (function == "_rebuild_from_type_v2") {
      return fromType(args, depth);
    }
    return fromCpu(args, depth);
  }

 private:
  Result<SavedTensor> strided(const Arguments& args, bool typed) {
    SavedTensor tensor;
    NEURONCHECK_TRY(const Index storage, args.at(0));
    NEURONCHECK_TRY(tensor.storage, readStorage(pickle_, storage));
    NEURONCHECK_TRY(const std::int64_t offset, args.integer(1));
    tensor.spec.storageOffset = SymInt(offset);
    NEURONCHECK_TRY(tensor.spec.sizes, args.integers(2));
    NEURONCHECK_TRY(tensor.spec.strides, args.integers(3));
    if (tensor.spec.sizes.size() != tensor.spec.strides.size()) {
      return inputError(fmt::format("a tensor has {} sizes and {} strides",
                                    tensor.spec.sizes.size(), tensor.spec.strides.size()));
    }
    tensor.spec.requiresGrad = args.flag(4);
    tensor.spec.dtype = tensor.storage->dtype;
    if (typed) {
      NEURONCHECK_TRY(tensor.spec.dtype, args.dtype(6));
    }
    tensor.spec.device = deviceOf(tensor.storage->location);
    return tensor;
  }

  Result<SavedTensor> parameter(const Arguments& args, int depth) {
    NEURONCHECK_TRY(const Index data, args.at(0));
    NEURONCHECK_TRY(SavedTensor tensor, read(data, depth + 1));
    tensor.isParameter = true;
    tensor.spec.requiresGrad = args.flag(1);
    return tensor;
  }

  Result<SavedTensor> quantized(const Arguments& args) {
    NEURONCHECK_TRY(SavedTensor tensor, strided(args, false));
    tensor.form = "quantized";
    tensor.spec.requiresGrad = args.flag(5);
    return tensor;
  }

  /// (layout, (indices, values, size[, coalesced])) or (layout, (crow, col, values, size)).
  Result<SavedTensor> sparse(const Arguments& args, int depth) {
    NEURONCHECK_TRY(const Index layoutIndex, args.at(0));
    NEURONCHECK_TRY(const Index dataIndex, args.at(1));
    const Value& data = pickle_.at(dataIndex);
    const Layout layout = layoutOf(layoutIndex);
    const bool coo = layout == Layout::SparseCoo;
    const std::size_t valuesAt = coo ? 1 : 2;
    if (layout == Layout::Unknown || data.kind != Kind::Tuple || data.items.size() < valuesAt + 2) {
      return inputError("a sparse tensor has no layout or not all of its parts");
    }
    NEURONCHECK_TRY(const SavedTensor values, read(data.items[valuesAt], depth + 1));
    SavedTensor tensor;
    tensor.form = "sparse";
    tensor.spec.layout = layout;
    tensor.spec.dtype = values.spec.dtype;
    tensor.spec.device = values.spec.device;
    const Value parts{.kind = Kind::Call, .args = dataIndex};
    NEURONCHECK_TRY(tensor.spec.sizes,
                    Arguments(pickle_, parts, "a sparse tensor").integers(valuesAt + 1));
    return tensor;
  }

  [[nodiscard]] Layout layoutOf(Index index) const {
    const Value& value = pickle_.at(index);
    std::string_view text = value.kind == Kind::Global ? value.text : std::string_view();
    // torch.serialization._get_layout("torch.sparse_coo")
    if (value.kind == Kind::Call && value.args != kNoValue &&
        pickle_.at(value.args).items.size() == 1) {
      text = pickle_.at(pickle_.at(value.args).items.front()).text;
    }
    return parseLayout(afterLastDot(text)).value_or(Layout::Unknown);
  }

  Result<SavedTensor> nested(const Arguments& args, int depth) {
    NEURONCHECK_TRY(const Index buffer, args.at(0));
    NEURONCHECK_TRY(SavedTensor tensor, read(buffer, depth + 1));
    tensor.form = "nested";
    tensor.storage.reset();
    tensor.spec.hasShape = false;
    tensor.spec.sizes.clear();
    tensor.spec.strides.clear();
    return tensor;
  }

  Result<SavedTensor> meta(const Arguments& args) {
    SavedTensor tensor;
    tensor.form = "meta";
    tensor.spec.device = {.type = "meta", .index = std::nullopt};
    NEURONCHECK_TRY(tensor.spec.dtype, args.dtype(0));
    NEURONCHECK_TRY(tensor.spec.sizes, args.integers(1));
    NEURONCHECK_TRY(tensor.spec.strides, args.integers(2));
    tensor.spec.requiresGrad = args.flag(3);
    return tensor;
  }

  /// (class, dtype, size, strides, storage_offset, layout, device, requires_grad).
  Result<SavedTensor> subclass(const Arguments& args) {
    SavedTensor tensor;
    tensor.form = "subclass";
    NEURONCHECK_TRY(tensor.spec.dtype, args.dtype(1));
    NEURONCHECK_TRY(tensor.spec.sizes, args.integers(2));
    NEURONCHECK_TRY(tensor.spec.strides, args.integers(3));
    tensor.spec.requiresGrad = args.flag(7);
    tensor.spec.device = {.type = "cpu", .index = std::nullopt};
    return tensor;
  }

  /// (function, class, arguments, state): what the function makes, as an instance of the class.
  Result<SavedTensor> fromType(const Arguments& args, int depth) {
    NEURONCHECK_TRY(const Index function, args.at(0));
    NEURONCHECK_TRY(const Index inner, args.at(2));
    const Value call{.kind = Kind::Call, .callee = function, .args = inner};
    if (!known(pickle_.nameOf(function))) {
      return inputError(fmt::format("a tensor is made by '{}', which is none of torch's functions",
                                    pickle_.nameOf(function).substr(0, 80)));
    }
    return read(call, depth + 1);
  }

  /// _rebuild_device_tensor_from_cpu_tensor(data, dtype, device, requires_grad), and from numpy.
  Result<SavedTensor> fromCpu(const Arguments& args, int depth) {
    NEURONCHECK_TRY(const Index data, args.at(0));
    SavedTensor tensor;
    if (isTensorCall(pickle_, data)) {
      NEURONCHECK_TRY(tensor, read(data, depth + 1));
    } else {
      tensor.spec.hasShape = false;  // a numpy array, whose shape is in its own state
    }
    tensor.form = "subclass";
    tensor.storage.reset();
    NEURONCHECK_TRY(tensor.spec.dtype, args.dtype(1));
    NEURONCHECK_TRY(const Index device, args.at(2));
    tensor.spec.device = deviceOf(pickle_.at(device).text);
    return tensor;
  }

 public:
  static bool known(std::string_view name) {
    constexpr auto kFunctions = std::to_array<std::string_view>(
        {"torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2",
         "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_parameter",
         "torch._utils._rebuild_parameter_with_state", "torch._utils._rebuild_qtensor",
         "torch._utils._rebuild_sparse_tensor", "torch._utils._rebuild_nested_tensor",
         "torch._utils._rebuild_meta_tensor_no_storage", "torch._utils._rebuild_wrapper_subclass",
         "torch._utils._rebuild_device_tensor_from_cpu_tensor",
         "torch._utils._rebuild_device_tensor_from_numpy", "torch._tensor._rebuild_from_type_v2"});
    return std::ranges::find(kFunctions, name) != kFunctions.end();
  }

 private:
  const Pickle& pickle_;
};

}  // namespace

bool isTensorCall(const Pickle& pickle, Index index) {
  const Value& value = pickle.at(index);
  return value.kind == Kind::Call && TensorReader::known(pickle.calleeOf(value));
}

Result<SavedTensor> readTensor(const Pickle& pickle, Index index) {
  return TensorReader(pickle).read(index, 0);
}

Result<StorageRef> readStorage(const Pickle& pickle, Index index) {
  const Value& value = pickle.at(index);
  const bool named = value.kind == Kind::Persistent && value.args != kNoValue;
  const Value* id = named ? &pickle.at(value.args) : nullptr;
  if (id == nullptr || id->kind != Kind::Tuple || id->items.size() < 5 ||
      pickle.at(id->items[0]).text != "storage") {
    return inputError("a tensor refers to something that is no storage of torch.save");
  }
  const Value& type = pickle.at(id->items[1]);
  const Value& key = pickle.at(id->items[2]);
  const Value& location = pickle.at(id->items[3]);
  const Value& count = pickle.at(id->items[4]);
  const auto dtype = dtypeOfStorageClass(type.text);
  if (!dtype || key.kind != Kind::Text || location.kind != Kind::Text || count.kind != Kind::Int) {
    return inputError(fmt::format("a storage is described in an unknown way (class '{}')",
                                  type.text.substr(0, 80)));
  }
  constexpr std::size_t kLongest = 1024;
  if (key.text.size() > kLongest || location.text.size() > kLongest) {
    return inputError("a storage has a key or a location of more than 1024 bytes");
  }
  return StorageRef{.key = std::string(key.text),
                    .location = std::string(location.text),
                    .dtype = *dtype,
                    .count = count.number};
}

std::string checkExtent(const SavedTensor& tensor) {
  const auto value = [](const SymInt& number) { return number.value; };
  std::int64_t last = value(tensor.spec.storageOffset);
  if (last < 0) {
    return fmt::format("its storage offset is negative: {}", last);
  }
  bool empty = false;
  for (std::size_t i = 0; i < tensor.spec.sizes.size(); ++i) {
    const std::int64_t size = value(tensor.spec.sizes[i]);
    if (size < 0) {
      return fmt::format("its size {} is negative: {}", i, size);
    }
    empty = empty || size == 0;
    if (i >= tensor.spec.strides.size() || size == 0) {
      continue;
    }
    const std::int64_t stride = value(tensor.spec.strides[i]);
    std::int64_t step = 0;
    if (stride < 0 || __builtin_mul_overflow(size - 1, stride, &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return fmt::format("its sizes and strides reach beyond 64 bits or below 0");
    }
  }
  if (empty || !tensor.storage || tensor.spec.strides.size() != tensor.spec.sizes.size()) {
    return {};
  }
  const std::int64_t item = tensor.storage->dtype == DType::Unknown
                                ? std::max<std::int64_t>(itemSize(tensor.spec.dtype), 1)
                                : 1;
  const std::int64_t held = tensor.storage->count / item;
  if (last >= held) {
    return fmt::format("its last element is number {} of a storage of {}", last, held);
  }
  return {};
}

std::optional<DType> dtypeOfStorageClass(std::string_view name) {
  if (name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage") {
    return DType::Unknown;
  }
  const std::string_view last = afterLastDot(name);
  const auto found = std::ranges::find(kStorageClasses, last, &StorageClass::name);
  if (found != kStorageClasses.end()) {
    return found->dtype;
  }
  const auto dtype = parseDType(name);
  return dtype && *dtype != DType::Unknown ? dtype : std::nullopt;
}

}  // namespace neuroncheck::scanner::pickle

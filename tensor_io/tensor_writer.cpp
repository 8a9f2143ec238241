// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/tensor_writer.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/replace_file.h"
#include "scanner/archive/printable.h"
#include "tensor_io/extent.h"
#include "tensor_io/sinks.h"

namespace neuroncheck::tensor_io {
namespace {

tl::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::Usage, std::move(message));
}

Sink makeSink(const std::string& path, TensorFormat format,
              const std::map<std::string, std::string>& metadata) {
  switch (format) {
    case TensorFormat::Safetensors:
      return safetensorsSink(path, metadata);
    case TensorFormat::Npy:
      return npySink(path);
    case TensorFormat::Npz:
      return npzSink(path);
  }
  return fail(ErrorCode::Internal, "a format without a writer");
}

}  // namespace

Result<void> TensorSink::begin(std::string_view name, DType dtype,
                               std::span<const std::int64_t> sizes) {
  if (open_) {
    return usage(fmt::format("tensor '{}' is not finished", scanner::printable(head_.name)));
  }
  const auto body = [&]() -> Result<void> {
    if (name.empty() || !names_.emplace(name).second) {
      return usage(name.empty() ? "a tensor needs a name" : "its name was written before");
    }
    const std::int64_t item = itemSize(dtype);
    if (item == 0) {
      return usage("its dtype has no fixed size");
    }
    auto bytes = byteCountOf(item, sizes);
    if (!bytes) {
      return usage(bytes.error().message);
    }
    head_ = TensorHead{.name = std::string(name),
                       .dtype = dtype,
                       .sizes = {sizes.begin(), sizes.end()},
                       .strides = {},
                       .byteCount = *bytes};
    return beginTensor();
  };
  auto begun = body();
  if (!begun) {
    return tl::unexpected(
        std::move(begun).error().within(fmt::format("tensor '{}'", scanner::printable(name, 120))));
  }
  open_ = true;
  given_ = 0;
  return {};
}

Result<void> TensorSink::append(std::span<const std::byte> bytes) {
  if (!open_) {
    return usage("no tensor is begun");
  }
  if (bytes.size() > head_.byteCount - given_) {
    return usage(fmt::format("tensor '{}' has {} bytes, more were given",
                             scanner::printable(head_.name, 120), head_.byteCount));
  }
  given_ += bytes.size();
  return write(bytes);
}

Result<void> TensorSink::finish() {
  if (!open_) {
    return usage("no tensor is begun");
  }
  if (given_ != head_.byteCount) {
    return usage(fmt::format("tensor '{}' has {} bytes, {} were given",
                             scanner::printable(head_.name, 120), head_.byteCount, given_));
  }
  open_ = false;
  return finishTensor();
}

Result<void> closeSink(TensorSink& sink) {
  if (sink.open_) {
    return usage(
        fmt::format("tensor '{}' is not finished", scanner::printable(sink.head_.name, 120)));
  }
  return sink.close();
}

Result<void> writeTensorFile(const std::string& path, TensorFormat format,
                             const TensorProducer& produce,
                             const std::map<std::string, std::string>& metadata) {
  if (format != TensorFormat::Safetensors && !metadata.empty()) {
    return usage("only safetensors holds metadata");
  }
  return replaceFile(path, [&](const std::string& partial) -> Result<void> {
    NEURONCHECK_TRY(const std::unique_ptr<TensorSink> sink, makeSink(partial, format, metadata));
    NEURONCHECK_TRY_VOID(produce(*sink));
    return closeSink(*sink);
  });
}

}  // namespace neuroncheck::tensor_io

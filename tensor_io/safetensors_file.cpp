// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/safetensors/header.h"
#include "tensor_io/extent.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/readers.h"

namespace neuroncheck::tensor_io {
namespace {

using scanner::printable;
using scanner::SafetensorsHeader;
using scanner::SafetensorsTensor;

/// The format wants every byte of the data to belong to exactly one tensor; the reference reader
/// refuses anything else, and so a hidden second content.
Result<void> checkPlaces(const SafetensorsHeader& header) {
  std::vector<const SafetensorsTensor*> sorted;
  sorted.reserve(header.tensors.size());
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (!tensor.problem.empty() && tensor.dtype != DType::Unknown) {
      return inputError(
          fmt::format("tensor '{}': {}", printable(tensor.name, 120), tensor.problem));
    }
    sorted.push_back(&tensor);
  }
  std::ranges::sort(sorted, [](const SafetensorsTensor* a, const SafetensorsTensor* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t end = 0;
  for (const SafetensorsTensor* tensor : sorted) {
    if (tensor->begin != end) {
      return inputError(fmt::format(
          "tensor '{}': its data begin at byte {}, {}", printable(tensor->name, 120), tensor->begin,
          tensor->begin < end ? fmt::format("within those of another, which end at {}", end)
                              : fmt::format("and no tensor has the bytes from {}", end)));
    }
    end = tensor->end;
  }
  if (end != header.dataBytes) {
    return inputError(
        fmt::format("the file has {} bytes of data, its tensors take {}", header.dataBytes, end));
  }
  return {};
}

class SafetensorsFile final : public TensorFile {
 public:
  SafetensorsFile(FileContent content, std::string label, std::vector<std::string> names,
                  SafetensorsHeader header, OpenOptions options)
      : TensorFile(TensorFileKind::Safetensors, std::move(label), std::move(names),
                   std::move(header.metadata)),
        content_(std::move(content)),
        header_(std::move(header)),
        options_(std::move(options)) {}

 private:
  [[nodiscard]] Result<TensorHead> headAt(std::size_t index) const override {
    const SafetensorsTensor& tensor = header_.tensors[index];
    if (!tensor.problem.empty()) {
      return inputError(tensor.problem);
    }
    TensorHead head;
    NEURONCHECK_TRY(head.dtype, chooseDType({.text = tensor.word,
                                             .dtype = tensor.dtype,
                                             .itemSize = itemSize(tensor.dtype)},
                                            tensor.name, options_));
    NEURONCHECK_TRY(head.byteCount, byteCountOf(itemSize(tensor.dtype), tensor.sizes));
    head.name = tensor.name;
    head.sizes = tensor.sizes;
    head.strides = rowMajor(head.sizes);
    return head;
  }

  [[nodiscard]] Result<TensorEntry> entryAt(std::size_t index) const override {
    NEURONCHECK_TRY(TensorHead head, headAt(index));
    NEURONCHECK_TRY_VOID(content_.stillWhole());
    const auto bytes = content_.bytes().subspan(
        static_cast<std::size_t>(header_.dataOffset + header_.tensors[index].begin),
        static_cast<std::size_t>(head.byteCount));
    return TensorEntry{std::move(head), bytes, content_.owner(), content_.isMapped()};
  }

  FileContent content_;
  SafetensorsHeader header_;
  OpenOptions options_;
};

}  // namespace

Opened openSafetensors(FileContent content, std::string label, const OpenOptions& options) {
  NEURONCHECK_TRY(SafetensorsHeader header, scanner::readSafetensorsHeader(*content.source()));
  std::vector<std::string> names;
  names.reserve(header.tensors.size());
  for (const SafetensorsTensor& tensor : header.tensors) {
    names.push_back(tensor.name);
  }
  NEURONCHECK_TRY_VOID(checkUnique(names));
  NEURONCHECK_TRY_VOID(checkPlaces(header));
  return std::make_unique<SafetensorsFile>(std::move(content), std::move(label), std::move(names),
                                           std::move(header), options);
}

}  // namespace neuroncheck::tensor_io

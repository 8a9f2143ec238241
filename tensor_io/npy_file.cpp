// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tensor_io/npy_header.h"
#include "tensor_io/readers.h"

namespace neuroncheck::tensor_io {
namespace {

class NpyFile final : public TensorFile {
 public:
  NpyFile(FileContent content, std::string label, NpyHeader header, OpenOptions options)
      : TensorFile(TensorFileKind::Npy, std::move(label), {std::string(kSoleName)}),
        content_(std::move(content)),
        header_(std::move(header)),
        options_(std::move(options)) {}

 private:
  [[nodiscard]] Result<TensorHead> headAt(std::size_t /*index*/) const override {
    return headOf(header_, std::string(kSoleName), content_.bytes().size(), options_);
  }
  [[nodiscard]] Result<TensorEntry> entryAt(std::size_t index) const override {
    NEURONCHECK_TRY(TensorHead head, headAt(index));
    NEURONCHECK_TRY_VOID(content_.stillWhole());
    const auto bytes = content_.bytes().subspan(static_cast<std::size_t>(header_.dataOffset),
                                                static_cast<std::size_t>(head.byteCount));
    return TensorEntry{std::move(head), bytes, content_.owner(), content_.isMapped()};
  }

  FileContent content_;
  NpyHeader header_;
  OpenOptions options_;
};

}  // namespace

Opened openNpy(FileContent content, std::string label, const OpenOptions& options) {
  const auto start = [&](std::size_t count) { return content.source()->readUpTo(0, count); };
  NEURONCHECK_TRY(NpyHeader header, readNpyHeader(start));
  NEURONCHECK_TRY_VOID(dataBytesOf(header, content.bytes().size()));
  return std::make_unique<NpyFile>(std::move(content), std::move(label), std::move(header),
                                   options);
}

}  // namespace neuroncheck::tensor_io

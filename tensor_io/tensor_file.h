// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"

namespace neuroncheck::tensor_io {

enum class TensorFileKind : std::uint8_t {
  Safetensors,
  Npy,
  Npz,
  Shards,  ///< several safetensors files read as one: an index of shards, or a folder
  Raw,     ///< places in a file that the caller describes (raw_records.h)
};

/// What a file says of one tensor, without its data. Sizes and strides are in elements, as torch
/// has them: float4_e2m1fn_x2 counts pairs.
struct TensorHead {
  std::string name;
  DType dtype = DType::Unknown;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< row-major, or column-major of a numpy Fortran array
  std::uint64_t byteCount = 0;
};

/// A tensor and its data, little-endian. No alignment is promised: read elements with memcpy.
struct TensorEntry : TensorHead {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps `bytes` mapped, also after the file is gone
  bool mapped = false;                ///< they lie in a file, not in memory of the process

  /// Gives the whole pages within [first, first + count) of `bytes` back: they no longer count as
  /// memory of the process, and are read from the file again when they are touched. For whoever
  /// passes over a tensor larger than memory. Does nothing where bytes are not mapped.
  void release(std::size_t first, std::size_t count) const;
};

/// How to read what a file leaves open, and what reading may cost.
struct OpenOptions {
  /// What bytes of an unnamed dtype are (numpy writes bfloat16 and float8 of ml_dtypes as 'V2',
  /// 'V1' and 'f1'). Taken where its item size is theirs.
  std::optional<DType> opaque = {};
  /// The dtype of single tensors, whatever the file says; its item size must be the file's.
  std::map<std::string, DType, std::less<>> dtypes = {};
  /// Most bytes that one deflated record may unpack to.
  std::uint64_t maxUnpackedBytes = std::uint64_t{16} << 30;
  /// Where deflated records are unpacked; empty for $TMPDIR, else /tmp.
  std::string temporaryFolder = {};
};

/// A file of named tensors, open for reading. Nothing of it is executed or unpickled. Data are
/// mapped, not read, so a file may be larger than memory; a deflated record alone is unpacked, into
/// a file without a name that lasts as long as its entry. All functions may be called from several
/// threads. Whoever cuts a file short while it is mapped ends the process that reads its bytes
/// (SIGBUS); entry() sees a file that was cut before.
class TensorFile {
 public:
  TensorFile(const TensorFile&) = delete;
  TensorFile& operator=(const TensorFile&) = delete;
  TensorFile(TensorFile&&) = delete;
  TensorFile& operator=(TensorFile&&) = delete;
  virtual ~TensorFile() = default;

  [[nodiscard]] TensorFileKind kind() const { return kind_; }
  /// In file order, each once. The one array of an npy file has the name kSoleName.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }
  /// What a safetensors file says of itself; empty for other kinds.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Fails with Nothing for a name the file lacks; with Input, naming the tensor and the reason,
  /// when the tensor cannot be read: a dtype torch lacks, objects, a damaged or encrypted record.
  [[nodiscard]] Result<TensorHead> head(std::string_view name) const;
  [[nodiscard]] Result<TensorEntry> entry(std::string_view name) const;
  /// Called now and then with the bytes that were read; an Error ends the reading and is returned.
  using Reading = std::function<Result<void>(std::uint64_t done)>;
  /// Compares the data with the checksum the file has of them (npz), which reads all of them in
  /// pieces. A deflated record was compared by entry(), and is not read again while an entry of it
  /// is alive; other kinds have no checksum.
  [[nodiscard]] Result<void> verify(std::string_view name, const Reading& reading = {}) const;

 protected:
  /// `label` leads every Error. The names must differ.
  TensorFile(TensorFileKind kind, std::string label, std::vector<std::string> names,
             std::map<std::string, std::string> metadata = {});

 private:
  [[nodiscard]] virtual Result<TensorHead> headAt(std::size_t index) const = 0;
  [[nodiscard]] virtual Result<TensorEntry> entryAt(std::size_t index) const = 0;
  [[nodiscard]] virtual Result<void> verifyAt(std::size_t index, const Reading& reading) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] Error named(Error error, std::string_view name) const;
  [[nodiscard]] Error absent(std::string_view name) const;

  TensorFileKind kind_;
  std::string label_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> metadata_;
  std::unordered_map<std::string_view, std::size_t> places_;  ///< views into names_
};

inline constexpr std::string_view kSoleName = "array";

/// Opens safetensors, npy, npz, an index of safetensors shards, or a folder of safetensors files;
/// which of them is decided by content. Fails with Input, naming the file, the record and the
/// reason, for anything else and for a file whose parts do not fit together: cut off, offsets that
/// overlap or leave gaps, a name that occurs twice, a header that lies about its length. Time and
/// memory are of the order of the headers.
///
/// Formats: https://github.com/huggingface/safetensors (README "Format"), numpy NEP 1 and
/// numpy/lib/format.py (versions 1.0 to 3.0), PKWARE APPNOTE.TXT 6.3.
[[nodiscard]] Result<std::unique_ptr<TensorFile>> openTensorFile(const std::string& path,
                                                                 const OpenOptions& options = {});
/// The same for the content of a file in memory, which the caller keeps alive as long as the file
/// and every entry of it.
[[nodiscard]] Result<std::unique_ptr<TensorFile>> openTensorBytes(std::span<const std::byte> bytes,
                                                                  const OpenOptions& options = {});

}  // namespace neuroncheck::tensor_io

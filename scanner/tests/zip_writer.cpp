// SPDX-License-Identifier: Apache-2.0
#include "scanner/tests/zip_writer.h"

#include <zlib.h>

namespace neuroncheck::scanner::testing {
namespace {

template <typename T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

void put16(std::string& out, std::size_t value) { put(out, static_cast<std::uint16_t>(value)); }
void put32(std::string& out, std::size_t value) { put(out, static_cast<std::uint32_t>(value)); }
void put64(std::string& out, std::size_t value) { put(out, static_cast<std::uint64_t>(value)); }

}  // namespace

std::string deflated(std::string_view bytes) {
  z_stream stream = {};
  ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  std::string in(bytes);
  stream.next_in = reinterpret_cast<unsigned char*>(in.data());
  stream.avail_in = static_cast<unsigned>(in.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

ZipWriter& ZipWriter::add(std::string_view name, std::string_view bytes, const Options& options) {
  const std::string data = options.deflate ? deflated(bytes) : std::string(bytes);
  const std::size_t method = options.method.value_or(options.deflate ? 8 : 0);
  const std::size_t size = options.claimedSize.value_or(static_cast<std::uint32_t>(bytes.size()));
  const std::size_t crc = options.crc.value_or(static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size())));
  const std::size_t offset = bytes_.size();
  const std::string localName = options.localName.value_or(std::string(name));

  put32(bytes_, 0x04034b50);
  put16(bytes_, 20);
  put16(bytes_, options.flags);
  put16(bytes_, method);
  put32(bytes_, 0);  // time and date
  put32(bytes_, crc);
  put32(bytes_, data.size());
  put32(bytes_, size);
  put16(bytes_, localName.size());
  put16(bytes_, 0);
  bytes_ += localName + data;

  std::string extra;
  if (options.zip64) {
    put16(extra, 1);
    put16(extra, 24);
    put64(extra, size);
    put64(extra, data.size());
    put64(extra, offset);
  }
  put32(directory_, 0x02014b50);
  put16(directory_, 20);
  put16(directory_, 20);
  put16(directory_, options.flags);
  put16(directory_, method);
  put32(directory_, 0);
  put32(directory_, crc);
  put32(directory_, options.zip64 ? 0xFFFFFFFF : data.size());
  put32(directory_, options.zip64 ? 0xFFFFFFFF : size);
  put16(directory_, name.size());
  put16(directory_, extra.size());
  put16(directory_, 0);
  put32(directory_, 0);  // disk, internal attributes
  put32(directory_, 0);
  put32(directory_, options.zip64 ? 0xFFFFFFFF : offset);
  directory_ += name;
  directory_ += extra;
  ++count_;
  return *this;
}

std::string ZipWriter::finish(const End& end) const {
  std::string out = bytes_ + directory_;
  const std::size_t count = end.entries.value_or(count_);
  const std::size_t size =
      end.directorySize.value_or(static_cast<std::uint32_t>(directory_.size()));
  const std::size_t offset =
      end.directoryOffset.value_or(static_cast<std::uint32_t>(bytes_.size()));
  if (end.zip64) {
    const std::size_t position = out.size();
    put32(out, 0x06064b50);
    put64(out, 44);
    put16(out, 45);
    put16(out, 45);
    put32(out, 0);
    put32(out, 0);
    put64(out, count);
    put64(out, count);
    put64(out, size);
    put64(out, offset);
    put32(out, 0x07064b50);
    put32(out, 0);
    put64(out, position);
    put32(out, 1);
  }
  put32(out, 0x06054b50);
  put32(out, 0);
  put16(out, end.zip64 ? 0xFFFF : count);
  put16(out, end.zip64 ? 0xFFFF : count);
  put32(out, end.zip64 ? 0xFFFFFFFF : size);
  put32(out, end.zip64 ? 0xFFFFFFFF : offset);
  put16(out, end.comment.size());
  return out + end.comment;
}

}  // namespace neuroncheck::scanner::testing

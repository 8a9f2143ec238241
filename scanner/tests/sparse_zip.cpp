// SPDX-License-Identifier: Apache-2.0
#include "scanner/tests/sparse_zip.h"

namespace neuroncheck::scanner::testing {
namespace {

constexpr std::uint64_t kVersions = 0x002d'002d;  // made by, needed: 4.5
constexpr std::uint64_t kSaturated = 0xFFFFFFFF;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  }
}

}  // namespace

void SparseZip::entry(std::string_view name, std::string_view bytes, const Claims& claims) {
  std::string local;
  put(local, 0x04034b50, 4);
  put(local, 0x0008'002d, 4);  // version, flags: sizes follow the data
  put(local, claims.method, 2);
  put(local, 0, 16);  // time, date, checksum, sizes
  put(local, name.size(), 2);
  put(local, 0, 2);
  local += name;

  put(directory_, 0x02014b50, 4);
  put(directory_, kVersions, 4);
  put(directory_, 8, 2);  // flags
  put(directory_, claims.method, 2);
  put(directory_, 0, 8);  // time, date, checksum
  put(directory_, kSaturated, 4);
  put(directory_, kSaturated, 4);
  put(directory_, name.size(), 2);
  put(directory_, 28, 2);
  put(directory_, 0, 10);
  put(directory_, kSaturated, 4);
  directory_ += name;
  put(directory_, 1, 2);  // ZIP64 extra
  put(directory_, 24, 2);
  put(directory_, claims.size, 8);
  put(directory_, claims.compressed, 8);
  put(directory_, offset_, 8);

  file_.seekp(static_cast<std::streamoff>(offset_));
  file_ << local << bytes;
  offset_ += local.size() + claims.compressed;
  ++count_;
}

void SparseZip::finish() {
  std::string end = directory_;
  put(end, 0x06064b50, 4);
  put(end, 44, 8);
  put(end, kVersions, 4);
  put(end, 0, 8);
  put(end, count_, 8);
  put(end, count_, 8);
  put(end, directory_.size(), 8);
  put(end, offset_, 8);
  put(end, 0x07064b50, 4);
  put(end, 0, 4);
  put(end, offset_ + directory_.size(), 8);
  put(end, 1, 4);
  put(end, 0x06054b50, 4);
  put(end, 0, 4);
  put(end, kSaturated, 4);
  put(end, kSaturated, 4);
  put(end, kSaturated, 4);
  put(end, 0, 2);
  file_.seekp(static_cast<std::streamoff>(offset_));
  file_ << end;
  file_.close();
}

}  // namespace neuroncheck::scanner::testing

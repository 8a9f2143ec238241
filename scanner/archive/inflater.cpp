// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/inflater.h"

#include <algorithm>

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

Inflater::Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t compressed)
    : source_(source),
      offset_(offset),
      left_(compressed),
      input_(static_cast<std::size_t>(std::min<std::uint64_t>(compressed, kChunk)), '\0'),
      ready_(::inflateInit2(&stream_, -MAX_WBITS) == Z_OK) {}

Inflater::~Inflater() {
  if (ready_) {
    ::inflateEnd(&stream_);
  }
}

Result<std::size_t> Inflater::step(std::span<char> out) {
  if (!ready_) {
    return fail(ErrorCode::Internal, "zlib could not be started");
  }
  while (!ended_) {
    if (stream_.avail_in == 0 && left_ > 0) {
      const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input_.size()));
      NEURONCHECK_TRY_VOID(source_.read(offset_, std::span<char>(input_).first(take)));
      stream_.next_in = reinterpret_cast<unsigned char*>(input_.data());
      stream_.avail_in = static_cast<unsigned>(take);
      offset_ += take;
      left_ -= take;
    }
    const std::size_t room = std::min(out.size(), kChunk);
    stream_.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(room);
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    const std::size_t produced = room - stream_.avail_out;
    if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
      return inputError("the deflated data are damaged");
    }
    ended_ = code == Z_STREAM_END;
    if (produced > 0) {
      return produced;
    }
    if (stream_.avail_in == 0 && left_ == 0) {
      break;
    }
  }
  return 0;
}

Result<std::size_t> Inflater::fill(std::span<char> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    NEURONCHECK_TRY(const std::size_t got, step(out.subspan(done)));
    if (got == 0) {
      break;
    }
    done += got;
  }
  return done;
}

Result<bool> Inflater::endsHere() {
  char spare = 0;
  NEURONCHECK_TRY(const std::size_t got, step(std::span<char>(&spare, 1)));
  return got == 0 && ended_;
}

}  // namespace neuroncheck::scanner

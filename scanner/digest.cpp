// SPDX-License-Identifier: Apache-2.0
#include "scanner/digest.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

Result<std::string> sha256OfFile(const std::string& path) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  NEURONCHECK_TRY(const auto source, openFile(path));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(source->size(), kChunk)),
                     '\0');
  for (std::uint64_t offset = 0; good && offset < source->size(); offset += buffer.size()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(source->size() - offset, buffer.size()));
    NEURONCHECK_TRY_VOID(source->read(offset, std::span<char>(buffer).first(count)));
    good = EVP_DigestUpdate(context.get(), buffer.data(), count) == 1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned size = 0;
  if (!good || EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1) {
    return fail(ErrorCode::Internal, "the crypto library could not compute a SHA-256");
  }
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += fmt::format("{:02x}", digest[i]);
  }
  return hex;
}

}  // namespace neuroncheck::scanner

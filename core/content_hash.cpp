// SPDX-License-Identifier: Apache-2.0
#include "core/content_hash.h"

#include <xxhash.h>

namespace neuroncheck {

std::uint64_t contentHash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace neuroncheck

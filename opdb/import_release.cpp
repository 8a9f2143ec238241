// SPDX-License-Identifier: Apache-2.0
#include "opdb/import_release.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "opdb/assess.h"
#include "opdb/lookup.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::size_t kLongestName = 64;

bool isPlain(const std::string& name) {
  return name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '-' || c == '+' || c == '_' || c == ' ';
         });
}

bool sameNumbers(const std::string& sdk, VersionNumbers wanted) {
  auto numbers = VersionNumbers::parse(sdk);
  if (!numbers) {
    return false;
  }
  numbers->suffix = wanted.suffix = false;
  return *numbers == wanted;
}

/// Above the number of every release and not below the oldest SDK, as the check tells an SDK from a
/// release.
bool isSdkNumber(const std::vector<Release>& releases, const VersionNumbers& wanted) {
  const bool aboveAll = std::ranges::all_of(releases, [&](const Release& release) {
    const auto numbers = VersionNumbers::parse(release.name);
    return !numbers || *numbers < wanted;
  });
  return aboveAll && std::ranges::any_of(releases, [&](const Release& release) {
           const auto numbers = VersionNumbers::parse(release.sdk);
           return numbers && *numbers <= wanted;
         });
}

}  // namespace

Result<std::string> importedRelease(const Database& database, const std::string& product,
                                    const std::string& wanted) {
  const auto version = VersionNumbers::parse(wanted);
  if (!version || !isPlain(wanted)) {
    std::string shown;
    for (const char c : wanted.substr(0, kLongestName)) {
      shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    return fail(ErrorCode::Usage, fmt::format("release '{}' is no version number", shown));
  }
  const std::vector<Release> releases = database.releases(product);
  if (releases.empty()) {
    return wanted;
  }
  Target target;
  target.product = product;
  target.release = wanted;
  NEURONCHECK_TRY(target, resolveTarget(database, target));
  if (target.releaseKnown) {
    return target.answeringRelease;
  }
  const auto answering = std::ranges::find(releases, target.answeringRelease, &Release::name);
  if (answering != releases.end() && sameNumbers(answering->sdk, *version)) {
    return answering->name;
  }
  if (isSdkNumber(releases, *version)) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is the number of an SDK that no known release belongs to: give "
                            "the release of {}",
                            wanted, product));
  }
  return wanted;
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#include "opdb/database.h"

#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "opdb/sqlite/connection.h"
#include "opdb/sqlite/reader.h"

namespace neuroncheck::opdb {
namespace {

struct OpNameHash {
  std::size_t operator()(const OpName& op) const {
    constexpr std::size_t kMix = 1099511628211U;
    const std::hash<std::string> hash;
    return (hash(op.base) * kMix ^ hash(op.overload)) * kMix ^ hash(op.ns);
  }
};
template <typename T>
using ByOp = std::unordered_map<OpName, T, OpNameHash>;
template <typename T>
using ByProduct = std::map<std::string, T, std::less<>>;

}  // namespace

/// Node-based caches: references handed out stay valid while later entries come.
struct Database::Impl {
  Impl(std::string file, std::unique_ptr<SQLite::Database> connection)
      : path(std::move(file)), reader(std::move(connection)) {}

  std::string path;
  std::string catalogueVersion;
  std::string madeFrom;
  mutable sqlite::Reader reader;
  mutable ByOp<std::unique_ptr<OpInfo>> ops;
  mutable ByProduct<ByOp<std::vector<SupportRow>>> support;
  mutable ByOp<std::vector<ExpansionRow>> expansions;
  mutable ByProduct<std::vector<FeatureRow>> features;
  mutable ByProduct<std::vector<CompilerRule>> rules;
  mutable std::string damage;

  /// A read that fails gives an empty answer, which claims nothing, and is kept in `damage`.
  template <typename Read>
  auto guarded(Read read) const -> decltype(read()) {
    try {
      return read();
    } catch (const std::exception& exception) {
      note(exception.what());
      return {};
    }
  }
  void note(std::string_view what) const {
    if (damage.empty()) {
      damage = fmt::format("{}: the operator database is damaged: {}", path, what);
    }
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path) {
  NEURONCHECK_TRY(auto connection, sqlite::openReadOnly(path));
  auto impl = std::make_unique<Impl>(path, std::move(connection));
  impl->catalogueVersion = impl->guarded([&] { return impl->reader.meta("catalogue_version"); });
  impl->madeFrom = impl->guarded([&] { return impl->reader.meta("made_from"); });
  if (!impl->damage.empty()) {
    return inputError(impl->damage);
  }
  return Database(std::move(impl));
}

const OpInfo* Database::find(const OpName& name) const {
  if (const auto cached = impl_->ops.find(name); cached != impl_->ops.end()) {
    return cached->second.get();
  }
  std::optional<OpInfo> read = impl_->guarded([&]() -> std::optional<OpInfo> {
    auto found = impl_->reader.op(name.str());
    if (!found) {
      impl_->note(found.error().text());
      return std::nullopt;
    }
    return *std::move(found);
  });
  auto info = read ? std::make_unique<OpInfo>(*std::move(read)) : nullptr;
  return impl_->ops.emplace(name, std::move(info)).first->second.get();
}

std::vector<OpName> Database::overloads(std::string_view packet) const {
  return impl_->guarded([&] { return impl_->reader.overloads(packet); });
}

const std::string& Database::path() const { return impl_->path; }
const std::string& Database::catalogueVersion() const { return impl_->catalogueVersion; }
const std::string& Database::madeFrom() const { return impl_->madeFrom; }
const std::string& Database::damage() const { return impl_->damage; }

std::vector<Release> Database::releases(std::string_view product) const {
  return impl_->guarded([&] { return impl_->reader.releases(product); });
}

const std::vector<SupportRow>& Database::support(const OpName& op, std::string_view product) const {
  auto ofProduct = impl_->support.find(product);
  if (ofProduct == impl_->support.end()) {
    ofProduct = impl_->support.try_emplace(std::string(product)).first;
  }
  auto cached = ofProduct->second.find(op);
  if (cached == ofProduct->second.end()) {
    auto rows = impl_->guarded([&] { return impl_->reader.support(op, product); });
    cached = ofProduct->second.emplace(op, std::move(rows)).first;
  }
  return cached->second;
}

const std::vector<ExpansionRow>& Database::expansions(const OpName& op) const {
  auto cached = impl_->expansions.find(op);
  if (cached == impl_->expansions.end()) {
    auto rows = impl_->guarded([&] { return impl_->reader.expansions(op.str()); });
    cached = impl_->expansions.emplace(op, std::move(rows)).first;
  }
  return cached->second;
}

const std::vector<FeatureRow>& Database::features(std::string_view product) const {
  auto cached = impl_->features.find(product);
  if (cached == impl_->features.end()) {
    auto rows = impl_->guarded([&] { return impl_->reader.features(product); });
    cached = impl_->features.emplace(std::string(product), std::move(rows)).first;
  }
  return cached->second;
}

const std::vector<CompilerRule>& Database::rules(std::string_view product) const {
  auto cached = impl_->rules.find(product);
  if (cached == impl_->rules.end()) {
    auto rows = impl_->guarded([&] { return impl_->reader.rules(product); });
    cached = impl_->rules.emplace(std::string(product), std::move(rows)).first;
  }
  return cached->second;
}

std::vector<OpName> Database::operatorNames() const {
  return impl_->guarded([&] { return impl_->reader.operatorNames(); });
}

std::vector<OpName> Database::composites(const OpName& op) const {
  return impl_->guarded([&] { return impl_->reader.composites(op.str()); });
}

std::vector<SupportRow> Database::allSupport() const {
  return impl_->guarded([&] { return impl_->reader.allSupport(); });
}

std::vector<std::string> Database::products() const {
  return impl_->guarded([&] { return impl_->reader.products(); });
}

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/result.h"
#include "core/schema.h"

namespace neuroncheck::opdb {

/// One release of a product. `order` sorts releases of one product; releases of one SDK answer for
/// each other without being stale.
struct Release {
  std::string product;
  std::string name;
  std::int64_t order = 0;
  std::string sdk;
  std::string date;  ///< ISO
  std::string torch;
  std::string compiler;  ///< "neuronx-cc 2.28": whose rules answer for it
  bool registrationsComplete = false;
  std::string note;
};

/// What a row says; the words of the data files.
enum class SupportStatus : std::uint8_t {
  Native,
  Decomposed,
  CpuFallback,
  Unsupported,
  Unknown,
  Partial
};
[[nodiscard]] std::string_view name(SupportStatus status);
[[nodiscard]] std::optional<SupportStatus> parseSupportStatus(std::string_view text);

/// Whether a row speaks of one overload, of all overloads with their in-place and out forms, or of
/// a feature.
enum class RowScope : std::uint8_t { Overload, Packet, Feature };

/// One row of the support matrix.
struct SupportRow {
  std::int64_t id = 0;
  std::string op;  ///< "aten::gelu" (packet scope: all overloads)
  RowScope scope = RowScope::Overload;
  SupportStatus status = SupportStatus::Unknown;
  std::string product;
  std::string release;
  std::string mode;       ///< eager | compile | any
  std::string chip;       ///< empty: all
  std::string dtypes;     ///< words separated by '|'; empty: no statement. Speaks of the
                          ///< floating-point tensor operands only
  std::string predicate;  ///< opdb/predicate.h; empty: always
  std::optional<SupportStatus> otherwise;  ///< what holds where the predicate is violated
  std::string pathNote;                    ///< a caveat, shown with the use
  std::string vendorTest;                  ///< pass | skipped | xfail | mismatch | none
  std::string note;
  std::string evidence;  ///< Evidence::kind
  Confidence confidence = Confidence::None;
  std::string observed;
  std::string source;
};

/// One child of a composite operator, recorded one level deep on a backend with no kernels of its
/// own.
struct ExpansionRow {
  std::string op;
  std::string child;
  std::string times;  ///< "1", "3", "0-2", "n"
  bool always = true;
  bool plumbing = false;  ///< allocation or metadata of the backend, no compute
  std::string condition;  ///< predicate over the parent's arguments that decides; empty: not known
  std::string onlyIf;     ///< where it is false the child is not called; empty: not known
  std::string
      argsJson;  ///< child argument -> {"parent": ..} | {"const": ..} | {"derived": {..}} | null
  std::int64_t samples = 0;
  std::string source;
  bool truncated = false;  ///< every sample ended in an error: there may be more calls
};

struct FeatureRow {
  std::string id;
  std::string appliesTo;
  std::string mode;
  SupportStatus status = SupportStatus::Unknown;
  std::string message;
  std::string release;
  std::string evidence;
  Confidence confidence = Confidence::None;
  std::string source;
  std::string observed;
};

/// A rule of the vendor's compiler ("NCC_EVRF013").
struct CompilerRule {
  std::string code;
  std::string title;
  std::vector<std::string> targets;  ///< operators; {"*"} for all; empty when not checkable
  RowScope scope = RowScope::Packet;
  std::string mode;
  std::string predicate;
  bool machineCheckable = false;
  std::string note;
  std::string product;  ///< of the compiler
  std::string release;
  std::string answersFor;
  std::string evidence;
  Confidence confidence = Confidence::None;
  std::string source;
};

/// The SQLite operator database, opened read-only (a read-only file or folder works). Implements
/// SchemaSource over its catalogue. Rows are read on demand and cached; not thread-safe.
class Database : public SchemaSource {
 public:
  /// A database of an older schema is read as if it had been updated; the file stays as it is.
  /// Fails with Input for a file that is no operator database, or of a newer schema than this
  /// program knows (both versions named).
  [[nodiscard]] static Result<Database> open(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database() override;

  [[nodiscard]] const OpInfo* find(const OpName& name) const override;
  [[nodiscard]] std::vector<OpName> overloads(std::string_view packet) const override;

  [[nodiscard]] const std::string& path() const;
  /// "torch 2.13.0": the version the catalogue was generated from.
  [[nodiscard]] const std::string& catalogueVersion() const;
  /// Names the data files the database was built from, so that a copy of an older one is noticed;
  /// `db import` leaves it as it is. Empty in databases made before it was recorded.
  [[nodiscard]] const std::string& madeFrom() const;
  /// Releases of one product, oldest first.
  [[nodiscard]] std::vector<Release> releases(std::string_view product) const;
  /// Rows whose op is this overload, or (packet scope) its packet, also that of the functional form
  /// of an in-place operator; of one product only. All releases, modes and chips.
  [[nodiscard]] const std::vector<SupportRow>& support(const OpName& op,
                                                       std::string_view product) const;
  [[nodiscard]] const std::vector<ExpansionRow>& expansions(const OpName& op) const;
  [[nodiscard]] const std::vector<FeatureRow>& features(std::string_view product) const;
  /// Rules of compilers that answer for `product`.
  [[nodiscard]] const std::vector<CompilerRule>& rules(std::string_view product) const;

  /// Every operator of the catalogue, sorted by name.
  [[nodiscard]] std::vector<OpName> operatorNames() const;
  /// Composites that have `op` among their children, sorted.
  [[nodiscard]] std::vector<OpName> composites(const OpName& op) const;
  /// Every support row, of all products, sorted by id. For listing, export and comparison only:
  /// never for a claim.
  [[nodiscard]] std::vector<SupportRow> allSupport() const;
  /// Every product with a release, sorted.
  [[nodiscard]] std::vector<std::string> products() const;

  /// The first failure of a read since opening (a damaged file); empty when there was none. Answers
  /// given after it may lack rows, so a report must say so.
  [[nodiscard]] const std::string& damage() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace neuroncheck::opdb

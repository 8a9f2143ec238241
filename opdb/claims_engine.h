// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdb/claims_judgement.h"
#include "opdb/expansion.h"
#include "opdb/predicate.h"

namespace neuroncheck::opdb {

/// One operator that a composite calls, or may call.
struct Part {
  const Expansion* expansion = nullptr;
  Judgement judgement;
  bool open = false;      ///< it is not known whether the composite calls it
  bool excluded = false;  ///< its condition does not hold
  std::string decidedBy;  ///< what would tell
};

/// The lookup rules of docs/claims.md; the numbers in the comments are the numbers there.
/// `ClaimEngine` is the public face; this class answers for any operator and argument facts, so
/// that a composite's parts are judged by the same rules.
class RuleEngine {
 public:
  RuleEngine(const Database& database, Target target, std::string today);

  [[nodiscard]] const Judgement& judge(const OpName& op, const PredicateContext& context);
  [[nodiscard]] const EvidenceBook& evidence() const { return book_; }
  [[nodiscard]] const Target& target() const { return target_; }

 private:
  /// What one row says of one use.
  struct RowAnswer {
    const SupportRow* row = nullptr;
    bool speaks = true;  ///< false: the operands' dtypes are outside of what the row speaks of
    Claim claim = Claim::Unknown;
    std::string decidedBy;
    std::string detail;  ///< why it is not simply the row's status
  };
  struct RowGroup {
    Standing standing;
    std::vector<const SupportRow*> rows;
  };

  // claims_engine.cpp: the order of the rules.
  [[nodiscard]] Judgement judgeOnce(const OpName& op, const PredicateContext& context);
  [[nodiscard]] std::optional<Judgement> judgeWithoutRows(const OpName& op, const OpInfo* info,
                                                          const PredicateContext& context);

  // claims_special.cpp: operators that are answered before any row, and those with a rule of their
  // own.
  [[nodiscard]] std::optional<Judgement> judgeMapped(const OpName& op,
                                                     const PredicateContext& context);
  [[nodiscard]] std::optional<Judgement> judgeViewOrCopy(const OpName& op,
                                                         const PredicateContext& context);
  [[nodiscard]] Judgement judgeKernelView(const OpName& op);
  /// A view that is composed of a kernel view for these arguments (`real` of a complex tensor):
  /// the claim of that one.
  [[nodiscard]] std::optional<Judgement> judgeViewOfKernelView(const OpName& op, const OpInfo& info,
                                                               const PredicateContext& context);
  [[nodiscard]] std::optional<Judgement> judgeAttention(const OpName& op,
                                                        const PredicateContext& context);
  [[nodiscard]] Judgement judgeFusedAttention(const FeatureRow& choice,
                                              const PredicateContext& context);
  [[nodiscard]] const FeatureRow* feature(std::string_view id) const;

  // claims_rows.cpp: what rows say.
  [[nodiscard]] std::optional<Judgement> judgeRows(const OpName& op, const OpInfo* info,
                                                   const PredicateContext& context);
  [[nodiscard]] std::vector<RowGroup> groupRows(const OpName& op,
                                                std::vector<std::string>& evidenceOnly);
  [[nodiscard]] RowAnswer answerOf(const SupportRow& row, const OpInfo* info,
                                   const PredicateContext& context);
  [[nodiscard]] Judgement judgeGroup(const OpName& op, const OpInfo* info, const RowGroup& group,
                                     const PredicateContext& context);
  void applyOlderConditions(Judgement& judgement, const OpName& op, const OpInfo* info,
                            const std::vector<RowGroup>& older, const PredicateContext& context);
  void addDispatchView(Judgement& judgement, const OpName& op, const OpInfo* info,
                       const PredicateContext& context);
  const Result<Predicate>& predicateOf(const SupportRow& row, const OpInfo* info);

  // claims_derive.cpp: what follows where no row answers.
  [[nodiscard]] Judgement derive(const OpName& op, const OpInfo* info,
                                 const PredicateContext& context);
  [[nodiscard]] std::optional<Judgement> judgeTwin(const OpName& op, const OpInfo& info,
                                                   const PredicateContext& context);
  [[nodiscard]] std::optional<Judgement> judgeFamily(const OpName& op, const OpInfo& info,
                                                     const PredicateContext& context);
  [[nodiscard]] Judgement judgeComposite(const OpName& op, const OpInfo& info,
                                         const PredicateContext& context);
  [[nodiscard]] Judgement judgeMissingKernel(const OpName& op, const OpInfo& info);
  [[nodiscard]] Judgement judgeAbsence(const OpName& op, const OpInfo& info,
                                       const std::string& kernel);
  [[nodiscard]] Judgement quoteAbsence(const OpName& op, const std::string& kernel);
  [[nodiscard]] Judgement judgeCompile(const OpName& op, const OpInfo& info,
                                       const PredicateContext& context);
  [[nodiscard]] std::vector<Part> judgeParts(const OpName& op,
                                             const std::vector<Expansion>& expansions,
                                             const PredicateContext& context);
  [[nodiscard]] Part judgePart(const OpName& op, const Expansion& expansion,
                               const PredicateContext& context);
  const std::vector<Expansion>& expansionsOf(const OpInfo& info);

  const Database& database_;
  Target target_;
  EvidenceBook book_;
  std::unordered_map<std::string, Judgement> answers_;
  std::set<std::string> inProgress_;
  std::map<OpName, std::vector<Expansion>> expansions_;
  std::map<std::int64_t, Result<Predicate>> predicates_;
  int depth_ = 0;
};

/// The claim of a composite from those of its parts (rule 15).
[[nodiscard]] Judgement combine(const OpName& op, const std::vector<Part>& parts);
/// Rule 4: operators that only read metadata, and those without a tensor in or out.
[[nodiscard]] bool isMetadataOnly(const OpName& op, const OpInfo* info);
/// Rule 3: namespaces that never ask the device for anything.
[[nodiscard]] bool isHostNamespace(std::string_view ns);
/// Rule 5: the arguments make the operator return its input; the argument is named in the sentence.
[[nodiscard]] std::optional<std::string> noWorkByArgument(const OpName& op,
                                                          const PredicateContext& context);
/// Rule 13: collectives, whose kernels come with PyTorch and ask a process group.
[[nodiscard]] bool isCollective(const OpName& op);
/// Appends a leaf, or widens one of the same operator and claim that is there.
void addLeaf(std::vector<LeafClaim>& leaves, LeafClaim leaf);

/// "A calls B, which <what is said of B>"; two sentences when the reason does not begin with B.
[[nodiscard]] std::string chained(const OpName& op, const OpName& child, const std::string& reason);

[[nodiscard]] Judgement noDeviceWork(std::string reason);
[[nodiscard]] std::optional<bool> boolArgument(const PredicateContext& context,
                                               std::string_view argument);
[[nodiscard]] std::optional<double> numberArgument(const PredicateContext& context,
                                                   std::string_view argument);
[[nodiscard]] const TensorFacts* tensorArgument(const PredicateContext& context,
                                                std::string_view argument);

}  // namespace neuroncheck::opdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "torch_host/sim/profile.h"

namespace neuroncheck::sim {

/// What the device of this process is and remembers. Calls come from any thread.
class DeviceState {
 public:
  static DeviceState& get();

  /// A fresh device with this profile. The reason when its counter file cannot be opened.
  [[nodiscard]] std::string reset(Profile profile);
  [[nodiscard]] std::shared_ptr<const Profile> profile() const;

  void executed(const std::string& op);
  void fellBack(const std::string& op);
  /// True the first time for a name.
  [[nodiscard]] bool warnedFirst(const std::string& op);
  [[nodiscard]] std::string takeLog();

  /// The operator, and its packet, run from now on in this process.
  void launched(const std::string& op, const std::string& packet);

  /// Keeps the first failure for the next synchronisation.
  void latch(const Failure& failure);
  [[nodiscard]] std::optional<Failure> takePending();
  /// After it, every operator fails in this way.
  void breakFor(const Failure& failure);
  [[nodiscard]] std::optional<Failure> broken() const;
  void poison() {
    const std::lock_guard lock(mutex_);
    garbage_ = true;
  }
  [[nodiscard]] bool givesGarbage() const;

  /// Whether a fault whose selector matches fires this time. `index` is its place in the profile.
  /// Counted for takeFired.
  [[nodiscard]] bool fires(const Fault& fault, std::size_t index);

  /// How often each fault of the profile has fired since the last call.
  [[nodiscard]] std::string takeFired();

  /// Bytes of the last result under the fault, replaced by these.
  [[nodiscard]] std::vector<char> exchangeStale(std::size_t index, std::vector<char> bytes);
  /// A number that differs from call to call.
  [[nodiscard]] std::uint64_t nextRandom();

 private:
  std::int64_t ticket(std::size_t index);
  bool decide(const Fault& fault, std::size_t index);

  mutable std::mutex mutex_;
  std::shared_ptr<const Profile> profile_ = std::make_shared<const Profile>();
  std::map<std::string, std::uint64_t> executed_, fallback_;
  std::set<std::string> warned_, launched_;
  std::optional<Failure> pending_, broken_;
  bool garbage_ = false;
  int counterFile_ = -1;
  std::map<std::size_t, std::int64_t> tickets_;
  std::vector<std::uint64_t> fired_;
  std::map<std::size_t, std::pair<std::int64_t, bool>> decided_;  ///< process, decision
  std::map<std::size_t, std::vector<char>> stale_;
  std::uint64_t random_ = 0;
};

}  // namespace neuroncheck::sim

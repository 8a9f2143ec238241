// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/state.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

namespace neuroncheck::sim {

DeviceState& DeviceState::get() {
  static auto* state = new DeviceState;  // outlives static destruction, as torch's threads may
  return *state;
}

std::string DeviceState::reset(Profile profile) {
  int file = -1;
  if (!profile.counterFile.empty()) {
    file = ::open(profile.counterFile.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) {
      return "counter_file: cannot be opened: " + profile.counterFile;
    }
  }
  const std::lock_guard lock(mutex_);
  if (counterFile_ >= 0) {
    ::close(counterFile_);
  }
  counterFile_ = file;
  random_ = static_cast<std::uint64_t>(profile.seed);
  profile_ = std::make_shared<const Profile>(std::move(profile));
  executed_.clear();
  fallback_.clear();
  warned_.clear();
  launched_.clear();
  pending_.reset();
  broken_.reset();
  garbage_ = false;
  tickets_.clear();
  fired_.assign(profile_->faults.size(), 0);
  decided_.clear();
  stale_.clear();
  return {};
}

std::shared_ptr<const Profile> DeviceState::profile() const {
  const std::lock_guard lock(mutex_);
  return profile_;
}

void DeviceState::executed(const std::string& op) {
  const std::lock_guard lock(mutex_);
  ++executed_[op];
}

void DeviceState::fellBack(const std::string& op) {
  const std::lock_guard lock(mutex_);
  ++fallback_[op];
}

bool DeviceState::warnedFirst(const std::string& op) {
  const std::lock_guard lock(mutex_);
  return warned_.insert(op).second;
}

std::string DeviceState::takeLog() {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  if (profile_->lists == Lists::Counts) {
    out = {{"executed", executed_}, {"fallback", fallback_}};
  } else if (profile_->lists == Lists::Sets) {
    out = {{"executed", nlohmann::ordered_json::array()},
           {"fallback", nlohmann::ordered_json::array()}};
    for (const auto& [op, count] : executed_) {
      out["executed"].push_back(op);
    }
    for (const auto& [op, count] : fallback_) {
      out["fallback"].push_back(op);
    }
  }
  executed_.clear();
  fallback_.clear();
  return out.dump();
}

void DeviceState::launched(const std::string& op, const std::string& packet) {
  const std::lock_guard lock(mutex_);
  launched_.insert(op);
  launched_.insert(packet);
}

void DeviceState::latch(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!pending_) {
    pending_ = failure;
  }
}

std::optional<Failure> DeviceState::takePending() {
  const std::lock_guard lock(mutex_);
  return std::exchange(pending_, std::nullopt);
}

void DeviceState::breakFor(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!broken_) {
    broken_ = failure;
  }
}

std::optional<Failure> DeviceState::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

bool DeviceState::givesGarbage() const {
  const std::lock_guard lock(mutex_);
  return garbage_;
}

/// The next number of a fault: of this process, or of every process that shares the counter file.
std::int64_t DeviceState::ticket(std::size_t index) {
  if (counterFile_ < 0) {
    return tickets_[index]++;
  }
  // Locks of fcntl belong to the process, so that a fork does not share them, as one of flock
  // would.
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ::fcntl(counterFile_, F_SETLKW, &lock);
  std::int64_t value = 0;
  const auto place = static_cast<off_t>(index * sizeof value);
  if (::pread(counterFile_, &value, sizeof value, place) != sizeof value) {
    value = 0;
  }
  const std::int64_t next = value + 1;
  const bool written = ::pwrite(counterFile_, &next, sizeof next, place) == sizeof next;
  lock.l_type = F_UNLCK;
  ::fcntl(counterFile_, F_SETLK, &lock);
  return written ? value : tickets_[index]++;
}

bool DeviceState::fires(const Fault& fault, std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (!fault.after.empty() && !launched_.contains(fault.after)) {
    return false;
  }
  const bool yes = decide(fault, index);
  if (yes && index < fired_.size()) {
    ++fired_[index];
  }
  return yes;
}

std::string DeviceState::takeFired() {
  const std::lock_guard lock(mutex_);
  std::string out = nlohmann::json(fired_).dump();
  fired_.assign(profile_->faults.size(), 0);
  return out;
}

bool DeviceState::decide(const Fault& fault, std::size_t index) {
  if (!fault.nth && !fault.probability) {
    return true;
  }
  const std::int64_t process = ::getpid();
  const auto decided = decided_.find(index);
  if (fault.perProcess && decided != decided_.end() && decided->second.first == process) {
    return decided->second.second;
  }
  const std::int64_t number = ticket(index);
  bool yes = !fault.nth || number + 1 == *fault.nth;
  if (fault.probability) {
    // Evenly spread, not drawn: of any n consecutive tickets the share that fires is p.
    const auto at = static_cast<double>(number + profile_->seed);
    constexpr double kSlack = 1e-9;
    yes = yes && std::floor((at + 1) * *fault.probability + kSlack) >
                     std::floor(at * *fault.probability + kSlack);
  }
  decided_[index] = {process, yes};
  return yes;
}

std::vector<char> DeviceState::exchangeStale(std::size_t index, std::vector<char> bytes) {
  const std::lock_guard lock(mutex_);
  return std::exchange(stale_[index], std::move(bytes));
}

std::uint64_t DeviceState::nextRandom() {
  const std::lock_guard lock(mutex_);
  random_ += 0x9e3779b97f4a7c15U;  // splitmix64
  std::uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace neuroncheck::sim

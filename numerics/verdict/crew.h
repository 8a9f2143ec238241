// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace neuroncheck::numerics::detail {

/// Threads that do one thing together again and again, the caller among them.
class Crew {
 public:
  /// `work(member)` is what each does; it must not throw. Up to `wanted` members, fewer where the
  /// system has no more threads, at least the caller.
  Crew(std::size_t wanted, std::function<void(std::size_t member)> work);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  [[nodiscard]] std::size_t size() const { return helpers_.size() + 1; }
  /// Every member does its work once; returns when all are done.
  void together();

 private:
  void help(std::size_t member);

  std::function<void(std::size_t)> work_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::size_t turn_ = 0;
  std::size_t busy_ = 0;
  bool over_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace neuroncheck::numerics::detail

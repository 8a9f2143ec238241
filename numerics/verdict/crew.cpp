// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/crew.h"

#include <system_error>
#include <utility>

namespace neuroncheck::numerics::detail {

Crew::Crew(std::size_t wanted, std::function<void(std::size_t)> work) : work_(std::move(work)) {
  try {
    while (size() < wanted) {
      helpers_.emplace_back(&Crew::help, this, size());
    }
  } catch (const std::system_error&) {
    // A machine without another thread: those there are do the work.
    return;
  }
}

Crew::~Crew() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  start_.notify_all();
  for (std::thread& helper : helpers_) {
    helper.join();
  }
}

void Crew::together() {
  {
    const std::scoped_lock lock(mutex_);
    ++turn_;
    busy_ = helpers_.size();
  }
  start_.notify_all();
  work_(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::help(std::size_t member) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return over_ || turn_ != seen; });
      if (over_) {
        return;
      }
      seen = turn_;
    }
    work_(member);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) {
      done_.notify_one();
    }
  }
}

}  // namespace neuroncheck::numerics::detail

// SPDX-License-Identifier: Apache-2.0
#include "worker/child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "worker/frame.h"

namespace neuroncheck::worker {
namespace {

Result<Child> shell(const std::string& script) { return Child::start({"/bin/sh", "-c", script}); }

TEST(Child, EchoesThroughItsPipes) {
  auto child = Child::start({"/bin/cat"});
  ASSERT_TRUE(child);
  ASSERT_TRUE(writeFrame(child->input(), "hello"));
  const auto got = readFrame(child->output(), Clock::now() + std::chrono::seconds(10));
  ASSERT_TRUE(got && *got);
  EXPECT_EQ(**got, "hello");
  EXPECT_EQ(child->finish(), "signal 9 (Killed)");
  EXPECT_EQ(child->finish(), "ended before");
}

TEST(Child, SaysHowItEndedAndWhatItPrinted) {
  auto child = shell("echo trouble >&2; exit 7");
  ASSERT_TRUE(child);
  const auto got = readFrame(child->output(), Clock::now() + std::chrono::seconds(10));
  ASSERT_TRUE(got);
  EXPECT_FALSE(*got);
  ::usleep(100'000);  // from closing its output to its end
  EXPECT_EQ(child->finish(), "exit code 7");
  EXPECT_EQ(child->errorTail(), "trouble\n");
  EXPECT_EQ(child->errorTail(4), "ble\n");
}

TEST(Child, ASignalIsNamed) {
  auto child = shell("kill -SEGV $$");
  ASSERT_TRUE(child);
  ASSERT_TRUE(readFrame(child->output(), Clock::now() + std::chrono::seconds(10)));
  ::usleep(100'000);
  EXPECT_EQ(child->finish(), "signal 11 (Segmentation fault)");
}

TEST(Child, WhatItStartedEndsWithIt) {
  auto child = shell("sleep 1000 & echo $! >&2; wait");
  ASSERT_TRUE(child);
  std::string text;
  for (int i = 0; i < 100 && text.empty(); ++i) {
    ::usleep(20'000);
    text = child->errorTail();
  }
  const auto grandchild = static_cast<pid_t>(std::stol(text));
  EXPECT_EQ(::kill(grandchild, 0), 0);
  (void)child->finish();
  // Init (or a subreaper) collects it; a zombie would still answer, so look for its end in /proc.
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    ::usleep(10'000);
    const std::string state = "/proc/" + std::to_string(grandchild) + "/cmdline";
    FILE* file = std::fopen(state.c_str(), "r");
    gone = file == nullptr || std::fgetc(file) == EOF;
    if (file != nullptr) {
      std::fclose(file);
    }
  }
  EXPECT_TRUE(gone);
}

TEST(Child, AProgramThatIsNotThereIsNamed) {
  const auto child = Child::start({"/nonexistent/program"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::Unavailable);
  EXPECT_NE(child.error().text().find("/nonexistent/program"), std::string::npos);
}

}  // namespace
}  // namespace neuroncheck::worker

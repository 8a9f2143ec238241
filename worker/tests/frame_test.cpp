// SPDX-License-Identifier: Apache-2.0
#include "worker/frame.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace neuroncheck::worker {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    closeWriter();
    ::close(ends_[0]);
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void write(std::string_view bytes) const {
    EXPECT_EQ(::write(writer(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void closeWriter() {
    if (ends_[1] >= 0) {
      ::close(ends_[1]);
      ends_[1] = -1;
    }
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(Frame, MessagesOfEverySizeComeBackInOrder) {
  const Pipe pipe;
  const std::array<std::string, 4> sent{"", "{}", std::string(70'000, 'x'),
                                        std::string(3 << 20, 'y')};
  std::thread writer([&]() {
    for (const std::string& message : sent) {
      EXPECT_TRUE(writeFrame(pipe.writer(), message));
    }
  });
  for (const std::string& message : sent) {
    const auto got = readFrame(pipe.reader());
    ASSERT_TRUE(got && *got);
    EXPECT_EQ(**got, message);
  }
  writer.join();
}

TEST(Frame, AClosedStreamIsTheEndAndNoError) {
  Pipe pipe;
  pipe.closeWriter();
  const auto got = readFrame(pipe.reader());
  ASSERT_TRUE(got);
  EXPECT_FALSE(*got);
}

TEST(Frame, AStreamThatEndsWithinAMessageIsAnError) {
  for (const std::string_view part :
       {std::string_view("\x05", 1), std::string_view("\x05\0\0\0", 4),
        std::string_view("\x05\0\0\0abcd", 8)}) {
    Pipe pipe;
    pipe.write(part);
    pipe.closeWriter();
    const auto got = readFrame(pipe.reader());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::Unavailable);
  }
}

TEST(Frame, AClaimBeyondTheBoundIsRefusedBeforeItIsRead) {
  const Pipe pipe;
  pipe.write(std::string_view("\xff\xff\xff\x7f", 4));
  const auto got = readFrame(pipe.reader(), Clock::now() + std::chrono::seconds(5), 1000);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text().find("2147483647"), std::string::npos) << got.error().text();
}

TEST(Frame, ALateAnswerIsAnError) {
  const Pipe pipe;
  pipe.write(std::string_view("\x05\0\0\0ab", 6));
  const auto got = readFrame(pipe.reader(), Clock::now() + std::chrono::milliseconds(50));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text().find("no answer in time"), std::string::npos);
}

TEST(Frame, WritingToNobodyIsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  const auto done = writeFrame(ends[1], "{}");
  ::close(ends[1]);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace neuroncheck::worker

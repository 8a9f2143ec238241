// SPDX-License-Identifier: Apache-2.0
#include "worker/torch_worker.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace neuroncheck::worker {
namespace {

namespace fs = std::filesystem;

/// Programs that play a worker: shell scripts that print prepared messages.
class FakeWorker : public ::testing::Test {
 protected:
  FakeWorker() {
    std::string pattern = (fs::temp_directory_path() / "worker_test_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FakeWorker() override { fs::remove_all(folder_); }

  std::string message(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    std::ofstream out(path, std::ios::binary);
    const std::size_t size = text.size();
    for (int i = 0; i < 4; ++i) {
      out.put(static_cast<char>((size >> (8 * i)) & 0xFF));
    }
    out << text;
    return path.string();
  }

  std::string program(const std::string& script) const {
    const fs::path path = folder_ / "fake";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    return path.string();
  }

  std::string hello() const { return message("hello", R"({"protocol":1,"torch":"2.13.0"})"); }

 private:
  fs::path folder_;
};

constexpr std::chrono::milliseconds kSoon{10'000};

TEST_F(FakeWorker, AnswersComeBack) {
  const std::string script =
      fmt::format("cat {} {}; cat >/dev/null", hello(), message("answer", R"({"x":3})"));
  auto worker = TorchWorker::start(program(script));
  ASSERT_TRUE(worker) << worker.error().text();
  EXPECT_EQ(worker->handshake().at("torch"), "2.13.0");
  const auto answer = worker->ask({{"do", "something"}}, kSoon);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->at("x"), 3);
}

TEST_F(FakeWorker, WhatIsMissingInTheHandshakeIsTheError) {
  const std::string hello =
      message("hello", R"({"protocol":1,"unavailable":"torch.neuron sees no device"})");
  const auto worker = TorchWorker::start({program("cat \"$1\"; cat >/dev/null"), hello});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(worker.error().message, "torch.neuron sees no device");
}

TEST(PythonWorker, AnInterpreterThatIsNowhereIsNamed) {
  for (const std::string name : {"no-such-python", "/nowhere/python3", "/"}) {
    const auto command = pythonWorkerCommand(name, "torch_neuronx");
    ASSERT_FALSE(command);
    EXPECT_EQ(command.error().message, "--python " + name + ": there is no such program");
  }
}

TEST_F(FakeWorker, AnErrorAnswerIsAnInputError) {
  const std::string script =
      fmt::format("cat {} {}; cat >/dev/null", hello(), message("answer", R"({"error":"no"})"));
  auto worker = TorchWorker::start(program(script));
  ASSERT_TRUE(worker);
  const auto answer = worker->ask({{"do", "something"}}, kSoon);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::Input);
  EXPECT_EQ(answer.error().message, "no");
}

TEST_F(FakeWorker, ACrashIsToldAndTheNextQuestionStartsItAnew) {
  auto worker = TorchWorker::start(program(fmt::format("cat {}; echo why >&2; exit 3", hello())));
  ASSERT_TRUE(worker);
  for (int i = 0; i < 2; ++i) {
    const auto answer = worker->ask({{"do", "something"}}, kSoon);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
    EXPECT_NE(answer.error().text().find("why"), std::string::npos) << answer.error().text();
  }
}

TEST_F(FakeWorker, SilenceIsBounded) {
  auto worker = TorchWorker::start(program(fmt::format("cat {}; exec sleep 1000", hello())));
  ASSERT_TRUE(worker);
  const auto answer = worker->ask({{"do", "something"}}, std::chrono::milliseconds(100));
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text().find("no answer in time"), std::string::npos);
}

TEST_F(FakeWorker, AnotherProtocolIsRefused) {
  const auto worker =
      TorchWorker::start(program(fmt::format("cat {}", message("hello", R"({"protocol":99})"))));
  ASSERT_FALSE(worker);
  EXPECT_NE(worker.error().text().find("99"), std::string::npos);
}

TEST_F(FakeWorker, NoJsonIsRefused) {
  const auto worker = TorchWorker::start(program(fmt::format("cat {}", message("hello", "[]x"))));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ErrorCode::Unavailable);
}

TEST_F(FakeWorker, TheEnvironmentNamesTheProgram) {
  const std::string path = program("exit 0");
  ::setenv("NEURON_CHECK_TORCH", path.c_str(), 1);
  EXPECT_EQ(findTorchProgram().value_or(""), path);
  ::setenv("NEURON_CHECK_TORCH", "/nonexistent/program", 1);
  EXPECT_FALSE(findTorchProgram());
  ::unsetenv("NEURON_CHECK_TORCH");
}

}  // namespace
}  // namespace neuroncheck::worker

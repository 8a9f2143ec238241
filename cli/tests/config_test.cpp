// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include <gmock/gmock.h>

namespace neuroncheck::cli {
namespace {

using ::testing::HasSubstr;

class Config : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() /
                       (std::string("neuron-check-") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml"))
                          .string();
};

TEST_F(Config, FillsWhatTheCommandLineLeftOpen) {
  // On the heap: g++ 12 takes the optional text for uninitialised otherwise.
  const auto owned = std::make_unique<Options>();
  Options& options = *owned;
  options.chip = "trn3";
  ASSERT_TRUE(applyConfig(
      write("chip = 'trn2'\nmode = 'compile'\nfail-on = ['blocked', 'unknown']\n"), options));
  EXPECT_EQ(options.chip, "trn3");
  EXPECT_EQ(options.mode, "compile");
  EXPECT_EQ(options.failOn, "blocked,unknown");
}

TEST_F(Config, ARelativeDatabaseIsRelativeToTheFile) {
  Options options;
  const std::string path = write("db = 'ops.db'\n");
  ASSERT_TRUE(applyConfig(path, options));
  EXPECT_EQ(options.database, (std::filesystem::path(path).parent_path() / "ops.db").string());
}

TEST_F(Config, NamesLineAndKeyOfWhatItRefuses) {
  Options options;
  const auto unknown = applyConfig(write("\nchips = 'trn2'\n"), options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::Usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("line 2: unknown key 'chips'"));
  EXPECT_FALSE(applyConfig(write("chip = 3\n"), options));
  EXPECT_FALSE(applyConfig(write("chip = \n"), options));
  EXPECT_FALSE(applyConfig(write("fail-on = [1]\n"), options));
}

TEST_F(Config, AMissingFileChangesNothing) {
  Options options;
  EXPECT_TRUE(applyConfig("no-such-folder/neuron-check.toml", options));
  EXPECT_FALSE(options.chip);
}

}  // namespace
}  // namespace neuroncheck::cli

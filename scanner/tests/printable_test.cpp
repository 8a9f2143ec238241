// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/printable.h"

#include <string>

#include <gtest/gtest.h>

namespace neuroncheck::scanner {
namespace {

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("models/größe.json"), "models/größe.json");
  EXPECT_EQ(printable("a\x1b[31m\n"), "a\\x1b[31m\\x0a");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable(std::string(300, 'a'), 10), "aaaaaaaaaa...");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, KnowsUtf8) {
  EXPECT_EQ(utf8Length("a"), 1U);
  EXPECT_EQ(utf8Length("ß"), 2U);
  EXPECT_EQ(utf8Length("€"), 3U);
  EXPECT_EQ(utf8Length("😀"), 4U);
  for (const std::string_view bad : {"", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                     "\xf4\x90\x80\x80", "\xc3", "\xf8"}) {
    EXPECT_EQ(utf8Length(bad), 0U) << printable(bad);
  }
}

}  // namespace
}  // namespace neuroncheck::scanner

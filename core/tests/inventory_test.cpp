// SPDX-License-Identifier: Apache-2.0
#include "core/inventory.h"

#include <set>

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

TEST(Inventory, WordsReadBack) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(FileKind::Damaged); ++i) {
    const auto kind = static_cast<FileKind>(i);
    EXPECT_TRUE(words.insert(name(kind)).second);
    EXPECT_EQ(parseFileKind(name(kind)), kind);
  }
  for (int i = 0; i <= static_cast<int>(OpGroup::NoDeviceWork); ++i) {
    const auto group = static_cast<OpGroup>(i);
    EXPECT_EQ(parseOpGroup(name(group)), group);
  }
  EXPECT_EQ(parseFileKind("zip"), std::nullopt);
  EXPECT_EQ(parseOpGroup("View"), std::nullopt);
  EXPECT_EQ(name(FileKind::AotInductorPackage), "aotinductor_package");
  EXPECT_EQ(name(OpGroup::ViewOrCopy), "view_or_copy");
}

TEST(Inventory, DeviceWorkIsFiveGroups) {
  std::set<std::string_view> work;
  for (int i = 0; i <= static_cast<int>(OpGroup::NoDeviceWork); ++i) {
    const auto group = static_cast<OpGroup>(i);
    if (isDeviceWork(group)) {
      work.insert(name(group));
    }
  }
  EXPECT_EQ(work,
            (std::set<std::string_view>{"collective", "compute", "copy", "factory", "random"}));
}

TEST(Inventory, FindsArgumentsByName) {
  OpUse use;
  use.args.push_back({"self", NoneValue{}, false});
  use.args.push_back({"alpha", SymIntValue{SymInt(2), ""}, true});
  ASSERT_NE(use.arg("alpha"), nullptr);
  EXPECT_TRUE(use.arg("alpha")->isDefault);
  EXPECT_EQ(use.arg("beta"), nullptr);
}

TEST(SourcePlace, Prints) {
  EXPECT_EQ((SourcePlace{"model.py", 12}).str(), "model.py:12");
  EXPECT_EQ(SourcePlace{}.str(), "");
}

}  // namespace
}  // namespace neuroncheck

// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/groups.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "scanner/tests/small_catalogue.h"

namespace neuroncheck::scanner::pt2 {
namespace {

TensorPtr tensor(DType dtype = DType::Float32, const std::string& device = "cpu") {
  TensorValue value;
  value.spec.dtype = dtype;
  value.spec.sizes = {2};
  value.spec.device.type = device;
  return std::make_shared<const TensorValue>(std::move(value));
}

/// A use of `name` over one tensor `self` that returns one.
OpUse use(const std::string& name, TensorPtr self = tensor(), TensorPtr out = tensor()) {
  OpUse result;
  result.op = *OpName::parse(name);
  if (self != nullptr) {
    result.args.push_back({.name = "self", .value = std::move(self), .isDefault = false});
  }
  result.outputs.emplace_back(std::move(out));
  return result;
}

OpGroup group(const OpUse& item) {
  static const testing::SmallCatalogue kCatalogue;
  return groupOf(item, kCatalogue.find(item.op));
}

void addFlag(OpUse& item, const std::string& name, bool value) {
  item.args.push_back(
      {.name = name, .value = SymBool{.value = value, .expr = {}, .name = {}}, .isDefault = false});
}

TEST(Groups, FollowTheCatalogue) {
  EXPECT_EQ(group(use("aten::relu")), OpGroup::Compute);
  EXPECT_EQ(group(use("aten::view")), OpGroup::View);
  EXPECT_EQ(group(use("aten::view_as_real")), OpGroup::View);
  EXPECT_EQ(group(use("aten::reshape")), OpGroup::ViewOrCopy);
  EXPECT_EQ(group(use("aten::clone")), OpGroup::Copy);
  EXPECT_EQ(group(use("aten::rand", nullptr)), OpGroup::Random);
  EXPECT_EQ(group(use("aten::zeros", nullptr)), OpGroup::Factory);
  EXPECT_EQ(group(use("aten::zeros_like")), OpGroup::Factory);
  EXPECT_EQ(group(use("aten::item")), OpGroup::Compute);
}

TEST(Groups, FollowNames) {
  EXPECT_EQ(group(use("_c10d_functional::all_reduce")), OpGroup::Collective);
  EXPECT_EQ(group(use("_c10d_functional::wait_tensor")), OpGroup::Collective);
  EXPECT_EQ(group(use("aten::_assert_scalar", nullptr)), OpGroup::Guard);
  EXPECT_EQ(group(use("aten::_assert_tensor_metadata")), OpGroup::Guard);
  EXPECT_EQ(group(use("aten::sym_size.int")), OpGroup::Symbolic);
  EXPECT_EQ(group(use("prim::device")), OpGroup::Symbolic);
  EXPECT_EQ(group(use("profiler::_record_function_enter_new", nullptr)), OpGroup::NoDeviceWork);
}

TEST(Groups, DropoutIsNoWorkOnlyInEval) {
  OpUse eval = use("aten::dropout");
  addFlag(eval, "train", false);
  EXPECT_EQ(group(eval), OpGroup::NoDeviceWork);
  OpUse train = use("aten::dropout");
  addFlag(train, "train", true);
  EXPECT_EQ(group(train), OpGroup::Random);
  EXPECT_EQ(group(use("aten::dropout")), OpGroup::Random);
  OpUse native = use("aten::native_dropout");
  addFlag(native, "train", false);
  EXPECT_NE(group(native), OpGroup::NoDeviceWork);
}

TEST(Groups, ToCopiesWhenDtypeOrDeviceChange) {
  EXPECT_EQ(group(use("aten::to.dtype")), OpGroup::ViewOrCopy);
  EXPECT_EQ(group(use("aten::to.dtype", tensor(), tensor(DType::BFloat16))), OpGroup::Copy);
  EXPECT_EQ(group(use("aten::to.dtype", tensor(), tensor(DType::Float32, "cuda"))), OpGroup::Copy);
  OpUse forced = use("aten::to.dtype");
  addFlag(forced, "copy", true);
  EXPECT_EQ(group(forced), OpGroup::Copy);
}

TEST(Groups, KnowViewsTheCatalogueLacks) {
  EXPECT_EQ(groupOf(use("aten::permute"), nullptr), OpGroup::View);
  EXPECT_EQ(groupOf(use("aten::flatten.using_ints"), nullptr), OpGroup::ViewOrCopy);
  EXPECT_EQ(groupOf(use("lib::permute"), nullptr), OpGroup::Compute);
  EXPECT_EQ(groupOf(use("lib::make", nullptr), nullptr), OpGroup::Factory);
}

}  // namespace
}  // namespace neuroncheck::scanner::pt2

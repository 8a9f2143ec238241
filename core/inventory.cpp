// SPDX-License-Identifier: Apache-2.0
#include "core/inventory.h"

#include <algorithm>

#include "core/enum_table.h"

namespace neuroncheck {
namespace {

constexpr EnumWords<16> kFileKinds{"exported_program",
                                   "torchscript",
                                   "torch_save",
                                   "pickled_module",
                                   "safetensors",
                                   "torch_package",
                                   "aotinductor_package",
                                   "mobile_flatbuffer",
                                   "executorch",
                                   "onnx",
                                   "pickle",
                                   "hf_folder",
                                   "text",
                                   "empty",
                                   "unknown",
                                   "damaged"};
constexpr EnumWords<11> kOpGroups{"compute",    "view",   "view_or_copy",  "factory",
                                  "copy",       "guard",  "symbolic",      "constant",
                                  "collective", "random", "no_device_work"};
constexpr EnumWords<3> kShapeOrigins{"recorded", "unknown", "propagated"};
static_assert(static_cast<std::size_t>(ShapeOrigin::Propagated) + 1 == kShapeOrigins.size());
static_assert(static_cast<std::size_t>(FileKind::Damaged) + 1 == kFileKinds.size());
static_assert(static_cast<std::size_t>(OpGroup::NoDeviceWork) + 1 == kOpGroups.size());

}  // namespace

std::string_view name(FileKind kind) { return enumWord(kFileKinds, kind); }

std::optional<FileKind> parseFileKind(std::string_view text) {
  return enumOf<FileKind>(kFileKinds, text);
}

std::string_view name(OpGroup group) { return enumWord(kOpGroups, group); }

std::optional<OpGroup> parseOpGroup(std::string_view text) {
  return enumOf<OpGroup>(kOpGroups, text);
}

std::string_view name(ShapeOrigin origin) { return enumWord(kShapeOrigins, origin); }

std::optional<ShapeOrigin> parseShapeOrigin(std::string_view text) {
  return enumOf<ShapeOrigin>(kShapeOrigins, text);
}

bool isDeviceWork(OpGroup group) {
  switch (group) {
    case OpGroup::Compute:
    case OpGroup::Factory:
    case OpGroup::Copy:
    case OpGroup::Collective:
    case OpGroup::Random:
      return true;
    case OpGroup::View:
    case OpGroup::ViewOrCopy:
    case OpGroup::Guard:
    case OpGroup::Symbolic:
    case OpGroup::Constant:
    case OpGroup::NoDeviceWork:
      break;
  }
  return false;
}

const Argument* OpUse::arg(std::string_view argumentName) const {
  const auto found = std::find_if(args.begin(), args.end(), [argumentName](const Argument& a) {
    return a.name == argumentName;
  });
  return found == args.end() ? nullptr : &*found;
}

}  // namespace neuroncheck

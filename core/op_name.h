// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace neuroncheck {

/// A dispatcher operator name: namespace, base name and overload. The default overload is the empty
/// string, printed without a dot: "aten::relu", "aten::add.Tensor".
struct OpName {
  std::string ns;
  std::string base;
  std::string overload;

  auto operator<=>(const OpName&) const = default;

  /// "ns::base.overload", or "ns::base" for the default overload.
  [[nodiscard]] std::string str() const;
  /// "ns::base": all overloads of one name, which torch calls a packet.
  [[nodiscard]] std::string packet() const;

  /// Reads "aten::add.Tensor". nullopt when there is no "::", or a part is empty;
  /// "aten::relu.default" is the default overload.
  [[nodiscard]] static std::optional<OpName> parse(std::string_view text);
  /// Reads the form of exported programs, "torch.ops.aten.add.Tensor" (overload "default" is the
  /// empty one). nullopt for any other text, and for "torch.ops.higher_order.*", which is no
  /// dispatcher operator.
  [[nodiscard]] static std::optional<OpName> fromExportTarget(std::string_view target);
};

}  // namespace neuroncheck

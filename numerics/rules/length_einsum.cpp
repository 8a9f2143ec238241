// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "core/text_cursor.h"
#include "numerics/rules/length.h"

namespace neuroncheck::numerics {

namespace {

struct Subscripts {
  std::string before;  ///< labels before "...", all of them where there is none
  std::string after;
  bool ellipsis = false;
};

Result<Subscripts> readSubscripts(std::string_view text) {
  Subscripts out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("...") && !out.ellipsis) {
      out.ellipsis = true;
      i += 2;
    } else if (TextCursor::isNameStart(text[i]) && text[i] != '_') {
      (out.ellipsis ? out.after : out.before) += text[i];
    } else {
      return inputError("einsum: '" + std::string(text) + "' is not a list of labels");
    }
  }
  return out;
}

using LabelSizes = std::map<char, std::int64_t>;

Result<void> addLabels(const Subscripts& subscripts, const TensorSizes& tensor, LabelSizes& sizes,
                       std::map<char, int>& uses) {
  const std::size_t named = subscripts.before.size() + subscripts.after.size();
  const std::size_t rank = tensor.sizes.size();
  if (rank < named || (rank > named && !subscripts.ellipsis)) {
    return inputError("einsum: " + std::to_string(named) + " labels for " + std::to_string(rank) +
                      " dimensions");
  }
  const auto add = [&](char label, std::int64_t size) {
    std::int64_t& known = sizes.try_emplace(label, 1).first->second;
    known = size == 1 ? known : size;
    ++uses[label];
  };
  for (std::size_t i = 0; i < subscripts.before.size(); ++i) {
    add(subscripts.before[i], tensor.sizes[i]);
  }
  for (std::size_t i = 0; i < subscripts.after.size(); ++i) {
    add(subscripts.after[i], tensor.sizes[rank - subscripts.after.size() + i]);
  }
  return {};
}

}  // namespace

Result<std::int64_t> contractedSize(std::string_view equation,
                                    const std::vector<TensorSizes>& tensors) {
  std::string text(equation);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  std::string_view inputs = std::string_view(text).substr(0, arrow);
  LabelSizes sizes;
  std::map<char, int> uses;
  for (const TensorSizes& tensor : tensors) {
    const std::size_t comma = std::min(inputs.find(','), inputs.size());
    NEURONCHECK_TRY(const Subscripts subscripts, readSubscripts(inputs.substr(0, comma)));
    NEURONCHECK_TRY_VOID(addLabels(subscripts, tensor, sizes, uses));
    inputs = inputs.substr(std::min(comma + 1, inputs.size()));
  }
  if (!inputs.empty()) {
    return inputError("einsum: more subscripts than tensors");
  }
  std::string kept;
  if (arrow != std::string::npos) {
    NEURONCHECK_TRY(const Subscripts output,
                    readSubscripts(std::string_view(text).substr(arrow + 2)));
    kept = output.before + output.after;
  } else {
    for (const auto& [label, count] : uses) {
      if (count == 1) {
        kept += label;
      }
    }
  }
  std::int64_t product = 1;
  for (const auto& [label, size] : sizes) {
    if (kept.find(label) == std::string::npos && __builtin_mul_overflow(product, size, &product)) {
      return inputError("einsum: more than 2^63 - 1 terms");
    }
  }
  return product;
}

}  // namespace neuroncheck::numerics

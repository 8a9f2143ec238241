// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/operand_tensors.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/case_parser.h"
#include "torch_host/torchscript/vocabulary.h"

namespace neuroncheck::casework {

OperandTensors::OperandTensors(const CaseStep& step, const Arena& arena,
                               std::vector<std::uint64_t> offsets, c10::Device device,
                               Conversion conversion)
    : layout_(layoutOf(step)),
      arena_(&arena),
      offsets_(std::move(offsets)),
      device_(device),
      conversion_(std::move(conversion)) {}

Result<at::Tensor> OperandTensors::hostBase(std::size_t root) const {
  const DType dtype = layout_.operands[root]->dtype;
  const auto type = torchscript::scalarTypeOf(dtype);
  if (!type || c10::isQIntType(*type)) {
    return inputError(fmt::format("tensors of {} cannot be made", name(dtype)));
  }
  if (root >= offsets_.size()) {
    return inputError("an operand has no memory");
  }
  NEURONCHECK_TRY(at::Tensor base, arena_->view(offsets_[root], layout_.bytes[root], *type));
  return base;
}

at::Tensor OperandTensors::promoted(const at::Tensor& base, std::size_t root) const {
  const std::optional<DType> widest = widestWithDimensions(layout_);
  const auto type = widest ? torchscript::scalarTypeOf(*widest) : std::nullopt;
  const bool narrower = type && base.is_floating_point() && layout_.operands[root]->sizes.empty() &&
                        static_cast<std::int64_t>(c10::elementSize(*type)) < base.element_size();
  return narrower ? base.to(*type).to(base.scalar_type()) : base;
}

Result<at::Tensor> OperandTensors::make(const CaseTensor& spec) {
  const auto index = static_cast<std::size_t>(std::ranges::find(layout_.operands, &spec) -
                                              layout_.operands.begin());
  const std::size_t root = layout_.roots[index];
  if (const auto same = made_.find(root);
      same != made_.end() && spec.alias &&
      case_detail::sameGeometry(spec, *layout_.operands[root])) {
    made_.emplace(index, same->second);
    return same->second;
  }
  auto base = bases_.find(root);
  if (base == bases_.end()) {
    NEURONCHECK_TRY(at::Tensor host, hostBase(root));
    host = conversion_ ? conversion_(promoted(host, root)) : host.clone();
    base = bases_.emplace(root, host.to(device_)).first;
  }
  at::Tensor tensor = base->second;
  if (spec.dtype != layout_.operands[root]->dtype) {
    const auto type = torchscript::scalarTypeOf(spec.dtype);
    if (!type || conversion_) {
      return inputError("operands of two dtypes share a storage");
    }
    tensor = tensor.view(*type);
  }
  {
    // No view to autograd: an operand stands for itself.
    const at::AutoDispatchBelowADInplaceOrView below;
    tensor = tensor.as_strided(spec.sizes, stridesOf(spec), spec.offset);
  }
  if (spec.grad) {
    tensor = tensor.detach().requires_grad_(true);
  }
  made_.emplace(index, tensor);
  return tensor;
}

std::int64_t OperandTensors::sharedWith(const at::Tensor& tensor) const {
  for (const auto& [root, base] : bases_) {
    if (tensor.defined() && tensor.has_storage() && tensor.storage().is_alias_of(base.storage())) {
      return static_cast<std::int64_t>(root);
    }
  }
  return -1;
}

Result<std::vector<std::size_t>> OperandTensors::changed() const {
  std::vector<std::size_t> out;
  for (const auto& [root, base] : bases_) {
    NEURONCHECK_TRY(at::Tensor before, hostBase(root));
    before = conversion_ ? conversion_(promoted(before, root)) : before;
    const at::Tensor after = base.is_cpu() ? base : base.cpu();
    if (after.nbytes() != before.nbytes() ||
        (before.nbytes() != 0 &&
         std::memcmp(after.const_data_ptr(), before.const_data_ptr(), before.nbytes()) != 0)) {
      out.push_back(root);
    }
  }
  return out;
}

at::Tensor OperandTensors::made(std::size_t operand) const {
  const auto found = made_.find(operand);
  return found == made_.end() ? at::Tensor() : found->second;
}

}  // namespace neuroncheck::casework

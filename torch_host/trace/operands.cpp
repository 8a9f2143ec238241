// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/operands.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "core/case_operands.h"
#include "core/dtype.h"
#include "torch_host/torchscript/vocabulary.h"
#include "torch_host/trace/values_of_case.h"

namespace neuroncheck::trace {
namespace {

struct Pages {
  void* data;
  std::size_t bytes;
};

void unmap(void* context) {
  const auto* pages = static_cast<Pages*>(context);
  ::munmap(pages->data, pages->bytes);
  delete pages;
}

/// Zeros that take no memory before they are written.
c10::DataPtr zeroPages(std::size_t bytes) {
  if (bytes == 0) {
    return {nullptr, c10::kCPU};
  }
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TORCH_CHECK(data != MAP_FAILED, "operands do not fit the memory bound");
  return {data, new Pages{data, bytes}, &unmap, c10::kCPU};
}

c10::Storage makeStorage(std::size_t bytes, c10::Device device) {
  c10::DataPtr data;
  c10::Allocator* allocator = c10::GetAllocator(device.type());
  if (device.is_meta()) {
    data = c10::DataPtr(nullptr, device);
  } else {
    data = device.is_cpu() ? zeroPages(bytes) : allocator->allocate(bytes);
  }
  return {c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                std::move(data), allocator, true)};
}

c10::DispatchKey keyOf(c10::Device device) {
  return device.is_cpu()    ? c10::DispatchKey::CPU
         : device.is_meta() ? c10::DispatchKey::Meta
                            : c10::DispatchKey::PrivateUse1;
}

at::Tensor tensorOver(c10::Storage storage, const CaseTensor& spec, c10::ScalarType type,
                      c10::DispatchKey key) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_storage_offset(spec.offset);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(spec.sizes, stridesOf(spec));
  return tensor;
}

/// A CPU tensor over the bytes of a tensor of any device with host memory.
at::Tensor onHost(const at::Tensor& tensor, const CaseTensor& spec) {
  if (tensor.is_cpu()) {
    return tensor;
  }
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), tensor.storage().nbytes(),
      c10::DataPtr(tensor.storage().mutable_data(), c10::kCPU), c10::GetCPUAllocator(), false));
  return tensorOver(std::move(storage), spec, tensor.scalar_type(), c10::DispatchKey::CPU);
}

void fillTensor(const at::Tensor& tensor, const CaseTensor& spec, Fill fill) {
  if (tensor.is_meta() || tensor.numel() == 0) {
    return;
  }
  if (spec.literal) {
    const at::Tensor values = at::empty(tensor.sizes(), at::TensorOptions(at::kDouble));
    std::ranges::copy(*spec.literal, values.mutable_data_ptr<double>());
    onHost(tensor, spec).copy_(values);
    return;
  }
  if (fill == Fill::Ones) {
    onHost(tensor, spec).fill_(1);
  } else if (fill == Fill::Identity && (isFloating(spec.dtype) || isComplex(spec.dtype))) {
    const at::Tensor host = onHost(tensor, spec);
    (host.dim() < 2 ? host : host.diagonal(0, -2, -1)).fill_(1);
  }
}

/// Makes the tensors of a step.
class TensorMaker {
 public:
  TensorMaker(const CaseStep& step, c10::Device device, Fill fill)
      : layout_(layoutOf(step)), device_(device), fill_(fill) {}

  Result<at::Tensor> make(const CaseTensor& spec) {
    const std::size_t index = indexOf(spec);
    const auto type = torchscript::scalarTypeOf(spec.dtype);
    if (!type || c10::isQIntType(*type)) {
      return inputError(std::string("tensors of ") + std::string(name(spec.dtype)) +
                        " cannot be made");
    }
    for (const auto& [other, tensor] : made_) {
      const CaseTensor& known = *layout_.operands[other];
      if (layout_.roots[other] == layout_.roots[index] && known.dtype == spec.dtype &&
          known.sizes == spec.sizes && stridesOf(known) == stridesOf(spec) &&
          known.offset == spec.offset) {
        return tensor;
      }
    }
    auto place = storages_.find(layout_.roots[index]);
    if (place == storages_.end()) {
      place =
          storages_
              .emplace(layout_.roots[index],
                       makeStorage(static_cast<std::size_t>(layout_.bytes[layout_.roots[index]]),
                                   device_))
              .first;
    }
    at::Tensor tensor = tensorOver(place->second, spec, *type, keyOf(device_));
    fillTensor(tensor, spec, fill_);
    made_.emplace(index, tensor);
    return tensor;
  }

 private:
  std::size_t indexOf(const CaseTensor& spec) const {
    return static_cast<std::size_t>(std::ranges::find(layout_.operands, &spec) -
                                    layout_.operands.begin());
  }

  OperandLayout layout_;
  c10::Device device_;
  Fill fill_;
  std::map<std::size_t, c10::Storage> storages_;
  std::map<std::size_t, at::Tensor> made_;
};

bool isDeviceType(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  const c10::TypePtr& base = optional ? optional->getElementType() : type;
  return base->kind() == c10::TypeKind::DeviceObjType;
}

/// A tensor among the arguments, one that an earlier step made included.
bool hasTensors(const CaseStep& step) {
  const std::function<bool(const CaseValue&)> isTensor = [&](const CaseValue& value) {
    const auto* list = std::get_if<CaseList>(&value.value);
    return std::holds_alternative<CaseTensor>(value.value) ||
           std::holds_alternative<CaseResult>(value.value) ||
           (list != nullptr && std::ranges::any_of(list->items, isTensor));
  };
  return std::ranges::any_of(
      step.args, [&](const CaseArgument& argument) { return isTensor(argument.value); });
}

/// The argument of the case for an argument of the schema, null when the case leaves it out.
const CaseValue* givenFor(const CaseStep& step, const c10::FunctionSchema& schema,
                          std::size_t index) {
  std::size_t position = 0;
  for (const CaseArgument& argument : step.args) {
    if (argument.name.empty() ? position++ == index
                              : argument.name == schema.arguments()[index].name()) {
      return &argument.value;
    }
  }
  return nullptr;
}

Result<void> everyArgumentIsKnown(const CaseStep& step, const c10::FunctionSchema& schema) {
  std::size_t positional = 0;
  for (const CaseArgument& argument : step.args) {
    positional += argument.name.empty() ? 1 : 0;
    if (!argument.name.empty() && !schema.argumentIndexWithName(argument.name)) {
      return inputError("the operator has no argument '" + argument.name + "'");
    }
  }
  return positional > schema.arguments().size()
             ? Result<void>(inputError("the operator has fewer arguments"))
             : Result<void>();
}

}  // namespace

Result<torch::jit::Stack> buildArguments(const CaseStep& step, const c10::FunctionSchema& schema,
                                         c10::Device device, const MakeTensor& makeTensor) {
  if (const auto known = everyArgumentIsKnown(step, schema); !known) {
    return tl::unexpected(known.error());
  }
  const bool anyTensor = hasTensors(step);
  torch::jit::Stack stack;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const CaseValue* given = givenFor(step, schema, i);
    if (isDeviceType(argument.real_type()) &&
        (given != nullptr || !anyTensor ||
         argument.type()->kind() != c10::TypeKind::OptionalType)) {
      stack.emplace_back(device);
      continue;
    }
    if (given == nullptr) {
      if (argument.default_value()) {
        stack.push_back(*argument.default_value());
      } else if (argument.type()->kind() == c10::TypeKind::OptionalType) {
        stack.emplace_back();
      } else {
        return inputError("the case gives no '" + argument.name() + "'");
      }
      continue;
    }
    auto value = valueFor(*given, argument, makeTensor);
    if (!value) {
      return tl::unexpected(std::move(value).error().within("argument '" + argument.name() + "'"));
    }
    stack.push_back(*std::move(value));
  }
  return stack;
}

Result<torch::jit::Stack> buildArguments(const CaseStep& step, const c10::FunctionSchema& schema,
                                         c10::Device device, Fill fill) {
  TensorMaker tensors(step, device, fill);
  return buildArguments(
      step, schema, device, [&tensors](const CaseValue& value) -> Result<at::Tensor> {
        const auto* spec = std::get_if<CaseTensor>(&value.value);
        return spec != nullptr ? tensors.make(*spec) : inputError("not a tensor of this step");
      });
}

}  // namespace neuroncheck::trace

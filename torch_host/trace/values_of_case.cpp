// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/values_of_case.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>

#include <string>

#include "torch_host/torchscript/vocabulary.h"

namespace neuroncheck::trace {
namespace {

using c10::IValue;
using c10::TypeKind;

/// Converts one value; the type is the one the schema prints, which keeps dtypes apart from ints.
class Converter {
 public:
  explicit Converter(const MakeTensor& makeTensor) : makeTensor_(makeTensor) {}

  Result<IValue> operator()(const CaseValue& value, const c10::TypePtr& type,
                            std::optional<std::int32_t> fixedLength = std::nullopt) const {
    if (const auto optional = type->cast<c10::OptionalType>()) {
      return std::holds_alternative<CaseNone>(value.value)
                 ? Result<IValue>(IValue())
                 : (*this)(value, optional->getElementType(), fixedLength);
    }
    if (const auto list = type->cast<c10::ListType>()) {
      return listOf(value, list->getElementType(), fixedLength);
    }
    if (type->kind() == TypeKind::TensorType) {
      return tensorOf(value);
    }
    return scalarOf(value, type);
  }

 private:
  Result<IValue> tensorOf(const CaseValue& value) const {
    if (std::holds_alternative<CaseNone>(value.value)) {
      return IValue(at::Tensor());
    }
    if (std::holds_alternative<CaseTensor>(value.value) ||
        std::holds_alternative<CaseResult>(value.value)) {
      NEURONCHECK_TRY(at::Tensor tensor, makeTensor_(value));
      return IValue(std::move(tensor));
    }
    if (const auto number = numberOf(value)) {
      at::Tensor tensor = c10::scalar_to_tensor(*number);
      tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
      return IValue(std::move(tensor));
    }
    return inputError("not a tensor");
  }

  static std::optional<at::Scalar> numberOf(const CaseValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
      return at::Scalar(*integer);
    }
    if (const auto* real = std::get_if<double>(&value.value)) {
      return at::Scalar(*real);
    }
    if (const auto* truth = std::get_if<bool>(&value.value)) {
      return at::Scalar(*truth);
    }
    if (const auto* complex = std::get_if<std::complex<double>>(&value.value)) {
      return at::Scalar(c10::complex<double>(complex->real(), complex->imag()));
    }
    return std::nullopt;
  }

  /// `int[2]` takes one number for all.
  Result<IValue> listOf(const CaseValue& value, const c10::TypePtr& element,
                        std::optional<std::int32_t> fixedLength) const {
    const auto* list = std::get_if<CaseList>(&value.value);
    CaseList repeated;
    if (list == nullptr && fixedLength) {
      repeated.items.assign(static_cast<std::size_t>(*fixedLength), value);
      list = &repeated;
    }
    if (list == nullptr) {
      return inputError("not a list");
    }
    const bool numbers = element->kind() == TypeKind::SymIntType;
    c10::impl::GenericList out(numbers ? c10::TypePtr(c10::IntType::get()) : element);
    for (const CaseValue& item : list->items) {
      NEURONCHECK_TRY(const IValue converted, (*this)(item, element));
      out.push_back(converted);
    }
    return IValue(std::move(out));
  }

  static Result<IValue> integerOf(const CaseValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) {
      return IValue(*integer);
    }
    if (const auto* truth = std::get_if<bool>(&value.value)) {
      return IValue(static_cast<std::int64_t>(*truth));
    }
    if (const auto* dtype = std::get_if<DType>(&value.value)) {
      if (const auto type = torchscript::scalarTypeOf(*dtype)) {
        return IValue(*type);
      }
    }
    if (const auto* layout = std::get_if<Layout>(&value.value)) {
      if (const auto known = torchscript::layoutOf(*layout)) {
        return IValue(*known);
      }
    }
    if (const auto* format = std::get_if<MemoryFormat>(&value.value)) {
      if (const auto known = torchscript::memoryFormatOf(*format)) {
        return IValue(*known);
      }
    }
    return inputError("not an integer");
  }

  Result<IValue> scalarOf(const CaseValue& value, const c10::TypePtr& type) const {
    switch (type->kind()) {
      case TypeKind::IntType:
      case TypeKind::SymIntType:
      case TypeKind::ScalarTypeType:
      case TypeKind::LayoutType:
      case TypeKind::MemoryFormatType:
        return integerOf(value);
      case TypeKind::NumberType:
        if (const auto number = numberOf(value)) {
          return IValue(*number);
        }
        break;
      case TypeKind::FloatType:
        if (const auto number = numberOf(value); number && !number->isComplex()) {
          return IValue(number->toDouble());
        }
        break;
      case TypeKind::BoolType:
        if (const auto number = numberOf(value); number && !number->isComplex()) {
          return IValue(number->toDouble() != 0);
        }
        break;
      case TypeKind::StringType:
        if (const auto* text = std::get_if<std::string>(&value.value)) {
          return IValue(*text);
        }
        break;
      default:
        break;
    }
    return inputError("cannot be made a " + type->str());
  }

  const MakeTensor& makeTensor_;
};

}  // namespace

Result<IValue> valueFor(const CaseValue& value, const c10::Argument& argument,
                        const MakeTensor& makeTensor) {
  return Converter(makeTensor)(value, argument.real_type(), argument.N());
}

}  // namespace neuroncheck::trace

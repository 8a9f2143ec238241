// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/meta_kernels.h"

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace neuroncheck::trace {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

at::TensorOptions like(const Tensor& tensor, c10::ScalarType type) {
  return tensor.options().dtype(type);
}

/// A number that torch made a CPU tensor takes part without memory too.
Tensor onMeta(const Tensor& tensor, c10::ScalarType type) {
  return tensor.is_meta() && tensor.scalar_type() == type
             ? tensor
             : at::empty(tensor.sizes(), at::TensorOptions(type).device(c10::kMeta));
}

/// Source: where_self_out in ATen/native/TensorCompare.cpp.
Tensor& whereOut(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  const c10::ScalarType type = at::result_type(self, other);
  auto iterator = at::TensorIteratorConfig()
                      .check_all_same_dtype(false)
                      .add_output(out)
                      .add_owned_const_input(onMeta(condition, condition.scalar_type()))
                      .add_owned_const_input(onMeta(self, type))
                      .add_owned_const_input(onMeta(other, type))
                      .build();
  return out;
}

Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const c10::ScalarType type = at::result_type(self, other);
  Tensor out = at::empty({0}, at::TensorOptions(type).device(c10::kMeta));
  return whereOut(condition, self, other, out);
}

Tensor relu(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != at::kBool, "Boolean inputs not supported for relu");
  return at::clamp_min(self, 0);
}

Tensor& reluInPlace(Tensor& self) { return at::clamp_min_(self, 0); }

Tensor indexSelect(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  std::vector<int64_t> sizes = self.sizes().vec();
  if (!sizes.empty()) {
    sizes[static_cast<size_t>(c10::maybe_wrap_dim(dim, self.dim()))] = index.numel();
  }
  return at::empty(sizes, self.options());
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding*/,
                 bool /*scaleGrad*/, bool /*sparse*/) {
  TORCH_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  std::vector<int64_t> sizes = indices.sizes().vec();
  sizes.push_back(weight.size(1));
  return at::empty(sizes, weight.options());
}

bool defined(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

/// The dtype of saved statistics: half-precision inputs may have float parameters.
c10::ScalarType statisticsType(const Tensor& input, const OptionalTensor& weight) {
  return defined(weight) && weight->scalar_type() != input.scalar_type() ? at::kFloat
                                                                         : input.scalar_type();
}

/// Source: layer_norm_cpu in ATen/native/layer_norm.cpp.
Three layerNorm(const Tensor& input, c10::IntArrayRef normalized, const OptionalTensor& weight,
                const OptionalTensor& /*bias*/, double /*epsilon*/) {
  TORCH_CHECK(normalized.size() <= input.sizes().size(), "normalized_shape does not fit");
  const size_t outer = input.sizes().size() - normalized.size();
  std::vector<int64_t> statistics = input.sizes().vec();
  for (size_t i = outer; i < statistics.size(); ++i) {
    TORCH_CHECK(statistics[i] == normalized[i - outer], "normalized_shape does not fit");
    statistics[i] = 1;
  }
  const at::TensorOptions options = like(input, statisticsType(input, weight));
  return {at::empty(input.sizes(), input.options()), at::empty(statistics, options),
          at::empty(statistics, options)};
}

/// Source: batch_norm_cpu in ATen/native/Normalization.cpp.
Three batchNorm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& /*bias*/,
                const OptionalTensor& /*mean*/, const OptionalTensor& /*variance*/, bool training,
                double /*momentum*/, double /*epsilon*/) {
  const int64_t saved = training ? input.size(1) : 0;
  const at::TensorOptions options = like(input, statisticsType(input, weight));
  return {at::empty_like(input, input.suggest_memory_format()), at::empty({saved}, options),
          at::empty({saved}, options)};
}

Three batchNormInPlace(const Tensor& input, const OptionalTensor& weight,
                       const OptionalTensor& bias, Tensor& mean, Tensor& variance, bool training,
                       double momentum, double epsilon) {
  return batchNorm(input, weight, bias, mean, variance, training, momentum, epsilon);
}

Three batchNormWithoutStatistics(const Tensor& input, const OptionalTensor& weight,
                                 const OptionalTensor& bias, bool training, double momentum,
                                 double epsilon) {
  return batchNorm(input, weight, bias, {}, {}, training, momentum, epsilon);
}

std::tuple<Tensor, Tensor> dropout(const Tensor& input, double /*probability*/,
                                   std::optional<bool> /*training*/) {
  return {at::empty_like(input), at::empty_like(input, like(input, at::kBool))};
}

std::tuple<Tensor, Tensor> varMean(const Tensor& input, at::OptionalIntArrayRef dims,
                                   const std::optional<at::Scalar>& /*correction*/, bool keep) {
  const Tensor mean = at::mean(input, dims, keep);
  return {at::empty_like(mean, like(mean, c10::toRealValueType(input.scalar_type()))), mean};
}

c10::MemoryFormat convolutionFormat(const Tensor& input, const Tensor& weight) {
  const auto format = input.suggest_memory_format();
  return format == c10::MemoryFormat::Contiguous ? weight.suggest_memory_format() : format;
}

/// Source: _convolution and mkldnn_conv_use_channels_last in ATen/native.
Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& /*bias*/,
                   c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                   bool transposed, c10::IntArrayRef outputPadding, int64_t groups) {
  TORCH_CHECK(input.dim() == weight.dim() && input.dim() > 2, "convolution of ", input.dim(),
              " dimensions with a weight of ", weight.dim());
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "input and weight differ in dtype");
  TORCH_CHECK(input.size(1) == weight.size(transposed ? 0 : 1) * (transposed ? 1 : groups),
              "input and weight differ in channels");
  const auto all = [&input](c10::IntArrayRef values) {
    return values.size() == 1
               ? std::vector<int64_t>(static_cast<size_t>(input.dim() - 2), values[0])
               : values.vec();
  };
  const std::vector<int64_t> sizes =
      transposed
          ? at::native::conv_input_size(input.sizes(), weight.sizes(), all(padding),
                                        all(outputPadding), all(stride), all(dilation), groups)
          : at::native::conv_output_size(input.sizes(), weight.sizes(), all(padding), all(stride),
                                         all(dilation));
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "the kernel is larger than the input");
  }
  return at::empty(sizes, input.options().memory_format(convolutionFormat(input, weight)));
}

}  // namespace

std::shared_ptr<torch::Library> registerMetaKernels() {
  auto library = std::make_shared<torch::Library>(torch::Library::IMPL, "aten",
                                                  c10::DispatchKey::Meta, __FILE__, __LINE__);
  library->impl("where.self", TORCH_FN(where));
  library->impl("where.self_out", TORCH_FN(whereOut));
  library->impl("relu", TORCH_FN(relu));
  library->impl("relu_", TORCH_FN(reluInPlace));
  library->impl("index_select", TORCH_FN(indexSelect));
  library->impl("embedding", TORCH_FN(embedding));
  library->impl("native_layer_norm", TORCH_FN(layerNorm));
  library->impl("native_batch_norm", TORCH_FN(batchNorm));
  library->impl("_native_batch_norm_legit", TORCH_FN(batchNormInPlace));
  library->impl("_native_batch_norm_legit.no_stats", TORCH_FN(batchNormWithoutStatistics));
  library->impl("native_dropout", TORCH_FN(dropout));
  library->impl("var_mean.correction", TORCH_FN(varMean));
  library->impl("convolution", TORCH_FN(convolution));
  return library;
}

}  // namespace neuroncheck::trace

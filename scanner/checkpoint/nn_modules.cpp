// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/nn_modules.h"

#include <algorithm>
#include <array>

namespace neuroncheck::scanner {
namespace {

constexpr std::size_t kMost = 3;

/// A class without its module, and what its forward calls; unused places are empty.
struct Entry {
  std::string_view name;
  std::array<std::string_view, kMost> operators;
};

constexpr auto kEntries = std::to_array<Entry>({
    {"AdaptiveAvgPool1d", {"aten::adaptive_avg_pool1d"}},
    {"AdaptiveAvgPool2d", {"aten::adaptive_avg_pool2d"}},
    {"AdaptiveAvgPool3d", {"aten::adaptive_avg_pool3d"}},
    {"AdaptiveMaxPool2d", {"aten::adaptive_max_pool2d"}},
    {"AvgPool1d", {"aten::avg_pool1d"}},
    {"AvgPool2d", {"aten::avg_pool2d"}},
    {"AvgPool3d", {"aten::avg_pool3d"}},
    {"BCELoss", {"aten::binary_cross_entropy"}},
    {"BCEWithLogitsLoss", {"aten::binary_cross_entropy_with_logits"}},
    {"BatchNorm1d", {"aten::batch_norm"}},
    {"BatchNorm2d", {"aten::batch_norm"}},
    {"BatchNorm3d", {"aten::batch_norm"}},
    {"Bilinear", {"aten::bilinear"}},
    {"Conv1d", {"aten::conv1d"}},
    {"Conv2d", {"aten::conv2d"}},
    {"Conv3d", {"aten::conv3d"}},
    {"ConvTranspose1d", {"aten::conv_transpose1d"}},
    {"ConvTranspose2d", {"aten::conv_transpose2d"}},
    {"ConvTranspose3d", {"aten::conv_transpose3d"}},
    {"CosineSimilarity", {"aten::cosine_similarity"}},
    {"CrossEntropyLoss", {"aten::cross_entropy_loss"}},
    {"Dropout", {"aten::dropout"}},
    {"Dropout1d", {"aten::feature_dropout"}},
    {"Dropout2d", {"aten::feature_dropout"}},
    {"Dropout3d", {"aten::feature_dropout"}},
    {"ELU", {"aten::elu"}},
    {"Embedding", {"aten::embedding"}},
    {"EmbeddingBag", {"aten::embedding_bag"}},
    {"Flatten", {"aten::flatten"}},
    {"Fold", {"aten::col2im"}},
    {"GELU", {"aten::gelu"}},
    {"GLU", {"aten::glu"}},
    {"GRU", {"aten::gru"}},
    {"GRUCell", {"aten::gru_cell"}},
    {"GroupNorm", {"aten::group_norm"}},
    {"Hardsigmoid", {"aten::hardsigmoid"}},
    {"Hardswish", {"aten::hardswish"}},
    {"Hardtanh", {"aten::hardtanh"}},
    {"InstanceNorm1d", {"aten::instance_norm"}},
    {"InstanceNorm2d", {"aten::instance_norm"}},
    {"InstanceNorm3d", {"aten::instance_norm"}},
    {"KLDivLoss", {"aten::kl_div"}},
    {"L1Loss", {"aten::l1_loss"}},
    {"LSTM", {"aten::lstm"}},
    {"LSTMCell", {"aten::lstm_cell"}},
    {"LayerNorm", {"aten::layer_norm"}},
    {"LeakyReLU", {"aten::leaky_relu"}},
    {"Linear", {"aten::linear"}},
    {"LogSigmoid", {"aten::log_sigmoid"}},
    {"LogSoftmax", {"aten::log_softmax"}},
    {"MSELoss", {"aten::mse_loss"}},
    {"MaxPool1d", {"aten::max_pool1d"}},
    {"MaxPool2d", {"aten::max_pool2d"}},
    {"MaxPool3d", {"aten::max_pool3d"}},
    {"Mish", {"aten::mish"}},
    {"MultiheadAttention", {"aten::linear", "aten::scaled_dot_product_attention"}},
    {"NLLLoss", {"aten::nll_loss_nd"}},
    {"NonDynamicallyQuantizableLinear", {"aten::linear"}},
    {"PReLU", {"aten::prelu"}},
    {"PixelShuffle", {"aten::pixel_shuffle"}},
    {"PixelUnshuffle", {"aten::pixel_unshuffle"}},
    {"RMSNorm", {"aten::rms_norm"}},
    {"RNN", {"aten::rnn_tanh"}},
    {"RNNCell", {"aten::rnn_tanh_cell"}},
    {"ReLU", {"aten::relu"}},
    {"ReLU6", {"aten::relu6"}},
    {"SELU", {"aten::selu"}},
    {"SiLU", {"aten::silu"}},
    {"Sigmoid", {"aten::sigmoid"}},
    {"SmoothL1Loss", {"aten::smooth_l1_loss"}},
    {"Softmax", {"aten::softmax"}},
    {"Softplus", {"aten::softplus"}},
    {"Softsign", {"aten::abs", "aten::add", "aten::div"}},
    {"SyncBatchNorm", {"aten::batch_norm"}},
    {"Tanh", {"aten::tanh"}},
    {"Unfold", {"aten::im2col"}},
    {"ZeroPad2d", {"aten::pad"}},
    // Containers and modules that compute nothing.
    {"Identity", {}},
    {"ModuleDict", {}},
    {"ModuleList", {}},
    {"ParameterDict", {}},
    {"ParameterList", {}},
    {"Sequential", {}},
});

/// Null for a class outside torch.nn, or one that is not listed.
const Entry* entryOf(std::string_view className) {
  constexpr std::string_view kModules = "torch.nn.modules.";
  if (!className.starts_with(kModules)) {
    return nullptr;
  }
  const std::string_view last = className.substr(className.rfind('.') + 1);
  const auto found = std::ranges::find(kEntries, last, &Entry::name);
  return found == kEntries.end() ? nullptr : &*found;
}

}  // namespace

std::span<const std::string_view> impliedOperators(std::string_view className) {
  const Entry* entry = entryOf(className);
  if (entry == nullptr) {
    return {};
  }
  const auto end = std::ranges::find(entry->operators, std::string_view());
  return {entry->operators.begin(), end};
}

bool isListedModule(std::string_view className) { return entryOf(className) != nullptr; }

}  // namespace neuroncheck::scanner

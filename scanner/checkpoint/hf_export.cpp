// SPDX-License-Identifier: Apache-2.0
// The names are those of transformers 4.57; what is printed was run with it (tools/compare).
#include "scanner/checkpoint/hf_export.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scanner/identify/remedies.h"

namespace neuroncheck::scanner {
namespace {

using namespace std::string_view_literals;

/// What forward() takes.
enum class Takes { Text, TextToText, Image, ImageAndText, SpeechFeatures, Waveform, Spectrogram };

struct KnownTypes {
  Takes takes;
  std::string_view modelTypes;  ///< with a blank before and behind each
};

constexpr auto kKnown = std::to_array<KnownTypes>(
    {{Takes::Text,
      " albert bert bloom camembert clip_text_model codegen cohere deberta deberta-v2 distilbert "
      "electra ernie falcon gemma gemma2 gemma3_text gpt2 gpt_bigcode gpt_neo gpt_neox gptj "
      "granite "
      "layoutlm llama longformer mamba mistral mixtral modernbert mpnet mpt nomic_bert olmo olmo2 "
      "opt "
      "phi phi3 qwen2 qwen2_moe qwen3 qwen3_moe roberta smollm3 stablelm starcoder2 xlm-roberta "
      "xlnet "},
     {Takes::TextToText,
      " bart blenderbot led longt5 m2m_100 marian mbart mt5 mvp pegasus plbart prophetnet t5 "
      "umt5 "},
     {Takes::Image,
      " beit bit clip_vision_model convnext convnextv2 cvt data2vec-vision deit detr dinov2 dpt "
      "efficientnet focalnet glpn hiera levit mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2 "
      "poolformer pvt regnet resnet rt_detr segformer siglip_vision_model swin swin2sr swinv2 "
      "table-transformer vit vit_mae vit_msn yolos "},
     {Takes::ImageAndText, " altclip chinese_clip clip siglip "},
     {Takes::SpeechFeatures, " speech_to_text whisper "},
     {Takes::Waveform,
      " data2vec-audio hubert sew sew-d unispeech unispeech-sat wav2vec2 wav2vec2-conformer "
      "wavlm "},
     {Takes::Spectrogram, " audio-spectrogram-transformer "}});

struct AutoClass {
  std::string_view ending;  ///< of the architecture's name
  std::string_view name;
};

constexpr auto kAutoClasses =
    std::to_array<AutoClass>({{"ForCausalLM", "AutoModelForCausalLM"},
                              {"LMHeadModel", "AutoModelForCausalLM"},
                              {"ForMaskedLM", "AutoModelForMaskedLM"},
                              {"ForSequenceClassification", "AutoModelForSequenceClassification"},
                              {"ForTokenClassification", "AutoModelForTokenClassification"},
                              {"ForQuestionAnswering", "AutoModelForQuestionAnswering"},
                              {"ForMultipleChoice", "AutoModelForMultipleChoice"},
                              {"ForPreTraining", "AutoModelForPreTraining"},
                              {"ForImageClassification", "AutoModelForImageClassification"},
                              {"ForObjectDetection", "AutoModelForObjectDetection"},
                              {"ForSemanticSegmentation", "AutoModelForSemanticSegmentation"},
                              {"ForDepthEstimation", "AutoModelForDepthEstimation"},
                              {"ForAudioClassification", "AutoModelForAudioClassification"},
                              {"ForCTC", "AutoModelForCTC"}});

bool isIdentifier(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, good);
}

/// A Python string literal.
std::string pythonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::optional<Takes> knownType(std::string_view modelType) {
  if (modelType.empty() || modelType.find(' ') != std::string_view::npos) {
    return std::nullopt;
  }
  const auto* found = std::ranges::find_if(kKnown, [modelType](const KnownTypes& known) {
    return known.modelTypes.find(fmt::format(" {} ", modelType)) != std::string_view::npos;
  });
  return found == kKnown.end() ? std::nullopt : std::optional(found->takes);
}

/// What a model of a type that we do not know takes, by what its configuration has.
Takes guessed(const HfConfig& config) {
  const auto has = [&config](std::string_view key) { return !config.number({key}).empty(); };
  if (has("num_mel_bins")) {
    return config.text("is_encoder_decoder") == "true" ? Takes::SpeechFeatures : Takes::Spectrogram;
  }
  if (has("num_feat_extract_layers")) {
    return Takes::Waveform;
  }
  if (!has("vocab_size") && (has("num_channels") || has("image_size"))) {
    return Takes::Image;
  }
  return config.text("is_encoder_decoder") == "true" ? Takes::TextToText : Takes::Text;
}

std::string autoClass(std::string_view architecture, Takes takes) {
  if (architecture.ends_with("ForConditionalGeneration"sv)) {
    return takes == Takes::SpeechFeatures ? "AutoModelForSpeechSeq2Seq" : "AutoModelForSeq2SeqLM";
  }
  const auto* found = std::ranges::find_if(kAutoClasses, [architecture](const AutoClass& entry) {
    return architecture.ends_with(entry.ending);
  });
  return found == kAutoClasses.end() ? "AutoModel" : std::string(found->name);
}

/// The example inputs, as members of a Python dictionary.
class Inputs {
 public:
  Inputs(const HfConfig& config, std::string_view architecture)
      : config_(config), choices_(architecture.ends_with("ForMultipleChoice"sv)) {}

  std::string of(Takes takes) {
    switch (takes) {
      case Takes::TextToText:
        text();
        ids("decoder_input_ids");
        break;
      case Takes::Image:
        image();
        break;
      case Takes::ImageAndText:
        text();
        image();
        break;
      case Takes::SpeechFeatures:
        features();
        ids("decoder_input_ids");
        break;
      case Takes::Waveform:
        zeros("input_values", {1, 16000});
        break;
      case Takes::Spectrogram:
        zeros("input_values", {1, one({"max_length"}, 1024), one({"num_mel_bins"}, 128)});
        break;
      case Takes::Text:
        text();
        break;
    }
    return fmt::format("{{{}}}", fmt::join(members_, ",\n            "));
  }

 private:
  [[nodiscard]] std::int64_t one(std::initializer_list<std::string_view> keys,
                                 std::int64_t otherwise) const {
    const auto numbers = config_.number(keys);
    return numbers.empty() || numbers.front() <= 0 ? otherwise : numbers.front();
  }

  void zeros(std::string_view name, const std::vector<std::int64_t>& sizes) {
    members_.push_back(fmt::format("\"{}\": torch.zeros({})", name, fmt::join(sizes, ", ")));
  }

  void ids(std::string_view name) {
    constexpr std::int64_t kLength = 16;
    const std::int64_t length =
        std::min(kLength, one({"max_position_embeddings", "n_positions", "max_target_positions",
                               "text_config.max_position_embeddings"},
                              kLength));
    members_.push_back(fmt::format("\"{}\": torch.ones(1, {}{}, dtype=torch.long)", name,
                                   choices_ ? "2, " : "", length));
  }

  void text() {
    ids("input_ids");
    ids("attention_mask");
  }

  void image() {
    const std::int64_t channels = one({"num_channels", "vision_config.num_channels"}, 3);
    std::vector<std::int64_t> size = config_.number({"image_size", "vision_config.image_size"});
    if (size.empty() || size.size() > 2 || std::ranges::min(size) <= 0) {
      size = {224};
    }
    zeros("pixel_values", {1, channels, size.front(), size.back()});
  }

  void features() {
    if (config_.text("model_type") == "speech_to_text") {
      zeros("input_features",
            {1, 200, one({"input_feat_per_channel"}, 80) * one({"input_channels"}, 1)});
    } else {
      zeros("input_features",
            {1, one({"num_mel_bins"}, 80), 2 * one({"max_source_positions"}, 1500)});
    }
  }

  const HfConfig& config_;
  bool choices_;
  std::vector<std::string> members_;
};

}  // namespace

std::string exportLines(const std::string& folder, const HfConfig& config) {
  const std::optional<Takes> known = knownType(config.text("model_type"));
  if (!known && config.ownCode) {
    return "Its class is code of the folder (auto_map), which transformers runs only when it is "
           "told to trust it. Read that code first. " +
           std::string(remedyFromModel());
  }
  Takes takes = known.value_or(guessed(config));
  const std::string& architecture = config.architecture;
  if (takes == Takes::TextToText &&
      (architecture.ends_with("EncoderModel") || architecture.ends_with("ForCausalLM"))) {
    takes = Takes::Text;
  }
  // An auto class finds the model by its type.
  const bool own = isIdentifier(architecture) && (known || config.text("model_type").empty());
  const bool decodes =
      takes != Takes::Image && takes != Takes::Waveform && takes != Takes::Spectrogram;
  std::string out = "Load the folder and export the model, in your own Python:\n";
  out += "  import torch, transformers\n";
  if (decodes) {
    out +=
        "  from transformers.integrations.executorch import sdpa_mask_without_vmap\n"
        "  transformers.AttentionMaskInterface.register(\"sdpa\", sdpa_mask_without_vmap)\n";
  }
  out += fmt::format("  model = transformers.{}.from_pretrained({}).eval()\n",
                     own ? architecture : autoClass(architecture, takes), pythonString(folder));
  if (decodes) {
    out += "  model.config.use_cache = False\n";
  }
  out += fmt::format("  inputs = {}\n", Inputs(config, architecture).of(takes));
  out +=
      "  program = torch.export.export(model, (), inputs, strict=False)\n"
      "  torch.export.save(program, \"model.pt2\")";
  return out;
}

}  // namespace neuroncheck::scanner

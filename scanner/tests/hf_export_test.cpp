// SPDX-License-Identifier: Apache-2.0
// The lines themselves are run by tools/compare/check_hf_export.py, which needs transformers.
#include "scanner/checkpoint/hf_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neuroncheck::scanner {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

HfConfig configOf(std::string modelType, std::string architecture) {
  HfConfig config;
  config.architecture = std::move(architecture);
  config.texts["model_type"] = std::move(modelType);
  return config;
}

TEST(ExportLines, AKnownTypeIsLoadedByItsOwnClass) {
  EXPECT_THAT(exportLines("folder", configOf("llama", "LlamaForCausalLM")),
              AllOf(HasSubstr("transformers.LlamaForCausalLM.from_pretrained(\"folder\").eval()"),
                    HasSubstr("\"input_ids\": torch.ones(1, 16, dtype=torch.long)"),
                    HasSubstr("torch.export.export(model, (), inputs, strict=False)"),
                    HasSubstr("torch.export.save(program, \"model.pt2\")"),
                    Not(HasSubstr("pixel_values"))));
}

TEST(ExportLines, AnUnknownTypeIsLoadedByTheAutoClassOfItsName) {
  const auto classOf = [](const std::string& architecture) {
    return exportLines("f", configOf("brand_new", architecture));
  };
  EXPECT_THAT(classOf("NewForCausalLM"), HasSubstr("AutoModelForCausalLM.from"));
  EXPECT_THAT(classOf("NewLMHeadModel"), HasSubstr("AutoModelForCausalLM.from"));
  EXPECT_THAT(classOf("NewForImageClassification"),
              HasSubstr("AutoModelForImageClassification.from"));
  EXPECT_THAT(classOf("NewForConditionalGeneration"), HasSubstr("AutoModelForSeq2SeqLM.from"));
  EXPECT_THAT(classOf("NewModel"), HasSubstr("AutoModel.from"));
  EXPECT_THAT(classOf(""), HasSubstr("AutoModel.from"));
}

TEST(ExportLines, CodeOfTheFolderIsNeverTrusted) {
  HfConfig config = configOf("brand_new", "NewForCausalLM");
  config.ownCode = true;
  const std::string text = exportLines("f", config);
  EXPECT_THAT(text, AllOf(HasSubstr("code of the folder"), Not(HasSubstr("from_pretrained")),
                          Not(HasSubstr("trust_remote_code"))));
  config.texts["model_type"] = "falcon";  // the library has this one itself
  EXPECT_THAT(exportLines("f", config), AllOf(HasSubstr("transformers.NewForCausalLM.from"),
                                              Not(HasSubstr("trust_remote_code"))));
}

TEST(ExportLines, InputsFollowTheConfiguration) {
  HfConfig image = configOf("vit", "ViTModel");
  EXPECT_THAT(exportLines("f", image), HasSubstr("torch.zeros(1, 3, 224, 224)"));
  image.numbers = {{"image_size", {32, 48}}, {"num_channels", {1}}};
  EXPECT_THAT(
      exportLines("f", image),
      AllOf(HasSubstr("\"pixel_values\": torch.zeros(1, 1, 32, 48)"), Not(HasSubstr("use_cache"))));
  HfConfig speech = configOf("whisper", "WhisperForConditionalGeneration");
  speech.numbers = {{"num_mel_bins", {8}}, {"max_source_positions", {50}}};
  EXPECT_THAT(exportLines("f", speech),
              AllOf(HasSubstr("\"input_features\": torch.zeros(1, 8, 100)"),
                    HasSubstr("decoder_input_ids")));
  HfConfig text = configOf("bert", "BertForMultipleChoice");
  text.numbers = {{"max_position_embeddings", {5}}};
  EXPECT_THAT(exportLines("f", text), HasSubstr("torch.ones(1, 2, 5, dtype=torch.long)"));
  HfConfig both = configOf("clip", "CLIPModel");
  both.numbers = {{"vision_config.image_size", {16}}};
  EXPECT_THAT(exportLines("f", both),
              AllOf(HasSubstr("input_ids"), HasSubstr("torch.zeros(1, 3, 16, 16)")));
  EXPECT_THAT(exportLines("f", configOf("t5", "T5ForConditionalGeneration")),
              HasSubstr("decoder_input_ids"));
  EXPECT_THAT(exportLines("f", configOf("t5", "T5EncoderModel")),
              Not(HasSubstr("decoder_input_ids")));
}

TEST(ExportLines, NamesOfTheFolderAreNoCode) {
  const std::string text =
      exportLines("a\"); import os; (\"\n", configOf("bert", "X; import os\nModel"));
  EXPECT_THAT(text, AllOf(HasSubstr(R"(from_pretrained("a\"); import os; (\"\x0a"))"),
                          HasSubstr("transformers.AutoModel.from"), Not(HasSubstr("X;"))));
  HfConfig negative = configOf("vit", "ViTModel");
  negative.numbers = {{"image_size", {-4}}, {"num_channels", {0}}};
  EXPECT_THAT(exportLines("f", negative), HasSubstr("torch.zeros(1, 3, 224, 224)"));
}

}  // namespace
}  // namespace neuroncheck::scanner

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the lines that neuron-check prints for Hugging Face folders, on small folders of random weights.

usage: check_hf_export.py [--program ./neuron-check] [NAME...]

Needs torch 2.13 and transformers 4.57 in the Python that runs it; nothing is downloaded. For each architecture a folder is made in a
scratch place, the lines are taken from the program's report and executed in a process of their own, and the program must read what
they saved as an exported program with operators. Exit code 1 when one fails, 2 when nothing was checked.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
TEXT = {**SMALL, "vocab_size": 64}
PAIR = {
    **{f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 32))},
    "d_model": 16,
    "vocab_size": 64,
}
EYE = {**SMALL, "image_size": 32, "patch_size": 8}
CONVOLVED = {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}
START = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}

# name: (model class, configuration class, arguments); "other_" are of types that the program does not know
MODELS = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", TEXT),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {**TEXT, "num_key_value_heads": 2}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 64}),
    "mamba": ("MambaForCausalLM", "MambaConfig", {"hidden_size": 16, "num_hidden_layers": 1, "vocab_size": 64, "state_size": 4}),
    "bert": ("BertForMaskedLM", "BertConfig", TEXT),
    "bert_choice": ("BertForMultipleChoice", "BertConfig", TEXT),
    "roberta": ("RobertaForSequenceClassification", "RobertaConfig", TEXT),
    "distilbert": (
        "DistilBertForTokenClassification",
        "DistilBertConfig",
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, "vocab_size": 64},
    ),
    "t5": ("T5ForConditionalGeneration", "T5Config", {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "vocab_size": 64}),
    "t5_encoder": ("T5EncoderModel", "T5Config", {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "vocab_size": 64}),
    "bart": ("BartForConditionalGeneration", "BartConfig", PAIR),
    "vit": ("ViTForImageClassification", "ViTConfig", EYE),
    "resnet": ("ResNetForImageClassification", "ResNetConfig", CONVOLVED),
    "swin": ("SwinForImageClassification", "SwinConfig", {"image_size": 32, "embed_dim": 8, "depths": [1], "num_heads": [2], "window_size": 4}),
    "segformer": (
        "SegformerForSemanticSegmentation",
        "SegformerConfig",
        {
            **{"num_encoder_blocks": 1, "depths": [1], "hidden_sizes": [8], "num_attention_heads": [1], "sr_ratios": [1]},
            **{"patch_sizes": [7], "strides": [4], "mlp_ratios": [2], "decoder_hidden_size": 8},
        },
    ),
    "whisper": (
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        {**PAIR, **START, "num_mel_bins": 8, "max_source_positions": 50, "max_target_positions": 32},
    ),
    "wav2vec2": (
        "Wav2Vec2ForCTC",
        "Wav2Vec2Config",
        {
            **{**SMALL, "conv_dim": [8, 8], "conv_stride": [5, 4], "conv_kernel": [10, 8], "num_feat_extract_layers": 2},
            **{"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "vocab_size": 16},
        },
    ),
    "spectrogram": (
        "ASTForAudioClassification",
        "ASTConfig",
        {**SMALL, "max_length": 32, "num_mel_bins": 16, "patch_size": 8, "frequency_stride": 8, "time_stride": 8},
    ),
    "clip": (
        "CLIPModel",
        "CLIPConfig",
        {"text_config": {**TEXT, "max_position_embeddings": 12}, "vision_config": EYE, "projection_dim": 8},
    ),
    "other_decoder": ("BioGptForCausalLM", "BioGptConfig", TEXT),
    "other_encoder": ("MegatronBertForMaskedLM", "MegatronBertConfig", TEXT),
    "other_image": ("IJepaForImageClassification", "IJepaConfig", EYE),
}


def make(name, folder):
    import torch
    import transformers

    model, config, arguments = MODELS[name]
    torch.manual_seed(0)
    getattr(transformers, model)(getattr(transformers, config)(**arguments)).save_pretrained(folder)


def lines_of(program, folder):
    done = subprocess.run([program, folder], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})
    start = done.stdout.find("import torch, transformers")
    end = done.stdout.find("torch.export.save")
    if done.returncode != 2 or start < 0 or end < 0:
        return None
    whole = done.stdout[done.stdout.rfind("\n", 0, start) + 1 : done.stdout.find("\n", end)]
    return textwrap.dedent(whole)


def run(name, program, scratch):
    folder = os.path.join(scratch, name)
    make(name, folder)
    code = lines_of(program, folder)
    if code is None:
        return "no lines were printed"
    if "trust_remote_code" in code:
        return "the lines trust code of the folder"
    if name.startswith("other_") != (".Auto" in code):
        return f"a class of the wrong sort:\n{code}"
    work = os.path.join(scratch, name + "_run")
    os.mkdir(work)
    done = subprocess.run([sys.executable, "-c", code], cwd=work, capture_output=True, text=True)
    if done.returncode != 0:
        return f"{code}\n{done.stderr[-1500:]}"
    read = subprocess.run([program, "inventory", os.path.join(work, "model.pt2"), "--format", "json"], capture_output=True, text=True)
    if read.returncode != 0:
        return f"what was saved cannot be read: {read.stderr}"
    (model,) = json.loads(read.stdout)["inputs"][0]["models"].values()
    return None if model["ops"] else "what was saved has no operator"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="./neuron-check")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    failed = 0
    names = options.names or list(MODELS)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            problem = run(name, program, scratch)
            failed += problem is not None
            print(f"{name}: {problem or 'ok'}", flush=True)
    print(f"{len(names) - failed} of {len(names)} exported")
    sys.exit(2 if not names else 1 if failed else 0)


if __name__ == "__main__":
    main()

// SPDX-License-Identifier: Apache-2.0
#include "opdb/rules_table.h"

#include <algorithm>
#include <array>

#include "core/result.h"

namespace neuroncheck::opdb {
namespace {

constexpr Severity kError = Severity::Error;
constexpr Severity kWarning = Severity::Warning;
constexpr Severity kNote = Severity::Note;

constexpr auto kRules = std::to_array<RuleInfo>({
    {"NC101", "Two records have the same name", kWarning,
     "Make the file again: readers differ in which of the records they take."},
    {"NC102", "A record fails its checksum", kWarning,
     "Copy or make the file again: what was read of it may be wrong."},
    {"NC103", "A compiled package lies beside the graph", kNote,
     "Compiled code is for the device it was made for; only the graph was judged."},
    {"NC104", "A payload does not fit its tensor", kWarning,
     "Make the file again: the graph can be judged, but its weights cannot be loaded."},
    {"NC105", "The export schema is newer than this program knows", kWarning,
     "Fields that this program does not know were left out. Use a newer version of it."},
    {"NC106", "The weights are not in the file", kNote,
     "Shapes come from the metadata. Add the weights before running the model."},
    {"NC109", "The file has something its reader remarks on", kNote,
     "Read the message: it names the record concerned."},
    {"NC110", "The model was made on another device", kNote,
     "Export it again on the target device, or on the CPU, and compare the two with `diff`."},
    {"NC111", "The model was exported on the CPU and holds a CPU-only path", kWarning,
     "Model code that asks for the device type takes another path on Trainium: export it again "
     "with tensors of the target device, and judge that file."},
    {"NC112", "The pickle would run commands", kError,
     "Do not load this file. Ask its author for a safetensors file, or for one that "
     "torch.load(weights_only=True) takes."},
    {"NC113", "Tensors that cannot be as described", kWarning,
     "Copy or make the file again: sizes, storages and records contradict each other."},
    {"NC114", "The pickle asks for code that is not in the file", kWarning,
     "Save the state_dict alone: it needs no code, and torch.load(weights_only=True) takes it."},
    {"NC115", "The file runs code when it is loaded", kError,
     "Do not load this file outside a sandbox; ask where it comes from."},
    {"NC116", "The sandbox was incomplete", kNote,
     "Load files of unknown origin on a machine whose kernel has seccomp and Landlock (Linux "
     "5.13)."},
    {"NC201", "Fused recurrent cell without a kernel", kError,
     "Run `run_decompositions()` on the exported program, or write the recurrence with linear "
     "layers: after it only plain operators are left.",
     "fused-rnn"},
    {"NC202", "Operators that are computed on the CPU", kWarning,
     "Replace these operators, or keep the part of the model that needs them on the CPU on "
     "purpose; each call copies its operands to the host and back.",
     "boxed-fallback"},
    {"NC203", "A view that is computed as a copy", kError,
     "Avoid the view (work on real and imaginary parts), or never write through its result: what "
     "is written is lost."},
    {"NC204", "Custom operator without evidence", kWarning,
     "Register a kernel for the PrivateUse1 key, or give the operator a Python implementation "
     "made of aten operators (CompositeImplicitAutograd) and export with it expanded."},
    {"NC205", "Operator that the catalogue does not know", kWarning,
     "The file may come from a newer or older torch. Use an operator database made from that "
     "version."},
    {"NC206", "Triton kernel in the graph", kError,
     "Export with the plain PyTorch path of this layer, or write the kernel in NKI: the file does "
     "not hold the kernel's source, and the device has no Triton."},
    {"NC207", "Higher-order operator that the graph importer refuses", kError,
     "Export without it: move the branch or loop out of the compiled part, or compute both "
     "branches and select with torch.where."},
    {"NC208", "Control flow that the host decides", kWarning,
     "Each decision waits for the device. Compute both branches and select with torch.where, or "
     "make the trip count a Python number."},
    {"NC209", "Higher-order operator without evidence", kWarning,
     "Nothing is known of how the backend treats it: try it on the device, or export without it."},
    {"NC210", "A part of the graph is compiled for another backend", kError,
     "Export the model again without delegating to that backend."},
    {"NC211", "Native operators with a caveat", kNote,
     "Run the conformance cases of these operators on the device before trusting their numbers."},
    {"NC251",
     "Compiler: no lowering for triangular solves",
     kError,
     "Compute this part on the CPU, or replace the solve by an iterative method.",
     {},
     "NCC_EVRF001"},
    {"NC252",
     "Compiler: transposed convolution with stride and dilation",
     kError,
     "Use stride or dilation, not both.",
     {},
     "NCC_EVRF010"},
    {"NC253",
     "Compiler: top-k or sort of integers",
     kError,
     "Convert the values to float32 first where they are below 2^24.",
     {},
     "NCC_EVRF013"},
    {"NC254",
     "Compiler: scatter with a reduction on integers",
     kError,
     "Accumulate in float32, or use one-hot and matmul.",
     {},
     "NCC_EVRF016"},
    {"NC255",
     "Compiler: pooling with dilation",
     kError,
     "Pool without dilation, or gather the windows with unfold.",
     {},
     "NCC_EVRF018"},
    {"NC256",
     "Compiler: right shift of a type that has not 32 bits",
     kError,
     "Convert to int32 first.",
     {},
     "NCC_EVRF022"},
    {"NC257",
     "Compiler: sort and top-k",
     kWarning,
     "Users saw sort refused: try it on the device. If it is refused, use max, min or argmax where "
     "they are enough, or compute this part on the CPU on purpose.",
     {},
     "NCC_EVRF029"},
    {"NC258",
     "Compiler: integer scatter with compute is lossy",
     kWarning,
     "Keep values below 2^24, or accept it with --implicit-integer-downcast=scatter.",
     {},
     "NCC_EVRF060"},
    {"NC259",
     "Compiler: all-reduce of integers is lossy",
     kWarning,
     "Keep values below 2^24, or accept it with --implicit-integer-downcast=all_reduce.",
     {},
     "NCC_EVRF061"},
    {"NC260",
     "Compiler: integer power is lossy",
     kWarning,
     "Keep results below 2^31, or accept it with --implicit-integer-downcast=pow.",
     {},
     "NCC_EVRF062"},
    {"NC261",
     "Compiler: reduce-scatter of integers is lossy",
     kWarning,
     "Keep values below 2^24, or accept it with --implicit-integer-downcast=reduce_scatter.",
     {},
     "NCC_EVRF063"},
    {"NC299", "Compiler: other refusals", kError,
     "Look the vendor's code up in the compiler's documentation."},
    {"NC301", "Dynamic shapes are refused by the compiler", kError,
     "Export with fixed sizes, one file for each size that is needed (a few buckets), and pad the "
     "inputs.",
     "dynamic-shapes", "NCC_EMOD025"},
    {"NC302", "Each new size is compiled again", kWarning,
     "Fix the size, or pad to a few buckets before the model is called.", "dynamic-shapes-eager"},
    {"NC303", "Result size depends on data", kWarning,
     "Use a form with a fixed size (nonzero_static, torch.where with a mask, topk), so that "
     "nothing waits for the host."},
    {"NC304", "Boolean index", kWarning,
     "Write with torch.where or masked_fill; read with a mask and a reduction."},
    {"NC305", "The host reads a value of the device", kWarning,
     "Keep the value in a tensor, or compute it on the host before the model is called."},
    {"NC401", "int64 is computed as int32", kWarning,
     "Convert indices and counters to int32 where values are small; check that none exceeds 2^31.",
     "int64"},
    {"NC402", "Integer constant beyond 2^31", kError,
     "Keep the constant below 2^31, use two int32 halves, or compute this part on the CPU."},
    {"NC403", "Integer values may exceed 2^31", kWarning,
     "Bound the size (Dim(max=...)), or convert before the values grow."},
    {"NC404", "float64 is computed as float32", kWarning,
     "Convert the model to float32, or compute the part that needs float64 on the CPU.", "float64"},
    {"NC405", "out= of float64 is refused", kError,
     "Give an out= tensor of float32, or use the form without out=."},
    {"NC406",
     "Complex numbers",
     kError,
     "Write the computation on real and imaginary parts. Under torch.compile with torch 2.13 or "
     "later the framework may do it (TORCH_NEURONX_COMPLEX_DECOMPOSE).",
     {},
     "NCC_EVRF004"},
    {"NC407",
     "float8 FNUZ types",
     kError,
     "Convert to float8_e5m2 or bfloat16.",
     {},
     "NCC_EVRF005"},
    {"NC408",
     "float8_e4m3fn on a chip before trn3",
     kError,
     "Use float8_e5m2 or bfloat16, or target trn3.",
     {},
     "NCC_EVRF051"},
    {"NC409", "float8 matmul is slow in eager mode", kWarning,
     "Use bfloat16 in eager mode; float8 pays only under torch.compile.", "fp8-eager-matmul"},
    {"NC410", "float8_e5m2 matmul reaches the tensor engine", kNote,
     "Nothing to do: this path is the fast one.", "fp8-e5m2-compile"},
    {"NC411",
     "Integer matmul",
     kError,
     "Convert the operands to bfloat16 or float32.",
     {},
     "NCC_EVRF035"},
    {"NC412", "int8 matmul", kError, "Convert the operands to bfloat16 or float32.", "int8-matmul"},
    {"NC413", "Element type without evidence", kWarning,
     "Nothing says that the device takes this type: convert to a common one, or try it."},
    {"NC501", "Sparse tensors", kError, "Use dense tensors (to_dense) or an index list.", "sparse"},
    {"NC502", "Nested tensors", kError, "Pad to a rectangle and use a mask.", "nested"},
    {"NC503", "Quantised tensors", kWarning,
     "Nothing says that the device takes them: dequantise, or use bfloat16 or float8."},
    {"NC504", "Per-channel quantisation", kError, "Dequantise the weights before the export.",
     "per-channel-quant"},
    {"NC505", "Native multi-head attention with a mask or with weights returned", kError,
     "Call scaled_dot_product_attention, or turn the fast path off "
     "(torch.backends.mha.set_fastpath_enabled(False)) before the export.",
     "mha-mask"},
    {"NC506", "Bilinear or bicubic upsampling", kError,
     "Use nearest upsampling, or a fixed transposed convolution.", "bilinear-bicubic"},
    {"NC507", "Window functions", kError,
     "Compute the window once on the CPU and keep it as a buffer.", "signal-windows"},
    {"NC508", "Attention that is not 4-D takes the plain path", kNote,
     "Give query, key and value four dimensions (batch, heads, length, width).", "sdpa-choice"},
    {"NC509", "channels_last memory format", kError, "Leave the memory format contiguous.",
     "channels-last"},
    {"NC510", "Tensors stored in channels_last order", kWarning,
     "Call .contiguous() on inputs and weights before they go to the device."},
    {"NC511", "A device is written into the graph", kWarning,
     "Move the program with torch.export.passes.move_to_device_pass, or take the device from an "
     "input (x.device) in the code."},
    {"NC512", "Autocast for another device is written into the graph", kError,
     "Export under torch.autocast(\"neuron\"), or cast the model with .to(bfloat16) before the "
     "export."},
    {"NC513", "In-place write through a view", kNote,
     "Compare the result on the device with the CPU, or write it functionally."},
    {"NC514", "Write into a strided slice copies the whole buffer", kNote,
     "Lay the buffer out so that the slice written is contiguous.", "strided-slice-write"},
    {"NC515", "Point-to-point communication", kNote,
     "Try send and receive on the release that is installed; use a collective otherwise.", "p2p"},
    {"NC516", "all_to_all of a world size that is rejected", kError,
     "Use 4, 8, 16 or a multiple of 32 ranks.", "all-to-all-size"},
    {"NC517", "Collectives", kNote,
     "Run the model with the same number of ranks as it was exported for."},
    {"NC518", "Collective of a kind that the backend refuses", kError,
     "Use a sum, mean, minimum or maximum of a plain type, with equal splits."},
    {"NC519", "Random numbers are drawn on the CPU", kWarning,
     "Expect the CPU generator's sequence and a copy per call; draw once and keep the result, or "
     "seed the CPU generator.",
     "device-generator"},
    {"NC801", "The weights do not fit one logical core", kWarning,
     "Shard the model over more cores, or use a smaller type."},
    {"NC802", "Training would not fit one logical core", kNote,
     "Shard weights, gradients and optimiser state (FSDP), or use a smaller optimiser state."},
    {"NC803", "Number of distinct compiles", kNote,
     "Warm the compile cache before measuring; equal operators, types and shapes share one."},
    {"NC804", "Number of host synchronisations", kNote,
     "Remove the reads, or move them to the end of the step."},
    {"NC805", "View-like operators that copy", kNote,
     "Make the operand contiguous once, earlier, where it costs least."},
    {"NC806", "Attention misses the fast kernel", kNote,
     "The fast kernel wants no mask, no dropout, lengths that are multiples of 512 and heads of at "
     "most 128: use causal instead of a mask, or pad."},
    {"NC807", "Attention over very long sequences", kNote,
     "Expect very long compiles; split the sequence.", "long-sdpa"},
    {"NC808", "Gather with an expanded int64 index", kNote,
     "Convert the index to int32 before expanding it: the broadcast is then kept."},
});

// What the sources say that no row of the database holds (yet).
constexpr std::string_view kSnapshot = "torch-neuronx 0.1.0 pre-release source snapshot bc234a39";
constexpr std::string_view kUser = "user measurements on trn2, Sep 2026";
constexpr std::string_view kAws = "AWS Neuron documentation, Aug to Oct 2026";
constexpr std::string_view kTorch = "PyTorch 2.13.0 dispatcher and export schema";

constexpr auto kEvidence = std::to_array<BuiltInEvidence>({
    {"NC110", "inferred", kTorch, "", "2026-11-30", Confidence::Medium},
    {"NC111", "inferred", kTorch, "", "2026-11-30", Confidence::Medium},
    {"NC203", "measured", "boxed fallback on a recording PrivateUse1 backend, torch 2.13.0", "",
     "2026-11-30", Confidence::Medium},
    {"NC204", "inferred", kTorch, "", "2026-11-30", Confidence::Medium},
    {"NC205", "inferred", kTorch, "", "2026-11-30", Confidence::Medium},
    {"NC206", "documented", kTorch, "", "2026-11-30", Confidence::Medium},
    {"NC207", "documented-by-source", kSnapshot, "0.1.0-pre", "2026-05-04", Confidence::Medium},
    {"NC208", "documented", kAws, "", "2026-10-20", Confidence::Medium},
    {"NC209", "inferred", kTorch, "", "2026-11-30", Confidence::Low},
    {"NC210", "documented", kTorch, "", "2026-11-30", Confidence::High},
    {"NC303", "documented", kAws, "", "2026-10-20", Confidence::Medium},
    {"NC304", "documented-by-source", kSnapshot, "0.1.0-pre", "2026-05-04", Confidence::Medium},
    {"NC305", "documented", kAws, "", "2026-10-20", Confidence::Medium},
    {"NC413", "inferred", kAws, "", "2026-10-20", Confidence::Low},
    {"NC503", "inferred", kAws, "", "2026-10-20", Confidence::Low},
    {"NC510", "documented-by-source", kSnapshot, "0.1.0-pre", "2026-05-04", Confidence::Medium},
    {"NC511", "documented", kTorch, "", "2026-11-30", Confidence::High},
    {"NC512", "measured", "exported autocast on a recording PrivateUse1 backend, torch 2.13.0", "",
     "2026-11-30", Confidence::Medium},
    {"NC513", "reported-by-user", "aws-neuron-sdk issue 1381", "", "", Confidence::Low},
    {"NC517", "documented", kAws, "", "2026-10-20", Confidence::Medium},
    {"NC518", "documented-by-source", kSnapshot, "0.1.0-pre", "2026-05-04", Confidence::Medium},
    {"NC801", "documented",
     "AWS Neuron documentation, hardware pages, Aug 2026; user measurement "
     "total_hbm=25769803776 on one trn2 logical core",
     "", "2026-09-15", Confidence::Medium},
    {"NC802", "inferred", "AdamW keeps two states of each weight in its type", "", "2026-09-15",
     Confidence::Medium},
    {"NC803", "documented", kAws, "", "2026-10-15", Confidence::Medium},
    {"NC804", "documented", kAws, "", "2026-10-20", Confidence::Medium},
    {"NC805", "measured", "dispatch of corpus models on a recording PrivateUse1 backend", "",
     "2026-11-30", Confidence::Medium},
    {"NC806", "documented-by-source", kSnapshot, "0.1.0-pre", "2026-05-04", Confidence::Low},
    {"NC808", "measured-by-user", kUser, "2.12.3", "2026-09-15", Confidence::Medium},
});

template <typename Matches>
const RuleInfo* findRule(Matches matches) {
  const auto found = std::ranges::find_if(kRules, matches);
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace

std::span<const RuleInfo> builtInRules() { return kRules; }

const RuleInfo& ruleInfo(std::string_view id) {
  const RuleInfo* found = findRule([id](const RuleInfo& rule) { return rule.id == id; });
  NEURONCHECK_CHECK(found != nullptr, "a rule id that is not in the table");
  return *found;
}

const RuleInfo* ruleOfCode(std::string_view code) {
  return code.empty() ? nullptr
                      : findRule([code](const RuleInfo& rule) { return rule.code == code; });
}

const RuleInfo* ruleOfFeature(std::string_view feature) {
  return feature.empty()
             ? nullptr
             : findRule([feature](const RuleInfo& rule) { return rule.feature == feature; });
}

const BuiltInEvidence* builtInEvidence(std::string_view rule) {
  const auto* const found = std::ranges::find_if(
      kEvidence, [rule](const BuiltInEvidence& evidence) { return evidence.rule == rule; });
  return found == kEvidence.end() ? nullptr : found;
}

}  // namespace neuroncheck::opdb

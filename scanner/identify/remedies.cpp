// SPDX-License-Identifier: Apache-2.0
#include "scanner/identify/remedies.h"

namespace neuroncheck::scanner {

std::string_view remedyFromModel() {
  return "Build the model from its Python code and export it, with `args` a tuple of example "
         "inputs:\n"
         "  model.eval()\n"
         "  program = torch.export.export(model, args)\n"
         "  torch.export.save(program, \"model.pt2\")";
}

std::string_view remedyFromWeights() {
  return "Build the model from its Python code, load these weights and export it, with `args` a "
         "tuple of example inputs:\n"
         "  model.load_state_dict(torch.load(path, weights_only=True))\n"
         "  model.eval()\n"
         "  program = torch.export.export(model, args)\n"
         "  torch.export.save(program, \"model.pt2\")";
}

std::string_view remedyFromSafetensors() {
  return "Build the model from its Python code, load these weights and export it, with `args` a "
         "tuple of example inputs:\n"
         "  model.load_state_dict(safetensors.torch.load_file(path))\n"
         "  model.eval()\n"
         "  program = torch.export.export(model, args)\n"
         "  torch.export.save(program, \"model.pt2\")";
}

std::string_view remedyFromPretrained() {
  return "Load the folder and export the model, with `kwargs` a dictionary of example inputs:\n"
         "  model = transformers.AutoModel.from_pretrained(folder).eval()\n"
         "  program = torch.export.export(model, (), kwargs, strict=False)\n"
         "  torch.export.save(program, \"model.pt2\")";
}

}  // namespace neuroncheck::scanner

// SPDX-License-Identifier: Apache-2.0
// Two schemas that torch registers from Python only.
#include <torch/library.h>

TORCH_LIBRARY_FRAGMENT(quantized_decomposed, library) {
  library.def(
      "quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
      "int quant_max, ScalarType dtype) -> Tensor");
  library.def(
      "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
      "int quant_min, int quant_max, ScalarType dtype) -> Tensor");
}

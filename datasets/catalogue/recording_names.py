# SPDX-License-Identifier: Apache-2.0
"""torch's names of what a schema passes as a number."""
DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16",
}  # fmt: skip
LAYOUTS = {0: "strided", 1: "sparse_coo", 2: "sparse_csr", 3: "mkldnn"}
MEMORY_FORMATS = {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"}
NAMES = frozenset([*DTYPES.values(), *LAYOUTS.values(), *MEMORY_FORMATS.values()])

// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Builds a function for several instruction sets; the program takes the best that the machine has.
/// Only where compiler and processor know how; the function is the same everywhere.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define NEURONCHECK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define NEURONCHECK_CLONES
#endif

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format 19 over the tree: `--check` only reports, no argument rewrites.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v clang-format-19 >/dev/null || { echo "clang-format-19 is absent: apt-get install clang-format-19" >&2; exit 3; }
arguments=(-i)
[ "${1:-}" = --check ] && arguments=(--dry-run --Werror)
git ls-files -z '*.h' '*.cpp' | xargs -0 -P 2 -n 20 clang-format-19 "${arguments[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 19 over our sources (not the tests), with the compile commands of build/dev. Files named as arguments: only those.
# Results are remembered in build/tidy by the content of a file and of all headers, so that an unchanged tree costs seconds.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v clang-tidy-19 >/dev/null || { echo "clang-tidy-19 is absent: apt-get install clang-tidy-19" >&2; exit 3; }
mkdir -p build/tidy
headers=$(git ls-files '*.h' .clang-tidy | xargs cat | sha256sum | cut -c1-16)
if [ $# -gt 0 ]; then files=("$@"); else mapfile -t files < <(git ls-files '*.cpp' | grep -v -E '/(tests|fuzz|bench)/|^torch_host/'); fi

tidy_one() {
  local file=$1 key
  key=build/tidy/$(printf '%s' "$headers$(sha256sum <"$file")" | sha256sum | cut -c1-32)
  [ -e "$key" ] && return 0
  if out=$(clang-tidy-19 -quiet -p build/dev "$file" 2>/dev/null); then touch "$key"; else printf '%s\n' "$out"; return 1; fi
}
export -f tidy_one
export headers
printf '%s\0' "${files[@]}" | xargs -0 -P 2 -I{} bash -c 'tidy_one "$1"' _ {}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with address and undefined-behaviour sanitizers and runs each for RUNS executions (default 20,000).
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=../bootstrap.sh
. tools/bootstrap.sh
runs=${RUNS:-20000}
nc_build asan fuzzers
for target in build/asan/scanner/fuzz/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  corpus=build/fuzz/$name
  mkdir -p "$corpus"
  scanner/fuzz/make_seeds.sh "$name" "$corpus"
  printf '== %s: %s executions\n' "$name" "$runs"
  "$target" -runs="$runs" -seed=1 -max_len=65536 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 "$corpus" \
    >"build/fuzz/$name.log" 2>&1 || { tail -40 "build/fuzz/$name.log"; exit 1; }
  grep -E 'stat::number_of_executed_units' "build/fuzz/$name.log"
done

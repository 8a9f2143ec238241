#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with address and undefined-behaviour sanitizers and runs each for RUNS executions (default 20,000)
# over seeds from datasets/models. `RUNS=1000000 tools/checks/fuzz_smoke.sh` is what a change of a reader should survive.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=../bootstrap.sh
. tools/bootstrap.sh
runs=${RUNS:-20000}
nc_build asan scanner_archive_fuzzer scanner_checkpoint_fuzzer scanner_graph_fuzzer scanner_script_fuzzer
seeds=build/fuzz/seeds
mkdir -p "$seeds"
PYTHONDONTWRITEBYTECODE=1 python3 scanner/fuzz/make_seeds.py datasets/models "$seeds" >/dev/null
for target in archive checkpoint graph script; do
  work=build/fuzz/work-$target
  mkdir -p "$work"
  printf '== %s: %s executions\n' "$target" "$runs"
  # Inputs that were found go to the first folder; the second is only read.
  build/asan/scanner/scanner_${target}_fuzzer -runs="$runs" -seed=1 -timeout=20 -rss_limit_mb=2048 \
    -dict=scanner/fuzz/$target.dict -print_final_stats=1 "$work" "$seeds/$target" >"build/fuzz/$target.log" 2>&1 ||
    { tail -40 "build/fuzz/$target.log"; exit 1; }
  grep 'stat::number_of_executed_units' "build/fuzz/$target.log"
done

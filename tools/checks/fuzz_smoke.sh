#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with address and undefined-behaviour sanitizers and runs each for RUNS executions (default 20,000)
# over seeds from datasets. `RUNS=1000000 tools/checks/fuzz_smoke.sh` is what a change of a reader should survive.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=../bootstrap.sh
. tools/bootstrap.sh
runs=${RUNS:-20000}
nc_build asan scanner_archive_fuzzer scanner_checkpoint_fuzzer scanner_graph_fuzzer scanner_script_fuzzer tensor_io_fuzzer
seeds=build/fuzz/seeds
mkdir -p "$seeds/tensor_io"
PYTHONDONTWRITEBYTECODE=1 python3 scanner/fuzz/make_seeds.py datasets/models "$seeds" >/dev/null
cp datasets/tensors/*.npy datasets/tensors/*.npz datasets/tensors/*.safetensors "$seeds/tensor_io"

# fuzz <target> <program> <dictionary>
fuzz() {
  local target=$1 work=build/fuzz/work-$1
  mkdir -p "$work"
  printf '== %s: %s executions\n' "$target" "$runs"
  # Inputs that were found go to the first folder; the second is only read.
  "$2" -runs="$runs" -seed=1 -timeout=20 -rss_limit_mb=2048 -dict="$3" -print_final_stats=1 "$work" "$seeds/$target" \
    >"build/fuzz/$target.log" 2>&1 || { tail -40 "build/fuzz/$target.log"; exit 1; }
  grep 'stat::number_of_executed_units' "build/fuzz/$target.log"
}
for target in archive checkpoint graph script; do
  fuzz $target build/asan/scanner/scanner_${target}_fuzzer scanner/fuzz/$target.dict
done
fuzz tensor_io build/asan/tensor_io/tensor_io_fuzzer tensor_io/fuzz/tensor_io.dict

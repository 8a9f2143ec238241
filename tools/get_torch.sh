#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the parts that link libtorch buildable: TorchScript files and --trace. Afterwards ./neuron-check builds them.
#   tools/get_torch.sh                 fetches torch 2.13 with pip into build/torch (about 1 GB; nothing outside the repository)
#   tools/get_torch.sh TORCH_FOLDER    uses an installed one: the folder `python3 -c "import torch; print(torch.__path__[0])"` names
#   tools/get_torch.sh --forget        builds without it again
# pip decides where from; an index that has the CPU build saves gigabytes (pip's own PIP_INDEX_URL, or its configuration).
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=bootstrap.sh
. tools/bootstrap.sh
case ${1:-} in
  -h | --help) sed -n '3,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  --forget) rm -f build/torch-root; nc_say "built without torch from now on" ;;
  "") nc_get_torch || nc_die "torch could not be fetched (log: build/torch.log)"; nc_say "torch: $(cat build/torch-root)" ;;
  *) nc_use_torch "$1" || nc_die "$1 is no torch 2.13 with lib/libtorch_cpu.so and headers"; nc_say "torch: $(cat build/torch-root)" ;;
esac

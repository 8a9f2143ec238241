#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs build/$PRESET (default: dev) into an empty folder and runs the installed program from elsewhere: it must find its database.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=../bootstrap.sh
. tools/bootstrap.sh
preset=${PRESET:-dev}
nc_build "$preset"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "build/$preset" --prefix "$prefix" >/dev/null
model=$PWD/datasets/models/mlp.pt2
cd "$prefix"
env -u NEURON_CHECK_DB bin/neuron-check "$model" --fail-on none --format json -o report.json
python3 - report.json <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == "neuron-check/report/1", report["schema"]
assert report["ops"], "the installed program reported no operator"
print("install check: %d operators judged by the installed program" % len(report["ops"]))
PY

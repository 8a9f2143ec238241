#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks a package without root, with stand-ins for apt-get and dpkg: it must arrive in build/deps, and the caller's folder must stay
# the caller's, because the program that is started next reads its relative file names from there.
set -eu
# shellcheck source=../bootstrap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../bootstrap.sh"
NC_ROOT=$(mktemp -d)
trap 'rm -rf "$NC_ROOT"' EXIT
mkdir "$NC_ROOT/build" "$NC_ROOT/elsewhere"

apt-get() {
  case "$*" in
    *--print-uris*) printf "'file:///pool/libsample-dev_1_all.deb' libsample-dev_1_all.deb 1 SHA256:0\n" ;;
    *download*) touch "${!#}_1_all.deb" ;;
  esac
}
dpkg() { mkdir -p "$3/usr/include" && touch "$3/usr/include/$(basename "$2")"; }
g++() { :; }

cd "$NC_ROOT/elsewhere"
nc_unpack_without_root libsample-dev
[ -e "$NC_ROOT/build/deps/usr/include/libsample-dev_1_all.deb" ] || { echo "bootstrap check: nothing was unpacked" >&2; exit 1; }
[ -e "$NC_ROOT/build/deps/.complete" ] || { echo "bootstrap check: what was unpacked is not marked complete" >&2; exit 1; }
[ "$PWD" = "$NC_ROOT/elsewhere" ] || { echo "bootstrap check: the caller was left in $PWD" >&2; exit 1; }
echo "bootstrap check: unpacked, and the caller stays where it was"

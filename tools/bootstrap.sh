#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds or installs what a build needs. Sourced by ./neuron-check, ./test and .ci/run.
# shellcheck disable=SC2034,SC2086  # lists of words, used by those scripts
#
# With root: Debian packages by apt-get. Without root: the same packages are downloaded and unpacked under
# build/deps, and the build is pointed there; nothing outside the repository is touched.

NC_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What the program itself needs, and what its tests need on top. libsqlitecpp-dev and the like pull their libraries in.
NC_BUILD_PACKAGES="g++ cmake ninja-build pkg-config libfmt-dev libexpected-dev nlohmann-json3-dev libsqlitecpp-dev libsqlite3-dev zlib1g-dev libxxhash-dev libcli11-dev libsimdjson-dev libtomlplusplus-dev libssl-dev libbackward-cpp-dev libboost1.81-dev librandom123-dev"
NC_TEST_PACKAGES="libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev python3"

nc_say() { printf 'neuron-check: %s\n' "$*" >&2; }
nc_die() { nc_say "$*"; exit 3; }

# Names the packages of the list $1 that dpkg does not have.
nc_missing() {
  local package
  for package in $1; do
    # A compiler, cmake or python from elsewhere than Debian is as good.
    case $package in
      g++) command -v g++ >/dev/null && continue ;;
      cmake) command -v cmake >/dev/null && continue ;;
      ninja-build) command -v ninja >/dev/null && continue ;;
      pkg-config) command -v pkg-config >/dev/null && continue ;;
      python3) command -v python3 >/dev/null && continue ;;
    esac
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed && continue
    printf '%s ' "$package"
  done
}

nc_install_as_root() {
  nc_say "installing $*"
  local log="$NC_ROOT/build/install.log"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } \
    >"$log" 2>&1 || { tail -5 "$log" >&2; nc_die "apt-get could not install: $* (log: build/install.log)"; }
}

# Unpacks packages and those they need into build/deps without root, with apt's state kept there too.
nc_unpack_without_root() {
  local deps="$NC_ROOT/build/deps" apt="$NC_ROOT/build/deps/.apt" log="$NC_ROOT/build/install.log" wanted
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  # A compiler does not work from another place than its own; everything else does.
  command -v g++ >/dev/null || nc_die "a C++20 compiler is needed and only root can install it: apt-get install g++"
  command -v apt-get >/dev/null || nc_die "these Debian packages are needed and apt-get is absent: $*"
  local options=(-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Debug::NoLocking=1 -qq)
  nc_say "no root: unpacking into build/deps: $*"
  # In a shell of its own: the caller's folder stays what it was, for it is where the names of its files begin.
  (
    apt-get "${options[@]}" update
    wanted=$(apt-get "${options[@]}" install --no-install-recommends --print-uris -y "$@" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p")
    cd "$apt/cache/archives" && apt-get "${options[@]}" download $wanted && for deb in ./*.deb; do dpkg -x "$deb" "$deps"; done
  ) >"$log" 2>&1 || { tail -5 "$log" >&2; nc_die "could not unpack: $* (log: build/install.log). As root: apt-get install $*"; }
  rm -rf "$apt"
  touch "$deps/.complete"
}

# Points compiler, CMake and pkg-config at build/deps when packages were unpacked there.
nc_use_unpacked() {
  local deps="$NC_ROOT/build/deps" triplet
  [ -e "$deps/.complete" ] || return 0
  triplet=$(gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)
  export PATH="$deps/usr/bin:$PATH"
  export LD_LIBRARY_PATH="$deps/usr/lib/$triplet:$deps/lib/$triplet${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LIBRARY_PATH="$deps/usr/lib/$triplet:$deps/lib/$triplet"
  export CPLUS_INCLUDE_PATH="$deps/usr/include:$deps/usr/include/$triplet"
  export C_INCLUDE_PATH="$CPLUS_INCLUDE_PATH"
  export CMAKE_PREFIX_PATH="$deps/usr"
  export PKG_CONFIG_PATH="$deps/usr/lib/$triplet/pkgconfig:$deps/usr/share/pkgconfig"
  export PKG_CONFIG_SYSROOT_DIR="$deps"
}

# nc_need "<packages>": afterwards they can be used, or the script has ended with one clear line.
nc_need() {
  local missing
  nc_use_unpacked
  missing=$(nc_missing "$1")
  [ -z "$missing" ] && return 0
  mkdir -p "$NC_ROOT/build"
  # shellcheck disable=SC2086  # a list of words
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    nc_install_as_root $missing
  elif [ ! -e "$NC_ROOT/build/deps/.packages" ] || ! nc_covered "$missing"; then
    command -v dpkg-query >/dev/null || nc_die "this is no Debian system; install the equivalents of: $missing"
    nc_unpack_without_root $missing
    printf '%s\n' $missing >>"$NC_ROOT/build/deps/.packages"
    nc_use_unpacked
  fi
}

# True when every package of the list was unpacked before.
nc_covered() {
  local package
  for package in $1; do grep -qx "$package" "$NC_ROOT/build/deps/.packages" || return 1; done
}

# Remembers the `torch` folder of an installed torch 2.13, to be built against; fails when it is none.
nc_use_torch() {
  local folder
  folder=$(cd "$1" 2>/dev/null && pwd) || return 1
  grep -q "__version__.*2\.13\." "$folder/version.py" 2>/dev/null || return 1
  [ -e "$folder/lib/libtorch_cpu.so" ] && [ -e "$folder/include/torch/library.h" ] || return 1
  mkdir -p "$NC_ROOT/build"
  printf '%s\n' "$folder" >"$NC_ROOT/build/torch-root"
}

# Fetches torch 2.13 into build/torch, once. Fails when pip is absent or cannot get it.
nc_get_torch() {
  local venv="$NC_ROOT/build/torch" log="$NC_ROOT/build/torch.log"
  if [ -e "$NC_ROOT/build/torch-root" ]; then
    nc_use_torch "$(cat "$NC_ROOT/build/torch-root")" && return 0
    rm -f "$NC_ROOT/build/torch-root"
  fi
  mkdir -p "$NC_ROOT/build"
  python3 -m pip --version >/dev/null 2>&1 || (nc_need "python3-pip") || return 1
  nc_say "fetching torch 2.13 into build/torch (once)"
  {
    python3 -m venv --without-pip "$venv" &&
      python3 -m pip --python "$venv/bin/python3" install --disable-pip-version-check "torch==2.13.0"
  } >"$log" 2>&1 || return 1
  nc_use_torch "$(echo "$venv"/lib/python3*/site-packages/torch)"
}

# nc_build <preset> [targets...]: configures once, then builds; says so when it takes more than a moment.
nc_build() {
  local preset=$1 log="$NC_ROOT/build/$1.log"
  shift
  mkdir -p "$NC_ROOT/build" 2>/dev/null || nc_die "cannot write to $NC_ROOT/build: clone to a folder of your own"
  # A user without a home has no place for ccache's files.
  mkdir -p "${CCACHE_DIR:-${HOME:-/nonexistent}/.cache/ccache}" 2>/dev/null || export CCACHE_DISABLE=1
  local torch=off
  # Sanitizers would need a libtorch that was built with them.
  [ "$preset" = asan ] || [ "$preset" = tsan ] || [ ! -e "$NC_ROOT/build/torch-root" ] || torch=$(cat "$NC_ROOT/build/torch-root")
  if [ ! -e "$NC_ROOT/build/$preset/build.ninja" ] || [ "$(cat "$NC_ROOT/build/$preset/.torch" 2>/dev/null || echo off)" != "$torch" ]; then
    nc_say "configuring build/$preset (once)"
    local flags=(-DNEURONCHECK_WITH_TORCH=OFF)
    [ "$torch" = off ] || flags=(-DNEURONCHECK_WITH_TORCH=ON "-DTORCH_ROOT=$torch")
    (cd "$NC_ROOT" && cmake --preset "$preset" "${flags[@]}") >"$log" 2>&1 || { tail -20 "$log" >&2; nc_die "cmake failed (log: build/$preset.log)"; }
    printf '%s\n' "$torch" >"$NC_ROOT/build/$preset/.torch"
  fi
  if [ -t 2 ]; then
    ninja -C "$NC_ROOT/build/$preset" "$@" 2>&1 | tee "$log" | nc_show_progress
    [ "${PIPESTATUS[0]}" = 0 ] || { grep -m1 -A12 -E 'FAILED|error' "$log" >&2; nc_die "the build failed (log: build/$preset.log)"; }
  else
    ninja -C "$NC_ROOT/build/$preset" "$@" >"$log" 2>&1 || { grep -m1 -A12 -E 'FAILED|error' "$log" >&2; nc_die "the build failed (log: build/$preset.log)"; }
  fi
}

nc_show_progress() {
  local line
  while IFS= read -r line; do
    case $line in \[*) printf '\r\033[K%.100s' "$line" >&2 ;; esac
  done
  printf '\r\033[K' >&2
}

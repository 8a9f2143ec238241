# SPDX-License-Identifier: Apache-2.0
# Every third-party library, found once. Debian package names stand beside each; `./neuron-check` installs them.
find_package(PkgConfig REQUIRED) # pkg-config
find_package(fmt REQUIRED) # libfmt-dev
find_package(tl-expected REQUIRED) # libexpected-dev
find_package(nlohmann_json REQUIRED) # nlohmann-json3-dev
find_package(SQLiteCpp REQUIRED) # libsqlitecpp-dev
find_package(SQLite3 REQUIRED) # libsqlite3-dev
find_package(ZLIB REQUIRED) # zlib1g-dev
find_package(CLI11 REQUIRED) # libcli11-dev
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash) # libxxhash-dev
find_package(simdjson REQUIRED) # libsimdjson-dev
find_package(tomlplusplus REQUIRED) # libtomlplusplus-dev
# Boost.Math, headers only. Debian 12's default Boost (1.74) has no Kolmogorov-Smirnov distribution.
find_package(Boost 1.81 REQUIRED CONFIG) # libboost1.81-dev
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED) # librandom123-dev
add_library(Random123::random123 INTERFACE IMPORTED)
target_include_directories(Random123::random123 SYSTEM INTERFACE "${RANDOM123_INCLUDE_DIR}")

if(BUILD_TESTING)
  find_package(GTest REQUIRED) # libgtest-dev libgmock-dev
  find_package(rapidcheck QUIET) # librapidcheck-dev
endif()
if(NEURONCHECK_WITH_BENCHMARKS)
  find_package(benchmark REQUIRED) # libbenchmark-dev
endif()

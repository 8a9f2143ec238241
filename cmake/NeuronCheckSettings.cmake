# SPDX-License-Identifier: Apache-2.0
# Compiler settings of our own targets, carried by one interface target, and the two helpers each room uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Objects are shared between build trees and clones: paths are hashed relative to the source tree.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                                  "${CCACHE_PROGRAM}")
endif()

add_library(neuroncheck_settings INTERFACE)
add_library(neuroncheck::settings ALIAS neuroncheck_settings)
target_include_directories(neuroncheck_settings INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(neuroncheck_settings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
# A user's compiler may know warnings that ours does not: they stop a change, never an installation.
option(NEURONCHECK_WARNINGS_AS_ERRORS "Warnings are errors" ON)
if(NEURONCHECK_WARNINGS_AS_ERRORS)
  target_compile_options(neuroncheck_settings INTERFACE -Werror)
endif()

set(NEURONCHECK_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
if(NEURONCHECK_SANITIZE)
  add_compile_options(-fsanitize=${NEURONCHECK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NEURONCHECK_SANITIZE})
endif()

# neuroncheck_room(<room> SOURCES ... DEPENDS ...): one library target `neuroncheck_<room>`, alias `neuroncheck::<room>`.
function(neuroncheck_room room)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(neuroncheck_${room} STATIC ${ROOM_SOURCES})
  add_library(neuroncheck::${room} ALIAS neuroncheck_${room})
  target_link_libraries(neuroncheck_${room} PUBLIC neuroncheck::settings ${ROOM_DEPENDS} PRIVATE ${ROOM_PRIVATE_DEPENDS})
endfunction()

# neuroncheck_test(<name> SOURCES ... DEPENDS ... [LABELS ...]): one GoogleTest program, registered with ctest.
# Tests find repository files through the definition NEURONCHECK_SOURCE_DIR.
function(neuroncheck_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE neuroncheck::settings ${T_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE NEURONCHECK_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT T_LABELS)
    set(T_LABELS unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT 600)
endfunction()

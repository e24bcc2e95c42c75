# Helpers of the build: dependencies, warnings, and one function per kind of target.

include(GNUInstallDirs)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.74 REQUIRED CONFIG)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(cppzmq REQUIRED)
find_package(date REQUIRED)
find_package(tl-expected REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix)

# lockstep_malloc: the allocator of the launcher, which makes and frees millions of small objects on
# several threads (docs/measurements/load.md). Sanitizers and fuzzers have their own.
find_library(LOCKSTEP_MIMALLOC mimalloc REQUIRED)
add_library(lockstep_malloc INTERFACE)
if(NOT LOCKSTEP_SANITIZE AND NOT LOCKSTEP_FUZZ)
  target_link_libraries(lockstep_malloc INTERFACE
    -Wl,--push-state,--no-as-needed ${LOCKSTEP_MIMALLOC} -Wl,--pop-state)
endif()
# Its own run path would come before a bundle's; in the build tree CMake sets what is needed.
get_target_property(pmix_options PkgConfig::PMIX INTERFACE_LINK_OPTIONS)
list(FILTER pmix_options EXCLUDE REGEX "rpath|new-dtags|^-Wl,/|NOTFOUND")
set_target_properties(PkgConfig::PMIX PROPERTIES INTERFACE_LINK_OPTIONS "${pmix_options}")

add_custom_target(bundled_programs)

add_library(lockstep_flags INTERFACE)
target_include_directories(lockstep_flags INTERFACE ${PROJECT_SOURCE_DIR})
# No program holds the place of its checkout in __FILE__, so that ccache knows a file wherever it lies.
target_compile_options(lockstep_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# -pthread for all, since some dependencies bring it: precompiled headers are read by equal flags only.
target_compile_options(lockstep_flags INTERFACE
  -pthread -Wall -Wextra -Wswitch-enum -Wnon-virtual-dtor)
target_compile_definitions(lockstep_flags INTERFACE
  SPDLOG_FMT_EXTERNAL FMT_SHARED LOCKSTEP_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns of impossible overlaps in std::string (GCC bug 105651, mended in 13).
  target_compile_options(lockstep_flags INTERFACE -Wno-restrict)
endif()
if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_flags INTERFACE -Werror)
endif()
if(LOCKSTEP_SANITIZE)
  # -O1 and lines without types: compiled in half the time, and reports name the same places.
  target_compile_options(lockstep_flags INTERFACE
    -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer -O1 -g1)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()
if(LOCKSTEP_FUZZ)  # with LOCKSTEP_SANITIZE=address,undefined
  # Everything is instrumented, so that the fuzzers see the branches of the decoders.
  target_compile_options(lockstep_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# lockstep_precompiled(NAME HEADERS <h>… LINK dep…): headers that nearly every file includes, read once
# for all targets that are made in this folder and below; a third of the time of a build. Only with
# g++: clang's build (scripts/check) finds the file that forgets an include of its own.
function(lockstep_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  if(LOCKSTEP_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(nothing ${CMAKE_BINARY_DIR}/generated/${name}.cc)
    if(NOT EXISTS ${nothing})
      file(WRITE ${nothing} "// Its headers are what counts.\n")
    endif()
    add_library(${name} OBJECT ${nothing})
    target_link_libraries(${name} PRIVATE lockstep_flags ${ARG_LINK})
    target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
    set(lockstep_precompiled_headers ${name} PARENT_SCOPE)
  endif()
endfunction()
function(lockstep_use_precompiled target)
  if(lockstep_precompiled_headers)
    target_precompile_headers(${target} REUSE_FROM ${lockstep_precompiled_headers})
    # g++ does not know the headers in it as the system's, and warns of bounds inside of std::string.
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

lockstep_precompiled(precompiled LINK lockstep_fmt HEADERS
  <algorithm> <cstdint> <functional> <map> <memory> <optional> <set> <string> <string_view> <utility>
  <vector> <fmt/format.h> <tl/expected.hpp>)

# lockstep_library(NAME SOURCES a.cc b.cc [APART b.cc] LINK dep…): the static library of one folder.
# APART: of the sources, those whose file-local names others of the folder have too; each is compiled alone.
function(lockstep_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;APART;LINK" ${ARGN})
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC lockstep_flags ${ARG_LINK})
    lockstep_use_precompiled(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE lockstep_flags ${ARG_LINK})
  endif()
endfunction()

# lockstep_program(NAME SOURCES main.cc LINK dep… [INTERNAL]): one binary in build/bin, installed in
# PREFIX/bin, or in PREFIX/libexec/lockstep when only our own programs start it. COMPONENT is the
# package that it belongs to. Also linked for the bundle, as target bundled_NAME (scripts/bundle).
function(lockstep_program name)
  cmake_parse_arguments(ARG "INTERNAL" "COMPONENT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE lockstep_flags ${ARG_LINK})
  lockstep_use_precompiled(${name})
  set(destination ${CMAKE_INSTALL_BINDIR})
  if(ARG_INTERNAL)
    set(destination ${CMAKE_INSTALL_LIBEXECDIR}/lockstep)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${destination} COMPONENT ${ARG_COMPONENT})
  if(TARGET common_bundle)
    lockstep_bundled(${name} LINK ${ARG_LINK})
  endif()
endfunction()

# The same objects, linked to find their dynamic linker and libraries in ../lib; see
# common/bundle/start.h and docs/decisions/012-bundle.md.
function(lockstep_bundled name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(bundled_${name} EXCLUDE_FROM_ALL
    $<TARGET_OBJECTS:${name}> $<TARGET_OBJECTS:common_bundle>)
  target_link_libraries(bundled_${name} PRIVATE lockstep_flags ${ARG_LINK})
  # RPATH, not RUNPATH: it holds for the libraries of libraries and before LD_LIBRARY_PATH.
  target_link_options(bundled_${name} PRIVATE
    -pie -Wl,--no-dynamic-linker -Wl,-e,lockstep_bundle_start -Wl,--disable-new-dtags)
  set_target_properties(bundled_${name} PROPERTIES
    OUTPUT_NAME ${name} LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bundle/bin
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  add_dependencies(bundled_programs bundled_${name})
endfunction()

# lockstep_test(NAME SOURCES x_test.cc [APART y_test.cc] LINK dep… [TAKES seconds]): one GoogleTest binary, one ctest
# entry. TAKES: of those that take minutes; they begin first. Each runs in a session of its own: a signal that a faulty
# test sends to its process group ends that test, which ctest names, and not ctest and the script above it.
function(lockstep_test name)
  cmake_parse_arguments(ARG "" "TAKES" "SOURCES;APART;LINK" ${ARGN})
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:test_limit>)
  target_link_libraries(${name} PRIVATE lockstep_flags ${ARG_LINK} GTest::gmock GTest::gtest_main)
  lockstep_use_precompiled(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND setpriv --pdeathsig KILL setsid --wait $<TARGET_FILE:${name}>)
  if(ARG_TAKES)
    set_tests_properties(${name} PROPERTIES COST ${ARG_TAKES})
  endif()
endfunction()

# The command line is started for every word that a person types, so its libraries are linked into it:
# 26 shared ones cost 2.2 of 4.3 ms. Everything else, which runs for days, shares them. The C library
# stays shared (accounts and host names are looked up by its plug-ins).
#
# lockstep_dependency(NAME SHARED target STATIC file.a…): the library lockstep_NAME is SHARED's, and in
# programs with the property LOCKSTEP_STATIC the files.

set(LOCKSTEP_STATIC_LINK ON)
if(LOCKSTEP_SANITIZE OR LOCKSTEP_FUZZ OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(LOCKSTEP_STATIC_LINK OFF)
endif()
# The instances in common/static_link/fmt.cc are those of this version.
if(NOT fmt_VERSION VERSION_GREATER_EQUAL 9 OR NOT fmt_VERSION VERSION_LESS 10)
  set(LOCKSTEP_STATIC_LINK OFF)
endif()

macro(lockstep_find_static)
  foreach(file ${ARGN})
    find_library(LOCKSTEP_FILE_${file} NAMES ${file})
    mark_as_advanced(LOCKSTEP_FILE_${file})
    if(NOT LOCKSTEP_FILE_${file})
      message(STATUS "${file} not found: `lockstep` is linked with shared libraries")
      set(LOCKSTEP_STATIC_LINK OFF)
    endif()
  endforeach()
endmacro()
lockstep_find_static(libcrypto.a libzmq.a libsodium.a libbsd.a libmd.a libprotobuf-lite.a libzstd.a
  libyaml-cpp.a libre2.a)

function(lockstep_dependency name)
  cmake_parse_arguments(ARG "" "SHARED" "STATIC" ${ARGN})
  add_library(lockstep_${name} INTERFACE)
  if(NOT LOCKSTEP_STATIC_LINK)
    target_link_libraries(lockstep_${name} INTERFACE ${ARG_SHARED})
    return()
  endif()
  set(is_static $<BOOL:$<TARGET_PROPERTY:LOCKSTEP_STATIC>>)
  target_link_libraries(lockstep_${name} INTERFACE $<$<NOT:${is_static}>:${ARG_SHARED}>)
  foreach(file ${ARG_STATIC})
    target_link_libraries(lockstep_${name} INTERFACE $<${is_static}:${LOCKSTEP_FILE_${file}}>)
  endforeach()
endfunction()

lockstep_dependency(crypto SHARED OpenSSL::Crypto STATIC libcrypto.a)
lockstep_dependency(zmq SHARED cppzmq STATIC libzmq.a libsodium.a libbsd.a libmd.a)
lockstep_dependency(sodium SHARED PkgConfig::SODIUM STATIC libsodium.a)
lockstep_dependency(protobuf SHARED protobuf::libprotobuf-lite STATIC libprotobuf-lite.a)
lockstep_dependency(zstd SHARED PkgConfig::ZSTD STATIC libzstd.a)
lockstep_dependency(yaml SHARED yaml-cpp STATIC libyaml-cpp.a)
lockstep_dependency(re2 SHARED PkgConfig::RE2 STATIC libre2.a)
lockstep_dependency(fmt SHARED fmt::fmt STATIC)

# lockstep_link_statically(PROGRAM): as above, where the machine has the files.
function(lockstep_link_statically program)
  if(NOT LOCKSTEP_STATIC_LINK)
    return()
  endif()
  set_target_properties(${program} PROPERTIES LOCKSTEP_STATIC ON)
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:common_static_link>)
  target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endfunction()

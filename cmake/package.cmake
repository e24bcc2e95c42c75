# What `cmake --install` adds to the programs, and Debian packages by `cpack -G DEB`: lockstep (command
# line and launcher) and lockstep-node (agent, runner, spawn). docs/decisions/013-packages.md

file(GLOB guides ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${guides} ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep COMPONENT launcher)
# Who builds only the programs installs none of the schemas that the build writes.
install(DIRECTORY docs/schema/ ${PROJECT_BINARY_DIR}/schema/
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep/schema COMPONENT launcher OPTIONAL)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep COMPONENT launcher
  PATTERN CMakeLists.txt EXCLUDE PATTERN .gitignore EXCLUDE PATTERN __pycache__ EXCLUDE)

# Manual pages and the scripts of completion, which the program makes of its verbs. Who builds only
# the programs installs none.
set(manual ${PROJECT_BINARY_DIR}/manual)
set(completion ${PROJECT_BINARY_DIR}/completion)
set(completion_scripts ${completion}/lockstep ${completion}/_lockstep ${completion}/lockstep.fish)
file(MAKE_DIRECTORY ${completion})
add_custom_command(OUTPUT ${manual}/lockstep.1 ${completion_scripts}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND lockstep help --man-pages ${manual}
  COMMAND sh -c "\"$1\" completion bash > lockstep" sh $<TARGET_FILE:lockstep>
  COMMAND sh -c "\"$1\" completion zsh > _lockstep" sh $<TARGET_FILE:lockstep>
  COMMAND sh -c "\"$1\" completion fish > lockstep.fish" sh $<TARGET_FILE:lockstep>
  DEPENDS lockstep WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/completion VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}/lockstep.1 ${completion_scripts})
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT launcher OPTIONAL)
set(shells bash-completion/completions zsh/site-functions fish/vendor_completions.d)
foreach(script folder IN ZIP_LISTS completion_scripts shells)
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder} COMPONENT launcher OPTIONAL)
endforeach()
foreach(package lockstep-node lockstep)
  string(REPLACE lockstep-node node component ${package})
  string(REPLACE lockstep launcher component ${component})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} RENAME copyright
    COMPONENT ${component})
endforeach()

# lockstep_unit(NAME.service ENVIRONMENT-FILE COMPONENT): a systemd unit with the paths of where it is
# installed, which --prefix says only then. /usr has its settings in /etc, any other place in its own.
function(lockstep_unit unit environment component)
  set(package ${PROJECT_SOURCE_DIR}/cmake/package)
  install(CODE "
    set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
    # CPack installs below a directory of its own what will lie in /usr.
    string(REGEX REPLACE \"^.*/_CPack_Packages/.*/usr\$\" \"/usr\" final \"\${prefix}\")
    set(etc \"\${final}/etc\")
    set(etc_here \"\${prefix}/etc\")
    if(final STREQUAL \"/usr\")
      set(etc \"/etc\")
      string(REGEX REPLACE \"/usr\$\" \"/etc\" etc_here \"\${prefix}\")
    endif()
    set(bin \"\${final}/${CMAKE_INSTALL_BINDIR}\")
    set(documents \"\${final}/${CMAKE_INSTALL_DATAROOTDIR}/doc/lockstep\")
    string(REPLACE \" \" \"%%20\" documents \"\${documents}\")  # it becomes a URL
    configure_file(\"${package}/${unit}.in\" \"${CMAKE_BINARY_DIR}/units/${unit}\" @ONLY)
    file(INSTALL \"${CMAKE_BINARY_DIR}/units/${unit}\" DESTINATION \"\${prefix}/lib/systemd/system\")
    file(INSTALL \"${package}/${environment}\" DESTINATION \"\${etc_here}/lockstep\")
  " COMPONENT ${component})
endfunction()
lockstep_unit(lockstepd.service lockstepd.env launcher)
lockstep_unit(lockstep-agent.service agent.env node)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR Lockstep)
set(CPACK_PACKAGE_CONTACT "Lockstep <lockstep@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL launcher node)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LAUNCHER_PACKAGE_NAME lockstep)
set(CPACK_DEBIAN_LAUNCHER_DESCRIPTION "distributed training jobs on machines you have: launcher
The command line, and the launcher with its queue, nodes and logs. 'lockstep up' starts both for
the person who calls it; lockstepd.service is a launcher for several machines.")
set(CPACK_DEBIAN_LAUNCHER_PACKAGE_DEPENDS "lockstep-node (= ${PROJECT_VERSION}), passwd, tzdata")
set(CPACK_DEBIAN_LAUNCHER_PACKAGE_RECOMMENDS "openssh-client")  # machines attached over ssh
set(CPACK_DEBIAN_NODE_PACKAGE_NAME lockstep-node)
# For jobs' environments (venv) where uv is not on PATH; for the stacks of their native code.
set(CPACK_DEBIAN_NODE_PACKAGE_RECOMMENDS "python3-venv, python3-pip, elfutils")
set(CPACK_DEBIAN_NODE_PACKAGE_SUGGESTS "openmpi-bin, python3-torch")  # jobs bring what they need
set(CPACK_DEBIAN_NODE_DESCRIPTION "distributed training jobs on machines you have: node
The agent that runs a launcher's jobs on this machine, and what it starts.")
foreach(component LAUNCHER NODE)
  string(TOLOWER ${component} folder)
  set(control)
  foreach(file conffiles postinst postrm prerm)
    list(APPEND control ${PROJECT_SOURCE_DIR}/cmake/package/${folder}/${file})
  endforeach()
  set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA "${control}")
endforeach()
include(CPack)

# Runs packaging/vcpkg/weft/portfile.cmake with stand-ins for the functions of vcpkg, written
# after their documentation. It shows that the port asks for the right things; that vcpkg itself
# accepts it, only vcpkg can show.
#
# Arguments: PACKAGES, the folder that vcpkg would make a package of; BUILD; PORT_FOLDER.

cmake_minimum_required(VERSION 3.22)
set(CURRENT_PACKAGES_DIR ${PACKAGES})
set(PORT weft)
set(FEATURES core)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(arg "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  list(GET arg_FEATURES 0 feature)
  list(GET arg_FEATURES 1 variable)
  set(value OFF)
  if(feature IN_LIST FEATURES)
    set(value ON)
  endif()
  set(${arg_OUT_FEATURE_OPTIONS} "-D${variable}=${value}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${BUILD} -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${BUILD} --parallel)
  run(${CMAKE_COMMAND} --install ${BUILD})
endfunction()

# vcpkg moves the files to share/ and changes the way from them to the prefix.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "CONFIG_PATH" "" ${ARGN})
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/weftConfig.cmake)
    message(FATAL_ERROR "no CMake package in ${arg_CONFIG_PATH}")
  endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
  file(READ ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/weft.pc text)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/weft/copyright COPYONLY)
endfunction()

# The port finds its sources from its own folder.
include(${PORT_FOLDER}/portfile.cmake)

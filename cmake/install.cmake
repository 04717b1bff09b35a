# Installs headers, both libraries, the CMake package and the pkg-config file.

include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS weft_static weft_shared EXPORT weftTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}) # a DLL

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${weft_package_dir})
configure_package_config_file(cmake/weftConfig.cmake.in
  ${PROJECT_BINARY_DIR}/weftConfig.cmake INSTALL_DESTINATION ${weft_package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface; a patch may not.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake
              ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
        DESTINATION ${weft_package_dir})

# The pkg-config file names the prefix, which `cmake --install --prefix` may still change. So
# it is written during the installation.
install(CODE "
  set(weft_libdir \"${CMAKE_INSTALL_LIBDIR}\")
  set(weft_includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(weft_version \"${PROJECT_VERSION}\")
  set(weft_description \"${PROJECT_DESCRIPTION}\")
  set(weft_private_libraries \"$<IF:$<BOOL:${WIN32}>,-lsynchronization,-pthread>\")
  get_filename_component(weft_prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  cmake_path(ABSOLUTE_PATH weft_libdir BASE_DIRECTORY \"\\\${prefix}\")
  cmake_path(ABSOLUTE_PATH weft_includedir BASE_DIRECTORY \"\\\${prefix}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/weft.pc.in\" \"${PROJECT_BINARY_DIR}/weft.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

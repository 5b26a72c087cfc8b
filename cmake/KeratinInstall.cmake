# `cmake --install`: the library, the headers that keratin.h reaches, and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/keratin)
install(TARGETS keratin EXPORT keratinTargets)
install(EXPORT keratinTargets NAMESPACE keratin:: DESTINATION ${package_dir})

configure_package_config_file(cmake/keratinConfig.cmake.in keratinConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(keratinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/keratinConfig.cmake
        ${PROJECT_BINARY_DIR}/keratinConfigVersion.cmake DESTINATION ${package_dir})

# The headers are found at install time, so that editing one needs no new configuration.
install(CODE "set(source_dir \"${PROJECT_SOURCE_DIR}\")
set(include_dir \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/InstallHeaders.cmake)

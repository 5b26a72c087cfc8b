# Xbyak, a header-only assembler for x86-64, as Xbyak::xbyak.
find_path(Xbyak_INCLUDE_DIR xbyak/xbyak.h)
mark_as_advanced(Xbyak_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Xbyak REQUIRED_VARS Xbyak_INCLUDE_DIR)

if(Xbyak_FOUND AND NOT TARGET Xbyak::xbyak)
  add_library(Xbyak::xbyak INTERFACE IMPORTED)
  set_target_properties(Xbyak::xbyak PROPERTIES
                        INTERFACE_INCLUDE_DIRECTORIES ${Xbyak_INCLUDE_DIR})
endif()

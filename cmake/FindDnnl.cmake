# oneDNN as Dnnl::dnnl. The package's own CMake file asks for OpenCL, which we do not use.
find_path(Dnnl_INCLUDE_DIR dnnl.hpp)
find_library(Dnnl_LIBRARY dnnl)
mark_as_advanced(Dnnl_INCLUDE_DIR Dnnl_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dnnl REQUIRED_VARS Dnnl_LIBRARY Dnnl_INCLUDE_DIR)

if(Dnnl_FOUND AND NOT TARGET Dnnl::dnnl)
  add_library(Dnnl::dnnl UNKNOWN IMPORTED)
  set_target_properties(Dnnl::dnnl PROPERTIES IMPORTED_LOCATION ${Dnnl_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${Dnnl_INCLUDE_DIR})
endif()

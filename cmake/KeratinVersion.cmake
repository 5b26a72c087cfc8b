# The version is written once, in keratin/base/version.cpp; this reads it into KERATIN_VERSION.
set(keratin_version_file ${CMAKE_CURRENT_SOURCE_DIR}/keratin/base/version.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${keratin_version_file})
file(STRINGS ${keratin_version_file} keratin_version_line REGEX "\"[0-9]+\\.[0-9]+\\.[0-9]+\"")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" KERATIN_VERSION "${keratin_version_line}")

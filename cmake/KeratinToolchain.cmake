# Language level, warnings, sanitizers, visibility and the compiler cache of all targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# The same objects are used by the shared library, the static library and the tests.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# KERATIN_API (keratin/base/export.h) marks exported symbols.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(KERATIN_CCACHE ccache)
if(KERATIN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KERATIN_CCACHE})
endif()

# Designated initialisers are keyword arguments: a missing field has its default.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports members of empty optionals, and initialised variables of instrumented code.
  add_compile_options(-Wno-maybe-uninitialized)
else()
  # Kernels use & on vectors and bools alike, and attributes and pragmas that only g++ knows.
  add_compile_options(-Wno-bitwise-instead-of-logical -Wno-ignored-attributes
                      -Wno-unknown-warning-option)
endif()
if(KERATIN_WERROR)
  add_compile_options(-Werror)
endif()

if(KERATIN_SANITIZE)
  add_compile_options(-fsanitize=${KERATIN_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KERATIN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND KERATIN_SANITIZE MATCHES "address")
    add_compile_definitions(__SANITIZE_ADDRESS__)  # g++ defines it itself
  endif()
endif()

if(KERATIN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# keratin_library(<name> [DEPENDS <folder>...] [LINK <target>...] [LABELS <label>...]
#                 [LEVELS <subfolder>] [TESTING] [TESTS_ALONE] [NO_LOOPS])
#
# Adds a folder of the library. Its *.cpp, except tests, become the object library keratin_<name>;
# *_test.cpp become keratin_<name>_test, and *_threads_test.cpp, which the thread sanitizer runs too,
# become keratin_<name>_threads_test.
#   DEPENDS      the folders that it uses; tests link these and their dependencies
#   LINK         private third-party targets
#   LABELS       labels of its tests, besides unit
#   LEVELS       a subfolder that is compiled once per x86-64 level, see keratin_levels
#   TESTING      the folder is for tests, and not part of the library
#   TESTS_ALONE  its tests do not use keratin/testing, so they build without the whole library
#   NO_LOOPS     it makes programs and configs, and computes nothing itself: -O1 is as fast to run, and
#                takes a third less time to compile
#
# CMake does not pass objects from target to target, as it does archives. So folders are recorded
# here, and linked by keratin_link_all, keratin_link and keratin_add_tests.
function(keratin_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTING;TESTS_ALONE;NO_LOOPS" "LEVELS"
                        "DEPENDS;LINK;LABELS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(threads_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_threads_test\\.cpp$")
  list(FILTER threads_tests INCLUDE REGEX "_threads_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")

  set(level_objects)
  if(arg_LEVELS)
    set(level_sources ${sources})
    list(FILTER level_sources INCLUDE REGEX "/${arg_LEVELS}/[^/]*\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "/${arg_LEVELS}/[^/]*\\.cpp$")
    keratin_levels(${name} level_objects ${level_sources})
  endif()

  set(objects)
  if(sources)
    set(objects keratin_${name})
    add_library(${objects} OBJECT ${sources})
    # Headers are a quarter of the work of compiling; a larger batch parses them less often.
    set_target_properties(${objects} PROPERTIES UNITY_BUILD ${KERATIN_UNITY}
                          UNITY_BUILD_BATCH_SIZE 16)
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${objects} PRIVATE $<$<PLATFORM_ID:Windows>:KERATIN_BUILDING>)
    target_link_libraries(${objects} PRIVATE ${arg_LINK})
    if(arg_NO_LOOPS AND NOT KERATIN_SANITIZE)
      target_compile_options(${objects} PRIVATE -O1)
    endif()
  endif()

  foreach(fact IN ITEMS DEPENDS LINK LABELS TESTS_ALONE)
    set_property(GLOBAL PROPERTY KERATIN_${name}_${fact} ${arg_${fact}})
  endforeach()
  foreach(fact IN ITEMS objects level_objects tests threads_tests)
    set_property(GLOBAL PROPERTY KERATIN_${name}_${fact} ${${fact}})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY KERATIN_FOLDERS ${name})
  if(NOT arg_TESTING)
    set_property(GLOBAL APPEND PROPERTY KERATIN_PRODUCT ${name})
  endif()
endfunction()

# Compiles the sources once per x86-64 level; each file puts its contents in the namespace
# keratin::cpu::KERATIN_LEVEL, so that all copies can be linked, and one is chosen at start.
function(keratin_levels name out)
  set(targets)
  if(ARGN)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      set(levels v2 v3 v4)
    else()
      set(levels portable)
    endif()
    foreach(level IN LISTS levels)
      set(target keratin_${name}_${level})
      add_library(${target} OBJECT ${ARGN})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ${KERATIN_UNITY})
      target_compile_definitions(${target} PRIVATE KERATIN_LEVEL=${level})
      target_compile_options(${target} PRIVATE -fopenmp-simd -fno-math-errno
                             -fno-trapping-math -ffp-contract=off)
      if(NOT KERATIN_SANITIZE)
        target_compile_options(${target} PRIVATE -O3)  # with sanitizers this takes minutes, and finds nothing more
      endif()
      if(NOT level STREQUAL "portable")
        target_compile_options(${target} PRIVATE -march=x86-64-${level})
      endif()
      list(APPEND targets ${target})
    endforeach()
  endif()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# Links the objects of the given folders, and of all they depend on, into a target. Level objects go
# last, lowest level first: the linker keeps the first copy of an inline function, and portable code
# must not get a copy that was compiled for a newer CPU.
function(keratin_link target)
  set(todo ${ARGN})
  set(done)
  while(todo)
    list(POP_FRONT todo name)
    if(NOT name IN_LIST done)
      list(APPEND done ${name})
      get_property(depends GLOBAL PROPERTY KERATIN_${name}_DEPENDS)
      list(APPEND todo ${depends})
    endif()
  endwhile()
  foreach(kind IN ITEMS objects level_objects)
    foreach(name IN LISTS done)
      get_property(items GLOBAL PROPERTY KERATIN_${name}_${kind})
      foreach(item IN LISTS items)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${item}>)
      endforeach()
    endforeach()
  endforeach()
  foreach(name IN LISTS done)
    get_property(items GLOBAL PROPERTY KERATIN_${name}_LINK)
    target_link_libraries(${target} PRIVATE ${items})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

# The same for every folder of the library.
function(keratin_link_all target)
  get_property(folders GLOBAL PROPERTY KERATIN_PRODUCT)
  keratin_link(${target} ${folders})
endfunction()

# The test executables of all folders; called last, when every folder is known.
function(keratin_add_tests)
  get_property(folders GLOBAL PROPERTY KERATIN_FOLDERS)
  foreach(name IN LISTS folders)
    get_property(alone GLOBAL PROPERTY KERATIN_${name}_TESTS_ALONE)
    set(links ${name})
    if(NOT alone)
      list(APPEND links testing)
    endif()
    get_property(tests GLOBAL PROPERTY KERATIN_${name}_tests)
    get_property(own_labels GLOBAL PROPERTY KERATIN_${name}_LABELS)
    set(labels unit ${own_labels})
    if(name IN_LIST KERATIN_GPU_FOLDERS)
      list(APPEND labels gpu)
    endif()
    keratin_test(keratin_${name}_test SOURCES ${tests} FOLDERS ${links} LABELS ${labels})
    get_property(tests GLOBAL PROPERTY KERATIN_${name}_threads_tests)
    keratin_test(keratin_${name}_threads_test SOURCES ${tests} FOLDERS ${links}
                 LABELS unit ${own_labels} threads)
  endforeach()
endfunction()

# keratin_test(<target> SOURCES <file>... FOLDERS <folder>... LABELS <label>...
#              [ENVIRONMENT <name=value>...])
#
# One GoogleTest program, and a ctest entry for each of its suites: suite Dense of the program
# keratin_layers_test is layers/Dense. The target <label>_tests builds every test with that label.
# Nothing if there are no sources.
function(keratin_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FOLDERS;LABELS;ENVIRONMENT")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${target} ${arg_SOURCES})
  keratin_link(${target} ${arg_FOLDERS})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  # Golden files are read from the source tree.
  target_compile_definitions(${target} PRIVATE KERATIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Tests have no hot loops, so they are built with little optimisation, several files at a time.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KERATIN_UNITY})
  if(KERATIN_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
  set(environment ${arg_ENVIRONMENT})
  if(NOT gpu IN_LIST arg_LABELS AND NOT simulated IN_LIST arg_LABELS)
    list(APPEND environment CUDA_VISIBLE_DEVICES=)  # the same tests on every machine
  endif()
  string(REGEX REPLACE "^keratin_|_(test|suite)$" "" name ${target})
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${suites} CONTENT "set(name ${name})
set(program [[$<TARGET_FILE:${target}>]])
set(labels \"${arg_LABELS}\")
set(environment \"${environment}\")
set(scratch [[${PROJECT_BINARY_DIR}/Testing/files]])
include([[${PROJECT_SOURCE_DIR}/cmake/ListSuites.cmake]])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
  foreach(label IN LISTS arg_LABELS)
    add_dependencies(${label}_tests ${target})
  endforeach()
endfunction()

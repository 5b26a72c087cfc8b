# ctest runs this script for each test program, from a file that keratin_test writes. It adds a ctest
# entry per GoogleTest suite of ${program}, named ${name}/<Suite>. The suites are listed by the program
# when ctest starts, which takes milliseconds, so no suite can be forgotten.
#   name program labels environment   of the test program
#   scratch                           a folder for files; each suite gets a folder in it
cmake_minimum_required(VERSION 3.25)  # a script of its own: it does not inherit policies

if(NOT EXISTS "${program}")
  get_filename_component(target "${program}" NAME)
  set(name "${name}: the target ${target} is not built")
  add_test("${name}" "${CMAKE_COMMAND}" -E false)
  set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
  return()
endif()

execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listing
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} --gtest_list_tests ends with ${result}")
endif()

# A line without indent is "Suite.", "Instantiation/Suite." or "Suite/0.  # TypeParam = float".
string(REPLACE ";" "," listing "${listing}")
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." lines "\n${listing}")
set(suites)
foreach(line IN LISTS lines)
  string(STRIP "${line}" full)
  string(REGEX REPLACE "\\.$" "" suite "${full}")
  string(REGEX REPLACE "/[0-9]+$" "" suite "${suite}")
  string(REGEX REPLACE "^.*/" "" suite "${suite}")
  list(APPEND suites ${suite})
  list(APPEND filter_${suite} "${full}*")
endforeach()
list(REMOVE_DUPLICATES suites)

foreach(suite IN LISTS suites)
  set(folder ${scratch}/${name}/${suite})
  file(MAKE_DIRECTORY ${folder})
  list(JOIN filter_${suite} ":" filter)
  unset(filter_${suite})
  add_test("${name}/${suite}" "${program}" --gtest_brief=1 "--gtest_filter=${filter}")
  set_tests_properties("${name}/${suite}" PROPERTIES LABELS "${labels}" TIMEOUT 600
                       ENVIRONMENT "${environment};TMPDIR=${folder};TEST_TMPDIR=${folder}")
endforeach()

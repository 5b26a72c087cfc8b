# Installs ${BUILD} into a scratch prefix, then configures, builds and runs ${SOURCE} against it.
cmake_minimum_required(VERSION 3.25)
set(scratch ${BUILD}/tests/consumer)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(flags)
if(SANITIZE)
  set(flags -fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${scratch}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${scratch}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=${flags} -DVERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${scratch}/build)

function(expect_version)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${scratch}/build OUTPUT_VARIABLE output
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "keratin ${VERSION}\n")
    message(FATAL_ERROR "${ARGN}: expected 'keratin ${VERSION}', got '${output}'")
  endif()
endfunction()
expect_version(${scratch}/build/consumer)

# The program finds its library, and its texts are beside it.
expect_version(${scratch}/prefix/bin/keratin --version)
foreach(text IN ITEMS man/man1/keratin.1 bash-completion/completions/keratin
        fish/vendor_completions.d/keratin.fish)
  if(NOT EXISTS ${scratch}/prefix/share/${text})
    message(FATAL_ERROR "share/${text} was not installed")
  endif()
endforeach()

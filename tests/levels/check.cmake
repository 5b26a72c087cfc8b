# Fails when the objects of an x86-64 level offer an inline function that code for a plainer machine
# could end up with: of equal copies the linker keeps one, and it may be the one with the
# instructions that the machine lacks. Functions in the level's own namespace are its own affair.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${NM} --demangle ${OBJECTS} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* W [^\n]*" shared "${symbols}")
list(FILTER shared EXCLUDE REGEX "::${LEVEL}::")
if(shared)
  list(JOIN shared "\n" shared)
  message(FATAL_ERROR "level ${LEVEL}: functions that other code may pick up; "
                      "force them inline, or move them into the level's namespace:\n${shared}")
endif()

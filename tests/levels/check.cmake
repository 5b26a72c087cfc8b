# Fails if the objects of an x86-64 level define an inline function outside of the level's namespace.
# The linker keeps one of several equal copies, so portable code could get the copy with instructions
# that the machine lacks.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${NM} --demangle ${OBJECTS} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* W [^\n]*" shared "${symbols}")
list(FILTER shared EXCLUDE REGEX "::${LEVEL}::")
if(shared)
  list(JOIN shared "\n" shared)
  message(FATAL_ERROR "level ${LEVEL}: the linker may use these functions in portable code; "
                      "force them inline, or move them into the level's namespace:\n${shared}")
endif()

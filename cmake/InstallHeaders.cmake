# Installs keratin/keratin.h and every header of ours that it reaches from ${source_dir}.
cmake_minimum_required(VERSION 3.25)  # a script of its own: it does not inherit policies

set(todo keratin/keratin.h)
set(done)
while(todo)
  list(POP_FRONT todo header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done ${header})
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${source_dir}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/${include_dir}/${folder})
  file(STRINGS ${source_dir}/${header} lines REGEX "^#include \"keratin/")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "keratin/[^\"]+" reached "${line}")
    list(APPEND todo ${reached})
  endforeach()
endwhile()

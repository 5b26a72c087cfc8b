# Writes ${output}: the C++ strings of keratin/backend/cuda/texts.h, from ${inputs}, a list of
# name=file. A string literal has a limit; longer texts are several, one after the other.
cmake_minimum_required(VERSION 3.25)  # a script of its own: it does not inherit policies

set(code "#include \"keratin/backend/cuda/texts.h\"\n\nnamespace keratin::cuda::texts {\n")
foreach(input IN LISTS inputs)
  string(REGEX MATCH "^([a-z]+)=(.*)$" matched "${input}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} text)
  string(APPEND code "\nconst char* const ${name} =")
  string(LENGTH "${text}" length)
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 8000 piece)
    string(APPEND code "\n    R\"keratin(${piece})keratin\"")
    math(EXPR start "${start} + 8000")
  endwhile()
  string(APPEND code ";\n")
endforeach()
file(WRITE ${output} "${code}\n}  // namespace keratin::cuda::texts\n")

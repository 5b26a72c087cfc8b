# Writes ${output}: device_sources() of keratin/backend/cuda/device_sources.h, from ${files}, a list
# of paths below ${root}. A string literal has a limit; longer files become several literals.
cmake_minimum_required(VERSION 3.25)  # a script of its own: it does not inherit policies

set(literals)
set(table)
set(count 0)
foreach(file IN LISTS files)
  file(READ ${root}/${file} text)
  string(APPEND literals "constexpr const char* file${count} =")
  string(LENGTH "${text}" length)
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 8000 piece)
    string(APPEND literals "\n    R\"keratin(${piece})keratin\"")
    math(EXPR start "${start} + 8000")
  endwhile()
  string(APPEND literals ";\n")
  string(APPEND table "      {\"${file}\", file${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${output} "#include \"keratin/backend/cuda/device_sources.h\"

namespace keratin::cuda {

namespace {

${literals}
}  // namespace

std::span<const DeviceSource> device_sources() {
  static constexpr DeviceSource all[] = {
${table}  };
  return all;
}

}  // namespace keratin::cuda
")

// The functions of NVRTC that Keratin uses: sources are compiled by the compiler of the host, for
// the simulated GPU. See README.md.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "image.h"
#include "mode.h"
#include "rewrite.h"

#pragma GCC visibility push(default)

namespace {

using namespace keratin::simulator;
namespace fs = std::filesystem;

constexpr int success = 0, invalid_input = 3, compilation_failed = 6;

// As NVRTC is called: no fused multiply-add. Memory is looked at as other types.
const std::string& options() {
  static const std::string all =
      " -x c++ -std=c++20 -O1 -w -fPIC -shared -nostdlib -fno-exceptions -fno-rtti "
      "-ffp-contract=off"
      " -fno-math-errno -fno-strict-aliasing -fno-threadsafe-statics "
      "-fno-asynchronous-unwind-tables"
      " -fvisibility=hidden -include " KERATIN_SIMULATOR_DIR "/device.h" +
      std::string(is_set("checked") ? " -fsanitize=thread" : "");
  return all;
}

struct Program {
  std::string source;
  std::vector<std::pair<std::string, std::string>> headers;  // name, code
  std::string log, code;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void store(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A folder that is gone at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = fs::temp_directory_path() / "keratin-kernel-XXXXXX";
    path = mkdtemp(name.data()) != nullptr ? name : "";
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

// "--gpu-architecture=sm_90" is 900.
std::string architecture_of(int count, const char* const* arguments) {
  const std::string wanted = "--gpu-architecture=sm_";
  for (int i = 0; i < count; ++i)
    if (std::string(arguments[i]).starts_with(wanted))
      return std::string(arguments[i]).substr(wanted.size()) + "0";
  return "";
}

int compile(Program& program, const std::string& architecture) {
  const Folder folder;
  if (folder.path.empty() || architecture.empty()) return invalid_input;
  for (const auto& [name, text] : program.headers) store(folder.path / name, as_cpp(text));
  store(folder.path / "kernel.cu", as_cpp(program.source) + module_of(program.source));
  const std::string at = folder.path.string();
  const std::string command = KERATIN_SIMULATOR_COMPILER + options() + " -I " + at +
                              " -D__CUDA_ARCH__=" + architecture + " " + at + "/kernel.cu -o " +
                              at + "/kernel.so 2>" + at + "/log";
  const bool compiled = std::system(command.c_str()) == 0;
  program.log = contents(folder.path / "log");
  if (!compiled) return compilation_failed;
  const std::string code = contents(folder.path / "kernel.so");
  const ImageHeader header{.bytes = code.size()};
  program.code.assign(reinterpret_cast<const char*>(&header), sizeof header);
  program.code += code;
  return success;
}

}  // namespace

extern "C" {

// Programs keep what was compiled by the version that compiled it: what comes before every source
// counts for that.
int nvrtcVersion(int* major, int* minor) {
  uint32_t hash = 2166136261U;
  for (const char* name : {"device.h", "runtime.h"})
    for (const char c : contents(fs::path(KERATIN_SIMULATOR_DIR) / name) + options())
      hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  *major = 0;
  *minor = static_cast<int>(hash >> 1);
  return success;
}

const char* nvrtcGetErrorString(int result) {
  return result == success              ? "NVRTC_SUCCESS"
         : result == compilation_failed ? "NVRTC_ERROR_COMPILATION"
                                        : "NVRTC_ERROR_INVALID_INPUT";
}

int nvrtcCreateProgram(Program** program, const char* source, const char*, int count,
                       const char* const* sources, const char* const* names) {
  *program = new Program{source, {}, {}, {}};
  for (int i = 0; i < count; ++i) (*program)->headers.emplace_back(names[i], sources[i]);
  return success;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return success;
}

int nvrtcCompileProgram(Program* program, int count, const char* const* arguments) {
  return compile(*program, architecture_of(count, arguments));
}

int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return success;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return success;
}
int nvrtcGetCUBINSize(Program* program, size_t* size) {
  *size = program->code.size();
  return success;
}
int nvrtcGetCUBIN(Program* program, char* code) {
  std::copy(program->code.begin(), program->code.end(), code);
  return success;
}

}  // extern "C"
#pragma GCC visibility pop

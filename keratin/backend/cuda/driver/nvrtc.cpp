#include "keratin/backend/cuda/driver/nvrtc.h"

#include <algorithm>
#include <vector>

#include "keratin/backend/cuda/device_sources.h"
#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

struct Program_;
using Program = Program_*;

// NVRTC's functions, as they are called.
struct Nvrtc {
  int (*create)(Program*, const char* source, const char* name, int headers,
                const char* const* codes, const char* const* names);
  int (*destroy)(Program*);
  int (*compile)(Program, int count, const char* const* options);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, size_t*);
  int (*code)(Program, char*);
  const char* (*error_string)(int);
  int (*version)(int* major, int* minor);
};

Nvrtc open_nvrtc() {
  const Library library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  Nvrtc n{};
  library.find(n.create, "nvrtcCreateProgram");
  library.find(n.destroy, "nvrtcDestroyProgram");
  library.find(n.compile, "nvrtcCompileProgram");
  library.find(n.log_size, "nvrtcGetProgramLogSize");
  library.find(n.log, "nvrtcGetProgramLog");
  library.find(n.code_size, "nvrtcGetCUBINSize");
  library.find(n.code, "nvrtcGetCUBIN");
  library.find(n.error_string, "nvrtcGetErrorString");
  library.find(n.version, "nvrtcVersion");
  return n;
}

const Nvrtc& nvrtc() {
  static const Nvrtc table = open_nvrtc();
  return table;
}

void check_nvrtc(int result, const char* what) {
  if (result != 0) throw BackendError(text("cuda: ", what, ": ", nvrtc().error_string(result)));
}

// The headers that NVRTC finds. Those of the standard library are empty, since standard.cu, which
// is in front of every kernel, has what is needed of them.
std::vector<DeviceSource> headers() {
  const auto files = device_sources();
  std::vector<DeviceSource> all(files.begin(), files.end());
  for (const char* path : {"cmath", "cstdint", "limits", "type_traits"}) all.push_back({path, ""});
  return all;
}

const char* device_source(std::string_view path) {
  for (const DeviceSource& file : device_sources())
    if (file.path == path) return file.code;
  throw InternalError(text("cuda: no device code is called ", path));
}

std::string whole(const std::string& source) {
  return text(device_source("keratin/backend/cuda/kernels/standard.cu"),
              device_source("keratin/backend/cuda/kernels/prelude.cu"), source);
}

// The code and, after it, all headers that it includes, directly or not.
std::string with_headers(std::string all) {
  auto left = headers();
  const auto is_named = [&](const auto& header) {
    return all.find(header.path) != std::string::npos;
  };
  auto next = left.begin();
  while ((next = std::find_if(left.begin(), left.end(), is_named)) != left.end()) {
    all += text(next->path, "\n", next->code);
    left.erase(next);
  }
  return all;
}

// No fused multiply-add across operations: sums and products round as on the CPU.
std::vector<std::string> options(const std::string& chip) {
  return {"--gpu-architecture=" + chip, "--std=c++20", "-default-device", "--fmad=false"};
}

}  // namespace

bool can_compile(std::string* reason) {
  try {
    nvrtc();
    return true;
  } catch (const BackendError& error) {
    if (reason != nullptr) *reason = error.what();
    return false;
  }
}

std::string compiler_input(const std::string& source, const std::string& chip) {
  int major = 0, minor = 0;
  check_nvrtc(nvrtc().version(&major, &minor), "nvrtcVersion");
  std::string all = text("NVRTC ", major, ".", minor, "\n");
  for (const std::string& option : options(chip)) all += option + "\n";
  return all + with_headers(whole(source));
}

std::string compile(const std::string& source, const std::string& chip) {
  std::vector<const char*> names, bodies;
  for (const DeviceSource& header : headers()) {
    names.push_back(header.path);
    bodies.push_back(header.code);
  }
  Program program = nullptr;
  check_nvrtc(nvrtc().create(&program, whole(source).c_str(), "kernel.cu",
                             static_cast<int>(names.size()), bodies.data(), names.data()),
              "nvrtcCreateProgram");
  const std::vector<std::string> chosen = options(chip);
  std::vector<const char*> arguments;
  for (const std::string& option : chosen) arguments.push_back(option.c_str());
  const int result = nvrtc().compile(program, static_cast<int>(arguments.size()), arguments.data());
  std::string output;
  size_t size = 0;
  if (result != 0) {
    check_nvrtc(nvrtc().log_size(program, &size), "nvrtcGetProgramLogSize");
    output.resize(size);
    check_nvrtc(nvrtc().log(program, output.data()), "nvrtcGetProgramLog");
    nvrtc().destroy(&program);
    throw BackendError(text("cuda: a kernel does not compile:\n", output, "\n", source));
  }
  check_nvrtc(nvrtc().code_size(program, &size), "nvrtcGetCUBINSize");
  output.resize(size);
  check_nvrtc(nvrtc().code(program, output.data()), "nvrtcGetCUBIN");
  nvrtc().destroy(&program);
  return output;
}

}  // namespace keratin::cuda

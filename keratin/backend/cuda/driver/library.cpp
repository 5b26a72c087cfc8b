#include "keratin/backend/cuda/driver/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>

#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

std::vector<std::string> folders() {
  std::vector<std::string> all = {""};
  if (const char* path = std::getenv("KERATIN_CUDA_PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) all.push_back(folder + "/");
  }
  all.emplace_back("/usr/local/cuda/lib64/");
  return all;
}

}  // namespace

Library::Library(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const std::string& folder : folders())
      if ((handle_ = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) != nullptr) {
        name_ = folder + name;
        return;
      }
  throw BackendError(text("cuda: ", names.front(), " was not found"));
}

void* Library::address(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) throw BackendError(text("cuda: ", name_, " has no function ", name));
  return found;
}

}  // namespace keratin::cuda

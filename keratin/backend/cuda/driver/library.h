#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keratin::cuda {

// A shared library, opened at run time and never closed.
class Library {
 public:
  // The first of the names that can be opened: where the loader looks, in the folders of
  // KERATIN_CUDA_PATH, in CUDA's usual one. BackendError when there is none.
  explicit Library(const std::vector<std::string>& names);

  // BackendError when the library has no such function.
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace keratin::cuda

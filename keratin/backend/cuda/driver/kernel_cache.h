#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace keratin::cuda {

// Compiled kernels in files, so that only the first program on a machine waits for the compiler. A
// damaged file, or one of another source, is ignored, and so is a folder that cannot be written: a
// cache never fails.
class KernelCache {
 public:
  // Keeps nothing if the path is empty.
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // In KERATIN_CACHE, which may be empty, or else in the user's cache folder.
  static const KernelCache& of_user();

  bool keeps() const { return !folder_.empty(); }

  // The code kept under `key`, which says all that the code depends on, or else what `compile`
  // makes.
  std::string find(const std::string& key, const std::function<std::string()>& compile) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path folder_;
};

}  // namespace keratin::cuda

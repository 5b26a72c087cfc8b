#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace keratin::cuda {

// Compiled kernels in files, so that only the first program on a machine waits for the compiler. A
// file that is damaged or of another text counts as none, and a folder that cannot be written as
// full: a cache never fails.
class KernelCache {
 public:
  // An empty path: nothing is kept.
  explicit KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // In KERATIN_CACHE, which may be empty; else in the user's folder for such files.
  static const KernelCache& of_user();

  bool keeps() const { return !folder_.empty(); }

  // What was kept for all that decides about the code, or else what `compile` makes.
  std::string find(const std::string& key, const std::function<std::string()>& compile) const;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path folder_;
};

}  // namespace keratin::cuda

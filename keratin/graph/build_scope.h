#pragma once

#include <string>

namespace keratin {

class Layer;

// While it lives, weights that this thread makes have the layer's name in their paths. Scopes are a
// stack of the thread: "encoder/dense/kernel" is made inside two of them.
class BuildScope {
 public:
  explicit BuildScope(const Layer& layer);
  ~BuildScope();
  BuildScope(const BuildScope&) = delete;
  BuildScope& operator=(const BuildScope&) = delete;

  // The path of a weight that is made now.
  static std::string path_of(const std::string& weight);
};

}  // namespace keratin

#pragma once

#include <unordered_map>

#include "keratin/distribute/distribution.h"
#include "keratin/graph/output_scope.h"

namespace keratin::distribute {

// While it lives, a model's replicas are written as the distribution says: what a layer gives is
// laid out by its path, "encoder/dense/output", and `distribute_tensor` takes the batch for split.
class OutputLayouts {
 public:
  OutputLayouts(const Layer& model, const Distribution& distribution);
  ~OutputLayouts();
  OutputLayouts(const OutputLayouts&) = delete;
  OutputLayouts& operator=(const OutputLayouts&) = delete;

 private:
  void add_paths(const Layer& layer, const std::string& scope);

  std::unordered_map<const Layer*, std::string> paths_;
  const Distribution* outer_;
  OutputScope outputs_;
};

}  // namespace keratin::distribute

#pragma once

#include <unordered_map>

#include "keratin/distribute/distribution.h"
#include "keratin/graph/layer.h"
#include "keratin/graph/output_scope.h"

namespace keratin::distribute {

// While it lives, this thread writes a model's replicas as the distribution says: outputs of layers
// get layouts by their paths, such as "encoder/dense/output", and `distribute_tensor` leaves the
// samples with their replica.
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

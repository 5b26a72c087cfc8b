#include "workload.h"

namespace keratin::bench {

using namespace layers;

// 784-512-512-10, batch 128.
Workload mlp(const DTypePolicy& policy) {
  const LayerOptions by{.dtype = policy};
  return {"mlp",
          Sequential({Dense({.units = 512, .activation = "relu"}, by),
                      Dense({.units = 512, .activation = "relu"}, by), Dense({.units = 10}, by)}),
          classes_of_logits(),
          random(DType::f32, {128, 784}),
          random(DType::i32, {128}, 10),
          random(DType::f32, {1, 784})};
}

}  // namespace keratin::bench

#include "workload.h"

namespace keratin::bench {

using namespace layers;

// The convnet for MNIST, batch 128.
Workload convnet(const DTypePolicy& policy) {
  const LayerOptions by{.dtype = policy};
  return {"convnet",
          Sequential({Conv2D({.filters = 32, .kernel_size = {3, 3}, .activation = "relu"}, by),
                      MaxPooling2D({.pool_size = {2, 2}}, by),
                      Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = "relu"}, by),
                      MaxPooling2D({.pool_size = {2, 2}}, by), Flatten({}, by),
                      Dropout({.rate = 0.5}, by), Dense({.units = 10}, by)}),
          classes_of_logits(),
          random(DType::f32, {128, 28, 28, 1}),
          random(DType::i32, {128}, 10),
          random(DType::f32, {1, 28, 28, 1})};
}

}  // namespace keratin::bench

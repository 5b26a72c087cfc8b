#pragma once

#include "keratin/keratin.h"

// The models that are measured, one file each; torch_models.py has the same for PyTorch.
namespace keratin::bench {

// A model with a batch to train on, and one sample to predict.
struct Workload {
  std::string name;
  Model model;
  Loss loss;
  Tensor x, y;
  Tensor one;
  int runs = 500;  // steps that the median is taken of
};

// All layers compute by the policy: float32 or mixed_bfloat16.
Workload mlp(const DTypePolicy& policy);
Workload convnet(const DTypePolicy& policy);
Workload lstm(const DTypePolicy& policy);
Workload bert(const DTypePolicy& policy);
Workload resnet50(const DTypePolicy& policy);

// Numbers in [0, 1), or integers below `below`; always the same.
Tensor random(DType dtype, const Shape& shape, int64_t below = 0);
Loss classes_of_logits();

}  // namespace keratin::bench

#pragma once

#include "keratin/base/export.h"
#include "keratin/engine/devices.h"
#include "keratin/model/model.h"

namespace keratin {

// Which GPUs: the first n, or the ids of a list. Default, and for 0 or an empty list: all of them.
class KERATIN_API Gpus {
 public:
  Gpus() = default;
  Gpus(int count) : count_(count) {}                                     // NOLINT
  Gpus(std::initializer_list<int> ids) : ids_(std::vector<int>(ids)) {}  // NOLINT
  Gpus(std::vector<int> ids) : ids_(std::move(ids)) {}                   // NOLINT

  // The devices, or an error in Keras's words.
  std::vector<Device> resolve() const;

 private:
  std::optional<int> count_;
  std::optional<std::vector<int>> ids_;
};

struct MultiGpuOptions {
  Gpus gpus = {};
  bool cpu_merge = true;        // outputs are joined on cpu:0; if false, on the first GPU
  bool cpu_relocation = false;  // weights move to cpu:0; they are the model's own in both cases
};

// A model that splits each batch over several GPUs, runs the given model on each slice, and joins
// the outputs. It shares the weights of the given model: training one is training the other, and
// saving it saves the given model.
KERATIN_API Model multi_gpu_model(const Model& model, const MultiGpuOptions& options = {});

}  // namespace keratin

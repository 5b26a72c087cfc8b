#pragma once

#include "keratin/base/export.h"
#include "keratin/engine/devices.h"
#include "keratin/model/model.h"

namespace keratin {

// Which GPUs: the first n, or those of a list; all of them by default, and for 0 or an empty list.
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
  bool cpu_merge = true;        // outputs are put together on cpu:0, or else on the first GPU
  bool cpu_relocation = false;  // weights move to cpu:0; they are the model's own either way
};

// A model that splits each batch over several GPUs, lets the given one run on each part, and puts
// the parts together. It shares the weights of the given model, the template: training one is
// training the other, and what is saved of it is the template.
KERATIN_API Model multi_gpu_model(const Model& model, const MultiGpuOptions& options = {});

}  // namespace keratin

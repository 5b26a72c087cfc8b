#pragma once

#include "keratin/graph/saved_form.h"
#include "keratin/model/model.h"

namespace keratin {

// How a batch is split: as Keras's multi_gpu_model does, in parts of one size but for the last,
// which has what is left; or in parts of which none has two samples more than another.
enum class Split : uint8_t { as_keras, even };

// Calls a model once per device, each time on a part of the batch; a part without samples is not
// run.
class ReplicasLayer final : public Layer, public RunsAnotherModel {
 public:
  ReplicasLayer(LayerPtr model, std::vector<Device> devices, Device merge, Split split);

  std::string_view class_name() const override { return "Replicas"; }
  const Layer& other_model() const override { return *model_; }

  LayerPtr fresh_copy() const override;
  Results call(const Call& c) const override;
  Tree<Traced> apply(const Call& call, const Call& for_masks) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }
  bool autocasts() const override { return false; }
  bool places_parts() const override { return true; }

 private:
  std::vector<Replica> replicas_of(int64_t batch) const;

  LayerPtr model_;
  std::vector<Device> devices_;
  Device merge_;
  Split split_;
};

// A model around such a layer: its inputs are those of the given one, and its outputs have Keras's
// names.
Model replicated(const Model& model, const std::vector<Device>& devices, Device merge, Split split);

}  // namespace keratin

#pragma once

#include "keratin/graph/saved_form.h"
#include "keratin/model/model.h"

namespace keratin::distribute {
class Distribution;
}

namespace keratin {

// How a batch is split: as Keras's multi_gpu_model does, in parts of one size but for the last,
// which has what is left; or in parts of which none has two samples more than another.
enum class Split : uint8_t { as_keras, even };

struct ReplicasOptions {
  std::vector<Device> devices;  // of each replica; it may work with those of variables in parts too
  // Where outputs are put together; unless given, they stay where they are, in parts, and so do
  // losses of them.
  std::optional<Device> merge = {};
  Split split = Split::even;
  // Lays the variables of the model on the devices, once it is built; nothing leaves them.
  std::function<void(const std::vector<Variable>&)> lay_out = {};
  // Says how what layers give is laid out.
  std::shared_ptr<const distribute::Distribution> distribution = {};
};

// Calls a model once per replica, each time on a part of the batch; a part without samples is not
// run.
class ReplicasLayer final : public Layer, public RunsAnotherModel {
 public:
  ReplicasLayer(LayerPtr model, ReplicasOptions options);

  std::string_view class_name() const override { return "Replicas"; }
  const Layer& other_model() const override { return *model_; }

  void build(const Shapes& inputs) override;
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
  ReplicasOptions options_;
};

// A model around such a layer: its inputs are those of the given one, and its outputs have Keras's
// names.
Model replicated(const Model& model, ReplicasOptions options);

}  // namespace keratin

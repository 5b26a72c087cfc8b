#pragma once

#include "keratin/graph/replication.h"
#include "keratin/graph/saved_form.h"
#include "keratin/model/model.h"

namespace keratin::distribute {
class Distribution;
}

namespace keratin {

// How a batch is split into slices: as Keras's multi_gpu_model does, into slices of one size and a
// last one with the remaining samples; or so that sizes differ by at most one sample.
enum class Split : uint8_t { as_keras, even };

struct ReplicasOptions {
  std::vector<Device> devices;  // the first device of each replica
  // Where outputs are joined. By default they stay sharded, and so do losses of them.
  std::optional<Device> merge = {};
  Split split = Split::even;
  // Stores the variables of the model on the devices, once it is built; by default they stay.
  std::function<void(const std::vector<Variable>&)> store_variables = {};
  // The layouts of the outputs of layers.
  std::shared_ptr<const distribute::Distribution> distribution = {};
};

// Calls a model once per replica, each time on a slice of the batch. Replicas without samples are
// not run.
class ReplicasLayer final : public Layer, public CallsLayers, public RunsAnotherModel {
 public:
  ReplicasLayer(LayerPtr model, ReplicasOptions options);

  std::string_view class_name() const override { return "Replicas"; }
  const Layer& other_model() const override { return *model_; }

  void build(const Shapes& inputs) override;
  LayerPtr fresh_copy() const override;
  Results call(const Call& c) const override;
  Tree<Traced> call_layers(const Call& call, const Call& for_masks) const override;
  bool supports_masking() const override { return true; }
  bool takes_mask() const override { return true; }
  bool autocasts() const override { return false; }

 private:
  std::vector<Replica> replicas_of(int64_t batch) const;
  Tree<Traced> join(const std::vector<Tree<Traced>>& results) const;

  LayerPtr model_;
  ReplicasOptions options_;
};

// A model around such a layer: it has the inputs of the given model, and outputs with Keras's
// names.
Model replicated(const Model& model, ReplicasOptions options);

}  // namespace keratin

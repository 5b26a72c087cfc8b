#pragma once

#include "keratin/base/export.h"
#include "keratin/distribute/distribution.h"

namespace keratin::distribute {

struct ModelParallelOptions {
  std::optional<LayoutMap> layout_map = {};  // of variables and outputs; required
  std::string batch_dim_name = {};           // splits the batch; default: the mesh's first axis
  bool auto_shard_dataset = true;            // among processes; there is one
};

// Variables are sharded over the devices as the map says, and the batch is split along one axis of
// the mesh. The devices along the other axes share the work of a replica: each computes with the
// shards that it stores.
class KERATIN_API ModelParallel final : public Distribution {
 public:
  explicit ModelParallel(const ModelParallelOptions& options);
  std::string_view class_name() const override { return "ModelParallel"; }

  const LayoutMap& layout_map() const { return layout_map_; }
  TensorLayout get_variable_layout(const Variable& variable) const override;
  std::optional<TensorLayout> get_tensor_layout(const std::string& path) const override;
  std::shared_ptr<const Distribution> shared() const override;

 private:
  LayoutMap layout_map_;
};

}  // namespace keratin::distribute

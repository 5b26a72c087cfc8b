#pragma once

#include "keratin/distribute/layout.h"
#include "keratin/model/model.h"

#pragma GCC visibility push(default)

namespace keratin::distribute {

// How the data and the variables of a model lie on a mesh of devices.
class Distribution {
 public:
  virtual ~Distribution() = default;

  const DeviceMesh& device_mesh() const { return mesh_; }
  const std::string& batch_dim_name() const { return batch_dim_name_; }
  // In how many parts a batch is split.
  int64_t num_model_replicas() const { return mesh_.size_of(batch_dim_name_); }

  TensorLayout get_data_layout(const Shape& data) const;
  virtual TensorLayout get_variable_layout(const Variable& variable) const;

 protected:
  Distribution(DeviceMesh mesh, std::string batch_dim_name);

 private:
  DeviceMesh mesh_;
  std::string batch_dim_name_;
};

struct DataParallelOptions {
  std::optional<DeviceMesh> device_mesh = {};  // its first axis splits the batch
  std::vector<std::string> devices = {};       // or these; or all there are
};

// Every device runs the whole model on a part of the batch.
class DataParallel final : public Distribution {
 public:
  explicit DataParallel(const DataParallelOptions& options = {});
};

// A model that runs as the distribution says. It shares the variables of the given one: training
// one is training the other, and what is saved of it is the given model.
Model distribute(const Model& model, const DataParallel& distribution);

}  // namespace keratin::distribute

#pragma GCC visibility pop

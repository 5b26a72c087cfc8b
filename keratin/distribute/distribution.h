#pragma once

#include "keratin/base/export.h"
#include "keratin/distribute/layout.h"
#include "keratin/model/model.h"

namespace keratin::distribute {

class DistributionScope;

// How the data and the variables of models lie on a mesh of devices.
class KERATIN_API Distribution {
 public:
  virtual ~Distribution() = default;
  virtual std::string_view class_name() const = 0;

  const DeviceMesh& device_mesh() const { return mesh_; }
  const std::string& batch_dim_name() const { return batch_dim_name_; }
  // Is a dataset to be shared out among processes? There is one, which gets all of it.
  bool auto_shard_dataset() const { return auto_shard_dataset_; }
  void set_auto_shard_dataset(bool share) { auto_shard_dataset_ = share; }
  // In how many parts a batch is split.
  int64_t num_model_replicas() const { return mesh_.size_of(batch_dim_name_); }

  TensorLayout get_data_layout(const Shape& data) const;
  virtual TensorLayout get_variable_layout(const Variable& variable) const;
  // Has every device that runs a replica its own copy of what is not split?
  virtual bool mirrors_variables() const { return false; }
  // Of what a layer gives, by its path: "encoder/dense/output"; nothing where that is left to how
  // it was made.
  virtual std::optional<TensorLayout> get_tensor_layout(const std::string& path) const;

  // While the result lives, models that are made run as this distribution says.
  [[nodiscard]] DistributionScope scope() const;

  virtual std::shared_ptr<const Distribution> shared() const = 0;  // a copy

 protected:
  Distribution(DeviceMesh mesh, std::string batch_dim_name, bool auto_shard_dataset);

 private:
  DeviceMesh mesh_;
  std::string batch_dim_name_;
  bool auto_shard_dataset_;
};
KERATIN_API std::ostream& operator<<(std::ostream& out, const Distribution& distribution);

// A model that runs as the distribution says. It shares the variables of the given one: training
// one is training the other, and what is saved of it is the given model.
KERATIN_API Model distribute(const Model& model, const Distribution& distribution);

// A value in parts along the layout's axes, each on its device of the mesh, or whole again where
// the layout has none: for the calls of layers and Lambdas. What is made of it is made where the
// parts are. In a model that is distributed the samples stay with their replicas.
KERATIN_API Value distribute_tensor(Value tensor, const TensorLayout& layout);

// The distribution of all models that are made from now on; nullptr for none, as at first.
KERATIN_API void set_distribution(std::shared_ptr<const Distribution> distribution);
KERATIN_API void set_distribution(const Distribution& distribution);
KERATIN_API std::shared_ptr<const Distribution> distribution();

class KERATIN_API DistributionScope {
 public:
  explicit DistributionScope(std::shared_ptr<const Distribution> distribution);
  ~DistributionScope();
  DistributionScope(const DistributionScope&) = delete;
  DistributionScope& operator=(const DistributionScope&) = delete;

 private:
  std::shared_ptr<const Distribution> outer_;
};

// What is not given is taken from the environment: KERAS_DISTRIBUTION_JOB_ADDRESSES,
// KERAS_DISTRIBUTION_NUM_PROCESSES, KERAS_DISTRIBUTION_PROCESS_ID.
struct InitializeOptions {
  std::string job_addresses = {};  // with commas between them
  std::optional<int64_t> num_processes = {};
  std::optional<int64_t> process_id = {};
};
// Keras's way to join several processes. There is one here: more than one is an error.
KERATIN_API void initialize(const InitializeOptions& options = {});

}  // namespace keratin::distribute

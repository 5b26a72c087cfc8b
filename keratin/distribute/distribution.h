#pragma once

#include "keratin/base/export.h"
#include "keratin/distribute/layout.h"
#include "keratin/ir/value.h"
#include "keratin/model/model.h"

namespace keratin {
class RunnerScope;
}

namespace keratin::distribute {

class DistributionScope;

// How models, their data and their variables are distributed over a mesh of devices.
class KERATIN_API Distribution {
 public:
  virtual ~Distribution() = default;
  virtual std::string_view class_name() const = 0;

  const DeviceMesh& device_mesh() const { return mesh_; }
  const std::string& batch_dim_name() const { return batch_dim_name_; }
  // Whether processes share a dataset. There is one process, which gets all of it.
  bool auto_shard_dataset() const { return auto_shard_dataset_; }
  void set_auto_shard_dataset(bool share) { auto_shard_dataset_ = share; }
  // Into how many slices a batch is split.
  int64_t num_model_replicas() const { return mesh_.size_of(batch_dim_name_); }

  TensorLayout get_data_layout(const Shape& data) const;
  virtual TensorLayout get_variable_layout(const Variable& variable) const;
  // Whether every device that runs a replica has its own copy of variables that are not sharded.
  virtual bool mirrors_variables() const { return false; }
  // The layout of a layer's output, by its path: "encoder/dense/output"; none leaves it as it was
  // computed.
  virtual std::optional<TensorLayout> get_tensor_layout(const std::string& path) const;

  // While the result lives, models that this thread makes run as this distribution says.
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

// Shards a value along the layout's axes, each shard on its device of the mesh, or gathers it where
// the layout has no axes: for the calls of layers and Lambdas. Ops on the value run where its
// shards are. In a distributed model the samples stay with their replicas.
KERATIN_API Value distribute_tensor(Value tensor, const TensorLayout& layout);

// Sets the distribution of all models that the process makes from now on; nullptr (the default) for
// none. An error in a DistributionScope, which would hide it.
KERATIN_API void set_distribution(std::shared_ptr<const Distribution> distribution);
KERATIN_API void set_distribution(const Distribution& distribution);
// The distribution of models that this thread makes now: that of its innermost scope, or else that
// of the process.
KERATIN_API std::shared_ptr<const Distribution> distribution();

// While it lives, models that this thread makes have a distribution. Other threads keep theirs. It
// must end on the thread that made it.
class KERATIN_API DistributionScope {
 public:
  explicit DistributionScope(std::shared_ptr<const Distribution> distribution);
  ~DistributionScope();
  DistributionScope(const DistributionScope&) = delete;
  DistributionScope& operator=(const DistributionScope&) = delete;

 private:
  std::unique_ptr<RunnerScope> scope_;
};

// What is not set is read from the environment: KERAS_DISTRIBUTION_JOB_ADDRESSES,
// KERAS_DISTRIBUTION_NUM_PROCESSES, KERAS_DISTRIBUTION_PROCESS_ID.
struct InitializeOptions {
  std::string job_addresses = {};  // with commas between them
  std::optional<int64_t> num_processes = {};
  std::optional<int64_t> process_id = {};
};
// Keras's call to join several processes. Keratin runs in one process: more are an error.
KERATIN_API void initialize(const InitializeOptions& options = {});

}  // namespace keratin::distribute

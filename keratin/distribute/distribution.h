#pragma once

#include "keratin/distribute/layout.h"
#include "keratin/model/model.h"

#pragma GCC visibility push(default)

namespace keratin::distribute {

class DistributionScope;

// How the data and the variables of models lie on a mesh of devices.
class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual std::string_view class_name() const = 0;

  const DeviceMesh& device_mesh() const { return mesh_; }
  const std::string& batch_dim_name() const { return batch_dim_name_; }
  // In how many parts a batch is split.
  int64_t num_model_replicas() const { return mesh_.size_of(batch_dim_name_); }

  TensorLayout get_data_layout(const Shape& data) const;
  virtual TensorLayout get_variable_layout(const Variable& variable) const;
  // Has every device that runs a replica its own copy of what is not split?
  virtual bool mirrors_variables() const { return false; }
  // Of the output of a layer, by the path "layer/output"; nothing where it is left to what made it.
  virtual std::optional<TensorLayout> get_tensor_layout(const std::string& path) const;

  // While the result lives, models that are made run as this distribution says.
  [[nodiscard]] DistributionScope scope() const;

  virtual std::shared_ptr<const Distribution> shared() const = 0;  // a copy

 protected:
  Distribution(DeviceMesh mesh, std::string batch_dim_name);

 private:
  DeviceMesh mesh_;
  std::string batch_dim_name_;
};
std::ostream& operator<<(std::ostream& out, const Distribution& distribution);

// A model that runs as the distribution says. It shares the variables of the given one: training
// one is training the other, and what is saved of it is the given model.
Model distribute(const Model& model, const Distribution& distribution);

// The distribution of all models that are made from now on; nullptr for none, as at first.
void set_distribution(std::shared_ptr<const Distribution> distribution);
void set_distribution(const Distribution& distribution);
std::shared_ptr<const Distribution> distribution();

class DistributionScope {
 public:
  explicit DistributionScope(std::shared_ptr<const Distribution> distribution);
  ~DistributionScope();
  DistributionScope(const DistributionScope&) = delete;
  DistributionScope& operator=(const DistributionScope&) = delete;

 private:
  std::shared_ptr<const Distribution> outer_;
};

struct InitializeOptions {
  std::string job_addresses = {};
  std::optional<int64_t> num_processes = {};
  std::optional<int64_t> process_id = {};
};
// Keras's way to join several processes. There is one here: more than one is an error.
void initialize(const InitializeOptions& options = {});

}  // namespace keratin::distribute

#pragma GCC visibility pop

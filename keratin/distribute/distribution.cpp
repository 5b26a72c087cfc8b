#include "keratin/distribute/distribution.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <ostream>

#include "keratin/distribute/replicas.h"
#include "keratin/distribute/variable_layout.h"
#include "keratin/model/runner.h"

namespace keratin::distribute {
namespace {

std::mutex lock;
std::shared_ptr<const Distribution> current;

ReplicasOptions options_of(const std::shared_ptr<const Distribution>& distribution) {
  ReplicasOptions options{.devices =
                              distribution->device_mesh().along(distribution->batch_dim_name())};
  options.lay_out = [distribution](const std::vector<Variable>& variables) {
    lay_out(variables, *distribution);
  };
  return options;
}

// A model that says itself how it is distributed stays as it is.
LayerPtr run(const LayerPtr& layer, const std::shared_ptr<const Distribution>& distribution) {
  if (&saved_model(*layer) != layer.get()) return layer;
  return std::make_shared<ReplicasLayer>(layer, options_of(distribution));
}

}  // namespace

Distribution::Distribution(DeviceMesh mesh, std::string batch_dim_name)
    : mesh_(std::move(mesh)), batch_dim_name_(std::move(batch_dim_name)) {
  mesh_.size_of(batch_dim_name_);  // is one of its axes
}

TensorLayout Distribution::get_data_layout(const Shape& data) const {
  require(data.rank() > 0, "Distribution: data of shape ", data, " have no batch axis");
  TensorLayout::Axes axes(static_cast<size_t>(data.rank()));
  axes[0] = batch_dim_name_;
  return {axes, mesh_};
}

TensorLayout Distribution::get_variable_layout(const Variable& variable) const {
  return {TensorLayout::Axes(static_cast<size_t>(variable.shape().rank())), mesh_};
}

std::optional<TensorLayout> Distribution::get_tensor_layout(const std::string&) const {
  return std::nullopt;
}

DistributionScope Distribution::scope() const { return DistributionScope(shared()); }

std::ostream& operator<<(std::ostream& out, const Distribution& distribution) {
  return out << '<' << distribution.class_name() << " device_mesh=" << distribution.device_mesh()
             << '>';
}

Model distribute(const Model& model, const Distribution& distribution) {
  lay_out(model.weights(), distribution);
  ReplicasOptions options = options_of(distribution.shared());
  options.lay_out = {};
  return replicated(model, std::move(options));
}

void set_distribution(std::shared_ptr<const Distribution> distribution) {
  const std::lock_guard guard(lock);
  current = distribution;
  if (distribution == nullptr)
    set_runner({});
  else
    set_runner([distribution](const LayerPtr& layer) { return run(layer, distribution); });
}

void set_distribution(const Distribution& distribution) { set_distribution(distribution.shared()); }

std::shared_ptr<const Distribution> distribution() {
  const std::lock_guard guard(lock);
  return current;
}

DistributionScope::DistributionScope(std::shared_ptr<const Distribution> distribution)
    : outer_(distribute::distribution()) {
  set_distribution(std::move(distribution));
}

DistributionScope::~DistributionScope() { set_distribution(outer_); }

void initialize(const InitializeOptions& options) {
  require(options.num_processes.value_or(1) == 1 && options.process_id.value_or(0) == 0,
          "initialize: one process is all there is so far. Received: num_processes=",
          options.num_processes.value_or(1), ", process_id=", options.process_id.value_or(0));
  require(options.job_addresses.find(',') == std::string::npos,
          "initialize: one process is all there is so far. Received: job_addresses='",
          options.job_addresses, '\'');
}

}  // namespace keratin::distribute

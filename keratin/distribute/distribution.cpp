#include "keratin/distribute/distribution.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <ostream>

#include "keratin/base/text.h"
#include "keratin/distribute/replicas.h"
#include "keratin/distribute/variable_layout.h"
#include "keratin/model/runner.h"

namespace keratin::distribute {
namespace {

std::mutex lock;
std::shared_ptr<const Distribution> current;

ReplicasOptions options_of(const std::shared_ptr<const Distribution>& distribution) {
  ReplicasOptions options{
      .devices = distribution->device_mesh().along(distribution->batch_dim_name()),
      .distribution = distribution};
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

// A whole number of the environment, unless one was given.
int64_t setting(std::optional<int64_t> given, const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  if (given || value == nullptr) return given.value_or(otherwise);
  const char* end = value + std::strlen(value);
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(value, end, number);
  require(error == std::errc() && rest == end, "initialize: ", name,
          " should be a whole number. Received: '", value, "'");
  return number;
}

}  // namespace

Distribution::Distribution(DeviceMesh mesh, std::string batch_dim_name, bool auto_shard_dataset)
    : mesh_(std::move(mesh)),
      batch_dim_name_(std::move(batch_dim_name)),
      auto_shard_dataset_(auto_shard_dataset) {
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
  const char* listed = std::getenv("KERAS_DISTRIBUTION_JOB_ADDRESSES");
  const std::string addresses =
      options.job_addresses.empty() && listed != nullptr ? listed : options.job_addresses;
  const int64_t processes = setting(options.num_processes, "KERAS_DISTRIBUTION_NUM_PROCESSES", 1);
  const int64_t id = setting(options.process_id, "KERAS_DISTRIBUTION_PROCESS_ID", 0);
  require(processes == 1 && id == 0 && addresses.find(',') == std::string::npos,
          "initialize: one process is all there is so far; several are not there yet. Received: "
          "job_addresses='",
          addresses, "', num_processes=", processes, ", process_id=", id);
}

}  // namespace keratin::distribute

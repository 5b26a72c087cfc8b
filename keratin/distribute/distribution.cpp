#include "keratin/distribute/distribution.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "keratin/base/text.h"
#include "keratin/distribute/replicas.h"
#include "keratin/distribute/variable_layout.h"
#include "keratin/model/runner.h"

namespace keratin::distribute {
namespace {

ReplicasOptions options_of(const std::shared_ptr<const Distribution>& distribution) {
  ReplicasOptions options{
      .devices = distribution->device_mesh().along(distribution->batch_dim_name()),
      .distribution = distribution};
  options.store_variables = [distribution](const std::vector<Variable>& variables) {
    store_variables(variables, *distribution);
  };
  return options;
}

// Runs models as a distribution says. A model that was made by `distribute` itself stays as it is.
class DistributedRunner final : public ModelRunner {
 public:
  explicit DistributedRunner(std::shared_ptr<const Distribution> distribution)
      : distribution_(std::move(distribution)) {}

  LayerPtr layer_for(const LayerPtr& model) const override {
    if (&detail::saved_model(*model) != model.get()) return model;
    return std::make_shared<ReplicasLayer>(model, options_of(distribution_));
  }
  const std::shared_ptr<const Distribution>& distribution() const { return distribution_; }

 private:
  std::shared_ptr<const Distribution> distribution_;
};

RunnerPtr runner_of(std::shared_ptr<const Distribution> distribution) {
  if (distribution == nullptr) return nullptr;
  return std::make_shared<DistributedRunner>(std::move(distribution));
}

// The given number, or else a whole number of the environment, or else the fallback.
int64_t setting(std::optional<int64_t> given, const char* name, int64_t fallback) {
  const char* value = std::getenv(name);
  if (given || value == nullptr) return given.value_or(fallback);
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
  mesh_.size_of(batch_dim_name_);  // an error if the mesh has no such axis
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
  store_variables(model.weights(), distribution);
  ReplicasOptions options = options_of(distribution.shared());
  options.store_variables = {};
  return replicated(model, std::move(options));
}

void set_distribution(std::shared_ptr<const Distribution> distribution) {
  set_process_runner(runner_of(std::move(distribution)));
}

void set_distribution(const Distribution& distribution) { set_distribution(distribution.shared()); }

std::shared_ptr<const Distribution> distribution() {
  const auto runner = std::dynamic_pointer_cast<const DistributedRunner>(current_runner());
  return runner != nullptr ? runner->distribution() : nullptr;
}

DistributionScope::DistributionScope(std::shared_ptr<const Distribution> distribution)
    : scope_(std::make_unique<RunnerScope>(runner_of(std::move(distribution)))) {}

DistributionScope::~DistributionScope() = default;

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

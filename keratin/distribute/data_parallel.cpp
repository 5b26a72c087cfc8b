#include "keratin/distribute/data_parallel.h"

#include <algorithm>

#include "keratin/base/warning.h"
#include "keratin/distribute/replicas.h"

namespace keratin::distribute {
namespace {

constexpr const char* batch_axis = "batch";

DeviceMesh mesh_of(const DataParallelOptions& options) {
  if (options.device_mesh) return *options.device_mesh;
  const auto names = options.devices.empty() ? list_devices() : options.devices;
  return DeviceMesh({.shape = {static_cast<int64_t>(names.size())},
                     .axis_names = {batch_axis},
                     .devices = names});
}

int64_t bytes_of(const Variable& variable) {
  return variable.shape().count() * static_cast<int64_t>(size_of(variable.dtype()));
}

// Each variable gets a home where it is updated, the largest first, each where there is least so
// far: together the devices then take one step of the optimizer, not each of them a whole one.
void spread(const std::vector<Variable>& variables, const std::vector<Device>& devices) {
  std::vector<Variable> by_size = variables;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Variable& a, const Variable& b) { return bytes_of(a) > bytes_of(b); });
  std::vector<int64_t> load(devices.size(), 0);
  for (const Variable& variable : by_size) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bytes_of(variable);
    variable.move_to(devices[static_cast<size_t>(least - load.begin())]);
  }
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

DataParallel::DataParallel(const DataParallelOptions& options)
    : Distribution(mesh_of(options),
                   options.device_mesh ? options.device_mesh->axis_names()[0] : batch_axis) {
  if (device_mesh().shape().size() != 1)
    warn(text("Expect the input mesh to be 1D, but received mesh.devices.ndim=",
              device_mesh().shape().size(),
              ". The first axis will be used for data-parallel sharding."));
}

Model distribute(const Model& model, const DataParallel& distribution) {
  const std::vector<Device> devices =
      distribution.device_mesh().along(distribution.batch_dim_name());
  spread(model.weights(), devices);
  return replicated(model, devices, devices[0], Split::even);
}

}  // namespace keratin::distribute

#include "keratin/distribute/data_parallel.h"

#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin::distribute {
namespace {

constexpr const char* default_axis = "batch";

DeviceMesh mesh_of(const DataParallelOptions& options) {
  if (options.device_mesh) return *options.device_mesh;
  const auto names = options.devices.empty() ? list_devices() : options.devices;
  return DeviceMesh({.shape = {static_cast<int64_t>(names.size())},
                     .axis_names = {default_axis},
                     .devices = names});
}

bool runs_on_gpus(const DeviceMesh& mesh) {
  return mesh.at(Dims(mesh.shape().size(), 0)).kind == Device::Kind::gpu;
}

}  // namespace

DataParallel::DataParallel(const DataParallelOptions& options)
    : Distribution(mesh_of(options),
                   options.device_mesh ? options.device_mesh->axis_names()[0] : default_axis,
                   options.auto_shard_dataset),
      mirrors_(options.mirror_variables.value_or(runs_on_gpus(device_mesh()))) {
  if (device_mesh().shape().size() != 1)
    warn(text("Expect the input mesh to be 1D, but received mesh.devices.ndim=",
              device_mesh().shape().size(),
              ". The first axis will be used for data-parallel sharding."));
}

std::shared_ptr<const Distribution> DataParallel::shared() const {
  return std::make_shared<DataParallel>(*this);
}

}  // namespace keratin::distribute

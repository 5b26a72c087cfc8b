#include "keratin/distribute/variable_layout.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/distribute/axis_cuts.h"
#include "keratin/graph/variable_shards.h"

namespace keratin::distribute {
namespace {

int64_t bytes_of(const Variable& variable) {
  return variable.shape().count() * static_cast<int64_t>(size_of(variable.dtype()));
}

// The cut along the batch's axis of the mesh comes last: a replica gathers its shards anyway.
std::vector<AxisCut> cuts_of(const Variable& variable, const TensorLayout& layout,
                             const DeviceMesh& mesh, size_t batch) {
  require(layout.device_mesh() == mesh, "variable '", variable.path(), "': ", layout,
          " is not of the distribution's mesh, ", mesh);
  std::vector<AxisCut> cuts = axis_cuts(variable.shape(), layout, mesh, variable.path());
  for (const AxisCut& cut : cuts) {
    const int64_t count = mesh.shape()[cut.mesh_axis], size = variable.shape()[cut.axis];
    require(size % count == 0, "variable '", variable.path(), "': ", layout, " implies that axis ",
            cut.axis, " is partitioned ", count, " times, but the dimension size is ", size,
            " (full shape: ", keras_shape(variable.shape()), ")");
  }
  std::erase_if(cuts, [&](const AxisCut& cut) { return mesh.shape()[cut.mesh_axis] == 1; });
  std::stable_partition(cuts.begin(), cuts.end(),
                        [&](const AxisCut& cut) { return cut.mesh_axis != batch; });
  return cuts;
}

// The devices along an axis, at the given position of the other axes.
std::vector<Device> devices_along(const DeviceMesh& mesh, Dims position, size_t axis) {
  std::vector<Device> devices;
  for (int64_t& i = position[axis] = 0; i < mesh.shape()[axis]; ++i)
    devices.push_back(mesh.at(position));
  return devices;
}

// Replica i works with the shards on the devices at step i of the batch's axis. All shards of a cut
// along that axis itself it has on one device.
void shard_along(const Variable& variable, const std::vector<AxisCut>& cuts, const DeviceMesh& mesh,
                 size_t batch, Dims position, size_t next = 0) {
  if (next == cuts.size()) return;
  const auto [axis, mesh_axis] = cuts[next];
  const std::vector<Device> owners = devices_along(mesh, position, mesh_axis);
  std::vector<std::pair<Device, std::vector<Device>>> peers;
  for (int64_t i = 0; i < mesh.shape()[batch]; ++i) {
    Dims lead(position.size(), 0), here = position;
    lead[batch] = here[batch] = i;
    peers.emplace_back(mesh.at(lead), mesh_axis == batch
                                          ? std::vector<Device>(owners.size(), mesh.at(here))
                                          : devices_along(mesh, here, mesh_axis));
  }
  const VariableShards* old = shards_of(variable);
  if (old == nullptr || old->axis != axis || old->devices() != owners || old->peers != peers)
    shard_variable(variable, axis, owners, std::move(peers));
  for (size_t j = 0; j < owners.size(); ++j) {
    position[mesh_axis] = static_cast<int64_t>(j);
    shard_along(shards_of(variable)->shards[j], cuts, mesh, batch, position, next + 1);
  }
}

void mirror_on(const Variable& variable, const std::vector<Device>& devices) {
  if (devices.size() == 1) return variable.move_to(devices[0]);
  const VariableShards* old = shards_of(variable);
  if (old == nullptr || !old->mirrored() || old->devices() != devices)
    mirror_variable(variable, devices);
}

void store_all(const std::vector<Variable>& variables, const Distribution& distribution) {
  const DeviceMesh& mesh = distribution.device_mesh();
  const size_t batch = mesh.index_of(distribution.batch_dim_name());
  std::vector<std::pair<Variable, std::vector<AxisCut>>> by_size;
  for (const Variable& variable : variables)
    by_size.emplace_back(
        variable, cuts_of(variable, distribution.get_variable_layout(variable), mesh, batch));
  std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.first) > bytes_of(b.first);
  });
  // Bytes by replica: its first device owns what is not sharded.
  std::vector<int64_t> load(static_cast<size_t>(mesh.shape()[batch]), 0);
  for (const auto& [variable, cuts] : by_size) {
    Dims position(mesh.shape().size(), 0);
    if (cuts.empty() && distribution.mirrors_variables()) {
      mirror_on(variable, devices_along(mesh, position, batch));
      continue;
    }
    const bool uses_all_replicas = !cuts.empty() && cuts.back().mesh_axis == batch;
    if (!uses_all_replicas) {
      // Among equals the last one: the first replica also sums the losses.
      const auto min = std::min_element(load.rbegin(), load.rend());
      position[batch] = load.rend() - min - 1;
      *min += bytes_of(variable);
    }
    if (cuts.empty())
      variable.move_to(mesh.at(position));
    else
      shard_along(variable, cuts, mesh, batch, position);
  }
}

}  // namespace

void store_variables(const std::vector<Variable>& variables, const Distribution& distribution) {
  move_all_or_none(variables, [&] { store_all(variables, distribution); });
}

}  // namespace keratin::distribute

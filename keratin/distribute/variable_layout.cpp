#include "keratin/distribute/variable_layout.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/variable_parts.h"

namespace keratin::distribute {
namespace {

int64_t bytes_of(const Variable& variable) {
  return variable.shape().count() * static_cast<int64_t>(size_of(variable.dtype()));
}

// An axis of a variable that is cut along one of the mesh.
struct Cut {
  int64_t axis;
  size_t mesh_axis;
};

// The batch's axis comes last: in a replica its parts are put together anyway.
std::vector<Cut> cuts_of(const Variable& variable, const TensorLayout& layout,
                         const DeviceMesh& mesh, size_t batch) {
  require(layout.device_mesh() == mesh, "variable '", variable.path(), "': ", layout,
          " is not of the distribution's mesh, ", mesh);
  const TensorLayout::Axes& axes = layout.axes();
  const auto rank = static_cast<size_t>(variable.shape().rank());
  require(axes.size() <= rank, "variable '", variable.path(), "' of shape ",
          keras_shape(variable.shape()), " has ", rank, " axes, its layout has ", axes.size(), ": ",
          layout);
  std::vector<Cut> cuts;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i]) continue;
    require(std::count(axes.begin(), axes.end(), axes[i]) == 1, "variable '", variable.path(),
            "': a layout can map every axis of the mesh to at most one axis of the variable, but ",
            layout, " has '", *axes[i], "' more than once");
    const Cut cut{static_cast<int64_t>(i), mesh.index_of(*axes[i])};
    const int64_t parts = mesh.shape()[cut.mesh_axis], size = variable.shape()[cut.axis];
    require(size % parts == 0, "variable '", variable.path(), "': ", layout, " implies that axis ",
            i, " is partitioned ", parts, " times, but the dimension size is ", size,
            " (full shape: ", keras_shape(variable.shape()), ")");
    if (parts > 1) cuts.push_back(cut);
  }
  std::stable_partition(cuts.begin(), cuts.end(),
                        [&](const Cut& cut) { return cut.mesh_axis != batch; });
  return cuts;
}

// The devices along an axis from a position on.
std::vector<Device> along(const DeviceMesh& mesh, Dims position, size_t axis) {
  std::vector<Device> devices;
  for (int64_t& i = position[axis] = 0; i < mesh.shape()[axis]; ++i)
    devices.push_back(mesh.at(position));
  return devices;
}

// Replica i works with the parts on the devices at step i of the batch's axis. What is cut along
// that axis itself it has on one device.
void cut_up(const Variable& variable, const std::vector<Cut>& cuts, const DeviceMesh& mesh,
            size_t batch, Dims position, size_t next = 0) {
  if (next == cuts.size()) return;
  const auto [axis, mesh_axis] = cuts[next];
  const std::vector<Device> homes = along(mesh, position, mesh_axis);
  std::vector<std::pair<Device, std::vector<Device>>> peers;
  for (int64_t i = 0; i < mesh.shape()[batch]; ++i) {
    Dims lead(position.size(), 0), here = position;
    lead[batch] = here[batch] = i;
    peers.emplace_back(mesh.at(lead), mesh_axis == batch
                                          ? std::vector<Device>(homes.size(), mesh.at(here))
                                          : along(mesh, here, mesh_axis));
  }
  const VariableParts* old = parts_of(variable);
  if (old == nullptr || old->axis != axis || old->devices() != homes || old->peers != peers)
    split(variable, axis, homes, std::move(peers));
  for (size_t j = 0; j < homes.size(); ++j) {
    position[mesh_axis] = static_cast<int64_t>(j);
    cut_up(parts_of(variable)->parts[j], cuts, mesh, batch, position, next + 1);
  }
}

void copy_to(const Variable& variable, const std::vector<Device>& devices) {
  if (devices.size() == 1) return variable.move_to(devices[0]);
  const VariableParts* old = parts_of(variable);
  if (old == nullptr || !old->mirrored() || old->devices() != devices) mirror(variable, devices);
}

void spread(const std::vector<Variable>& variables, const Distribution& distribution) {
  const DeviceMesh& mesh = distribution.device_mesh();
  const size_t batch = mesh.index_of(distribution.batch_dim_name());
  std::vector<std::pair<Variable, std::vector<Cut>>> by_size;
  for (const Variable& variable : variables)
    by_size.emplace_back(
        variable, cuts_of(variable, distribution.get_variable_layout(variable), mesh, batch));
  std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.first) > bytes_of(b.first);
  });
  // By the replica: its first device has what is whole.
  std::vector<int64_t> load(static_cast<size_t>(mesh.shape()[batch]), 0);
  for (const auto& [variable, cuts] : by_size) {
    Dims position(mesh.shape().size(), 0);
    if (cuts.empty() && distribution.mirrors_variables()) {
      copy_to(variable, along(mesh, position, batch));
      continue;
    }
    const bool spread_already = !cuts.empty() && cuts.back().mesh_axis == batch;
    if (!spread_already) {
      // Of several, the last: the first one also sums the losses.
      const auto least = std::min_element(load.rbegin(), load.rend());
      position[batch] = load.rend() - least - 1;
      *least += bytes_of(variable);
    }
    if (cuts.empty())
      variable.move_to(mesh.at(position));
    else
      cut_up(variable, cuts, mesh, batch, position);
  }
}

}  // namespace

void lay_out(const std::vector<Variable>& variables, const Distribution& distribution) {
  lay_all_or_none(variables, [&] { spread(variables, distribution); });
}

}  // namespace keratin::distribute

#include "keratin/distribute/output_layout.h"

#include "keratin/base/text.h"
#include "keratin/distribute/axis_cuts.h"
#include "keratin/graph/functional.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/shards.h"

namespace keratin::distribute {
namespace {

// The distribution that this thread writes a program for.
thread_local const Distribution* written_for = nullptr;

// A replica already has its samples only, and an unknown size is not cut.
std::vector<AxisCut> cuts_of(const Shape& shape, const TensorLayout& layout,
                             const DeviceMesh& mesh) {
  std::vector<AxisCut> cuts = axis_cuts(shape, layout, mesh);
  std::erase_if(cuts, [&](const AxisCut& cut) {
    const std::string& name = mesh.axis_names()[cut.mesh_axis];
    const bool batch = written_for != nullptr && name == written_for->batch_dim_name();
    require(!batch || cut.axis == 0, "the axis '", name,
            "' of the mesh splits the samples, which only the first axis of a tensor has, but ",
            layout, " gives it axis ", cut.axis);
    return batch || shape[cut.axis] == unknown;
  });
  return cuts;
}

// Cuts into shards whose sizes differ by at most one element; shards without elements are left out.
Value shard_tensor(Value tensor, const std::vector<AxisCut>& cuts, const DeviceMesh& mesh,
                   Dims position, size_t next = 0) {
  if (next == cuts.size()) return ops::whole_on(tensor, mesh.at(position));
  const auto [axis, mesh_axis] = cuts[next];
  const int64_t size = tensor.shape()[axis], count = mesh.shape()[mesh_axis];
  Values shards;
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = size * j / count, end = size * (j + 1) / count;
    if (begin == end && (size > 0 || j > 0)) continue;
    position[mesh_axis] = j;
    const Value shard = ops::slice_on(tensor, axis, begin, end, mesh.at(position));
    shards.push_back(shard_tensor(shard, cuts, mesh, position, next + 1));
  }
  return shards.size() == 1 ? shards[0] : ops::concatenate(shards, axis);
}

}  // namespace

Value distribute_tensor(Value tensor, const TensorLayout& layout) {
  require(layout.device_mesh().has_value(),
          "Cannot create sharding when device mesh is not set for TensorLayout.");
  const DeviceMesh& mesh = *layout.device_mesh();
  const std::vector<AxisCut> cuts = cuts_of(tensor.shape(), layout, mesh);
  if (tensor.block().depth() > 0) return tensor;  // a loop runs on one device as a whole
  Dims position(mesh.shape().size(), 0);
  if (written_for != nullptr) {
    require(mesh == written_for->device_mesh(), layout, " is not of the distribution's mesh, ",
            written_for->device_mesh());
    const size_t batch = mesh.index_of(written_for->batch_dim_name());
    if (const auto here = mesh.position_of(tensor.type().device)) position[batch] = (*here)[batch];
  }
  return shard_tensor(tensor, cuts, mesh, position);
}

// Keras's paths: a layer is below the layer that built it, and a functional model builds nothing.
void OutputLayouts::add_paths(const Layer& layer, const std::string& scope) {
  std::string path = scope + layer.name();
  for (const Variable& weight : layer.own_weights())
    if (weight.path().ends_with('/' + weight.name()))
      path = weight.path().substr(0, weight.path().size() - weight.name().size() - 1);
  if (!paths_.emplace(&layer, path).second) return;
  const bool functional = dynamic_cast<const FunctionalLayer*>(&layer) != nullptr;
  for (const Layer::Sublayer& sub : layer.sublayers())
    add_paths(*sub.layer, functional ? "" : path + '/');
}

OutputLayouts::OutputLayouts(const Layer& model, const Distribution& distribution)
    : outer_(written_for), outputs_([this, &distribution](const Layer& layer, Value output) {
        const auto path = paths_.find(&layer);
        if (path == paths_.end()) return output;
        const auto layout = distribution.get_tensor_layout(path->second + "/output");
        return layout ? distribute_tensor(output, *layout) : output;
      }) {
  add_paths(model, "");
  written_for = &distribution;
}

OutputLayouts::~OutputLayouts() { written_for = outer_; }

}  // namespace keratin::distribute

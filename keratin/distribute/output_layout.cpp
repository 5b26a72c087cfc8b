#include "keratin/distribute/output_layout.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/shards.h"

namespace keratin::distribute {
namespace {

thread_local const Distribution* written_for = nullptr;

// An axis of a tensor that is cut along one of the mesh.
struct Cut {
  int64_t axis;
  size_t mesh_axis;
};

// Samples are with their replicas already. A size that is not known yet is left alone.
std::vector<Cut> cuts_of(const Shape& shape, const TensorLayout& layout, const DeviceMesh& mesh) {
  const TensorLayout::Axes& axes = layout.axes();
  require(static_cast<int64_t>(axes.size()) <= shape.rank(), "a tensor of shape ",
          keras_shape(shape), " has ", shape.rank(), " axes, its layout has ", axes.size(), ": ",
          layout);
  std::vector<Cut> cuts;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i]) continue;
    require(std::count(axes.begin(), axes.end(), axes[i]) == 1,
            "a layout can map every axis of the mesh to at most one axis of the tensor, but ",
            layout, " has '", *axes[i], "' more than once");
    const bool batch = written_for != nullptr && *axes[i] == written_for->batch_dim_name();
    require(!batch || i == 0, "the axis '", *axes[i],
            "' of the mesh splits the samples, which only the first axis of a tensor has, but ",
            layout, " gives it axis ", i);
    const Cut cut{static_cast<int64_t>(i), mesh.index_of(*axes[i])};
    if (!batch && shape[cut.axis] != unknown) cuts.push_back(cut);
  }
  return cuts;
}

// Parts of which none has two elements more than another; one without elements is left out.
Value cut_up(Value tensor, const std::vector<Cut>& cuts, const DeviceMesh& mesh, Dims position,
             size_t next = 0) {
  if (next == cuts.size()) return ops::whole_on(tensor, mesh.at(position));
  const auto [axis, mesh_axis] = cuts[next];
  const int64_t size = tensor.shape()[axis], count = mesh.shape()[mesh_axis];
  Values parts;
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = size * j / count, end = size * (j + 1) / count;
    if (begin == end && (size > 0 || j > 0)) continue;
    position[mesh_axis] = j;
    const Value part = ops::slice_on(tensor, axis, begin, end, mesh.at(position));
    parts.push_back(cut_up(part, cuts, mesh, position, next + 1));
  }
  return parts.size() == 1 ? parts[0] : ops::concatenate(parts, axis);
}

}  // namespace

Value distribute_tensor(Value tensor, const TensorLayout& layout) {
  require(layout.device_mesh().has_value(),
          "Cannot create sharding when device mesh is not set for TensorLayout.");
  const DeviceMesh& mesh = *layout.device_mesh();
  const std::vector<Cut> cuts = cuts_of(tensor.shape(), layout, mesh);
  if (tensor.block().depth() > 0) return tensor;  // a loop runs on one device as a whole
  Dims position(mesh.shape().size(), 0);
  if (written_for != nullptr) {
    require(mesh == written_for->device_mesh(), layout, " is not of the distribution's mesh, ",
            written_for->device_mesh());
    const size_t batch = mesh.index_of(written_for->batch_dim_name());
    if (const auto here = mesh.position_of(tensor.type().device)) position[batch] = (*here)[batch];
  }
  return cut_up(tensor, cuts, mesh, position);
}

// As Keras has them: a layer is below what built it, and a functional model builds nothing.
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

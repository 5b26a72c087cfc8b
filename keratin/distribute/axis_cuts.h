#pragma once

#include "keratin/distribute/layout.h"

namespace keratin::distribute {

// An axis of a variable or a tensor that is cut along an axis of the mesh.
struct AxisCut {
  int64_t axis;
  size_t mesh_axis;
};

// The axes that a layout cuts. Errors: a layout with more axes than the shape, or with an axis of
// the mesh twice. `path` is a variable's; tensors have none.
std::vector<AxisCut> axis_cuts(const Shape& shape, const TensorLayout& layout,
                               const DeviceMesh& mesh, const std::string& path = "");

}  // namespace keratin::distribute

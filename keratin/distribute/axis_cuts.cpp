#include "keratin/distribute/axis_cuts.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/symbolic.h"

namespace keratin::distribute {

std::vector<AxisCut> axis_cuts(const Shape& shape, const TensorLayout& layout,
                               const DeviceMesh& mesh, const std::string& path) {
  const std::string kind = path.empty() ? "tensor" : "variable";
  const std::string name = path.empty() ? "a tensor" : text("variable '", path, "'");
  const TensorLayout::Axes& axes = layout.axes();
  require(static_cast<int64_t>(axes.size()) <= shape.rank(), name, " of shape ", keras_shape(shape),
          " has ", shape.rank(), " axes, its layout has ", axes.size(), ": ", layout);
  std::vector<AxisCut> cuts;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i]) continue;
    require(std::count(axes.begin(), axes.end(), axes[i]) == 1, path.empty() ? "" : name + ": ",
            "a layout can map every axis of the mesh to at most one axis of the ", kind, ", but ",
            layout, " has '", *axes[i], "' more than once");
    cuts.push_back({static_cast<int64_t>(i), mesh.index_of(*axes[i])});
  }
  return cuts;
}

}  // namespace keratin::distribute

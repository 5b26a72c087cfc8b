// What layers require of their inputs.
#include "keratin/base/text.h"
#include "keratin/graph/layer.h"

namespace keratin {

void Layer::check_inputs(const Shapes& shapes) const {
  if (input_specs_.empty()) return;
  require(shapes.size() == input_specs_.size(), "Layer \"", name(), "\" expects ",
          input_specs_.size(), " input(s), but it received ", shapes.size(), " input tensors.");
  for (size_t i = 0; i < shapes.size(); ++i) {
    const InputSpec& spec = input_specs_[i];
    const Shape& shape = shapes[i];
    const auto check = [&](bool fine, const auto&... parts) {
      require(fine, "Input ", i, " of layer '", name(),
              "' is incompatible with the layer: ", parts...,
              ". Full shape received: ", keras_shape(shape));
    };
    const int64_t rank = shape.rank();
    if (spec.ndim) check(rank == *spec.ndim, "expected ndim=", *spec.ndim, ", found ndim=", rank);
    if (spec.max_ndim)
      check(rank <= *spec.max_ndim, "expected max_ndim=", *spec.max_ndim, ", found ndim=", rank);
    if (spec.min_ndim)
      check(rank >= *spec.min_ndim, "expected min_ndim=", *spec.min_ndim, ", found ndim=", rank);
    for (const auto& [axis, size] : spec.axes) {
      const int64_t at = axis < 0 ? rank + axis : axis;
      if (at < 0 || at >= rank || shape[at] == unknown) continue;
      check(shape[at] == size, "expected axis ", axis, " of input shape to have value ", size,
            ", but received input with shape ", keras_shape(shape));
    }
  }
}

}  // namespace keratin

#include "keratin/layers/norm_axes.h"
#include "keratin/base/text.h"

namespace keratin::norm_axes {

Dims checked(const Layer& layer, const Shape& input, const Sizes& axes) {
  Dims found;
  for (const int64_t axis : axes.dims()) {
    require(axis >= -input.rank() && axis < input.rank(), layer.class_name(), " '", layer.name(),
            "': Axis ", axis, " is out of bounds for input shape ", keras_shape(input),
            ". Received: axis=", axes.to_json());
    found.push_back(axis < 0 ? axis + input.rank() : axis);
    require(input[found.back()] != unknown, layer.class_name(), " '", layer.name(), "': Axis ",
            axis,
            " of input tensor should have a defined dimension but the layer received an input "
            "with shape ",
            keras_shape(input), ".");
  }
  return found;
}

Dims sizes(const Shape& input, const Dims& axes) {
  Dims found;
  for (const int64_t axis : axes) found.push_back(input[axis]);
  return found;
}

}  // namespace keratin::norm_axes

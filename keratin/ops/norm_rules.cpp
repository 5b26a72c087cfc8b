#include "keratin/ops/norm_rules.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

void check_inputs(const Node& n, size_t expected) {
  require(n.input_count() == expected, n.name(), ": expected ", expected, " inputs, got ",
          n.input_count());
}

void check_norm(const Node& n, const Dims& axes, double epsilon) {
  require(n.input_count() > 0, n.name(), ": expected a float tensor, got no input");
  require(is_float(n.in().dtype()), n.name(), ": expected a float tensor, got ", n.in().type());
  require(!axes.empty() && std::is_sorted(axes.begin(), axes.end()) &&
              std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
          n.name(), ": axes must be sorted, without repeats, at least one");
  for (int64_t axis : axes)
    require(axis >= 0 && axis < n.in().rank(), n.name(), ": axis ", axis, " is outside ",
            n.in().shape());
  require(epsilon >= 0, n.name(), ": epsilon must not be negative, got ", epsilon);
}

void check_parameter(const Node& n, size_t i, std::string_view what, const Dims& axes,
                     DType dtype) {
  const Shape sizes = sizes_of(n.in().shape(), axes);
  require(n.in(i).dtype() == dtype && compatible(n.in(i).shape(), sizes), n.name(), ": the ", what,
          " must be ", Type{dtype, sizes}, ", got ", n.in(i).type());
}

Dims other_axes(const Shape& shape, const Dims& axes) {
  Dims others;
  for (int64_t axis = 0; axis < shape.rank(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}

Shape sizes_of(const Shape& shape, const Dims& axes) {
  Dims sizes;
  for (int64_t axis : axes) sizes.push_back(shape[axis]);
  return Shape(sizes);
}

Shape kept(const Shape& shape, const Dims& axes) {
  Dims dims(static_cast<size_t>(shape.rank()), 1);
  for (int64_t axis : axes) dims[static_cast<size_t>(axis)] = shape[axis];
  return Shape(dims);
}

Value precise(Value x) { return cast(x, statistics_dtype(x.dtype())); }

Value spread(Value parameter, const Shape& x, const Dims& axes) {
  return reshape(precise(parameter), kept(x, axes).dims());
}

Value gather_parameter(Value dy, const Dims& axes, DType dtype) {
  const Value total = sum_to(dy, kept(dy.shape(), axes));
  return cast(reshape(total, sizes_of(dy.shape(), axes).dims()), dtype);
}

bool flows(Value dy) { return uniform_value(dy) != 0.0; }

}  // namespace keratin::ops

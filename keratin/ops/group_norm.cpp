#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

// With the channels split into [groups, channels / groups]: layer_norm over all axes but the batch
// and the groups, then · scale + offset per channel
const OpDef group_norm_op{
    .name = "group_norm",
    .attrs = attrs_type<GroupNormAttrs>(),
    .infer = [](const Node& n) -> Types {
      const auto& attrs = n.attr<GroupNormAttrs>();
      check_norm(n, {attrs.axis}, attrs.epsilon);
      require(attrs.axis > 0, "group_norm: the channels cannot be the first axis");
      require(n.in().rank() < static_cast<int64_t>(max_rank), "group_norm: expected rank ",
              max_rank - 1, " or less, got ", n.in().type());
      check_inputs(n, 1 + (attrs.scale ? 1 : 0) + (attrs.offset ? 1 : 0));
      size_t next = 1;
      if (attrs.scale) check_parameter(n, next++, "scale", {attrs.axis}, n.in().dtype());
      if (attrs.offset) check_parameter(n, next, "offset", {attrs.axis}, n.in().dtype());
      const int64_t channels = n.in().shape()[attrs.axis];
      require(attrs.groups > 0 && (channels == unknown || channels % attrs.groups == 0),
              "group_norm: ", channels, " channels cannot be split into ", attrs.groups, " groups");
      return {n.in().type()};
    },
    .decompose = [](const Node& n) -> Values {
      const auto& attrs = n.attr<GroupNormAttrs>();
      const Shape& shape = n.in().shape();
      Dims split = shape.dims();
      split[static_cast<size_t>(attrs.axis)] /= attrs.groups;
      split.insert(split.begin() + attrs.axis, attrs.groups);
      const Value x = reshape(precise(n.in()), split);
      const Dims axes = other_axes(x.shape(), {0, attrs.axis});
      Value y = reshape(layer_norm(x, {}, {}, axes, attrs.epsilon), shape.dims());
      size_t next = 1;
      if (attrs.scale) y = y * spread(n.in(next++), shape, {attrs.axis});
      if (attrs.offset) y = y + spread(n.in(next), shape, {attrs.axis});
      return {cast(y, n.in().dtype())};
    },
};

Value group_norm(Value x, Value scale, Value offset, int64_t groups, int64_t axis, double epsilon) {
  require(x.defined(), "group_norm: the input is an undefined value");
  Values inputs = {x};
  if (scale.defined()) inputs.push_back(scale);
  if (offset.defined()) inputs.push_back(offset);
  const GroupNormAttrs attrs{groups, normalize_axis(axis, x.rank(), "group_norm"), epsilon,
                             scale.defined(), offset.defined()};
  return emit(group_norm_op, inputs, attrs);
}

}  // namespace keratin::ops

#include "keratin/layers/rnn_cell.h"

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {

Shape RnnCell::output_shape() const {
  const Tree<Shape> shapes = state_shapes();
  const auto flat = shapes.flat();
  require(!flat.empty(), class_name(), " '", name(), "': expected at least one state, got none");
  return flat[0];
}

Results RnnCell::initial_states(const Call&, Value like) const {
  return state_shapes().map<Value>(
      [&](const Shape& shape) { return detail::filled_for(like, shape, compute_dtype(), 0); });
}

Tree<Traced> RnnCell::draw(const Call&, Value, const Shape&) const { return {}; }

Values RnnCell::states(const Call& c) const {
  Values values;
  c.argument(1).each([&](const Traced& t) { values.push_back(t.value); });
  const size_t expected = state_shapes().leaf_count();
  require(values.size() == expected, class_name(), " '", name(), "': expected ", expected,
          " states, got ", values.size());
  return values;
}

Results RnnCell::stepped(const Call& c, Value output, const Values& states) {
  return Results::List{output, c.argument(1).pack(states)};
}

CellPtr detail::as_cell(const LayerPtr& layer, std::string_view who) {
  require(layer != nullptr, who, ": argument `cell` should be a cell, got nothing");
  auto cell = std::dynamic_pointer_cast<RnnCell>(layer);
  require(cell != nullptr, who,
          ": the RNN cell should have a `state_size` (derive it from RnnCell). Received: cell=",
          layer->class_name(), " '", layer->name(), "'");
  return cell;
}

Value detail::filled_for(Value like, const Shape& shape, DType dtype, double value) {
  Dims dims = shape.dims();
  dims.insert(dims.begin(), like.shape()[0]);
  if (dims[0] != unknown) return ops::full(like.block(), dtype, dims, value);
  // The batch is known only from `like`, whose elements are not used.
  Dims limits(static_cast<size_t>(like.rank()), 1), ones(dims.size(), 1);
  limits[0] = ops::to_end;
  ones[0] = ops::keep_size;
  const Value some = ops::slice(like, Dims(limits.size(), 0), limits);
  const Value never = ops::constant(like.block(), Tensor::scalar(DType::boolean, 0));
  const Value number = ops::cast(ops::reshape(some, ones), dtype);
  return ops::broadcast_to(ops::where(never, number, ops::scalar_like(number, value)), dims);
}

}  // namespace keratin

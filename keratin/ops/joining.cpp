#include "keratin/ops/joining.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/slicing.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

constexpr int64_t max_padding = int64_t{1} << 48;  // keeps sums of sizes from overflowing

void require_padding(const Node& n, const Dims& list, const char* name) {
  require(static_cast<int64_t>(list.size()) == n.in().rank(), n.name(), ": expected '", name,
          "' for each axis of ", n.in().shape(), ", got ", Listed{list});
  for (int64_t count : list)
    require(count >= 0 && count <= max_padding, n.name(), ": '", name, "' must not be negative (",
            "or larger than 2^48), got ", Listed{list});
}

// The elements from the first to the last of an axis with gaps between them.
int64_t spread_size(int64_t size, int64_t interior) {
  return size == 0 ? 0 : size + (size - 1) * interior;
}

Types infer_pad(const Node& n) {
  const auto& attrs = n.attr<PadAttrs>();
  require_padding(n, attrs.lo, "lo");
  require_padding(n, attrs.hi, "hi");
  require_padding(n, attrs.interior, "interior");
  Dims dims = n.in().shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == unknown) continue;
    require(Shape({dims[i], attrs.interior[i] + 1}).fits(), "pad: ", n.in().shape(), " with ",
            Listed{attrs.interior}, " between elements has too many elements");
    dims[i] = attrs.lo[i] + spread_size(dims[i], attrs.interior[i]) + attrs.hi[i];
  }
  return {{n.in().dtype(), Shape(dims)}};
}

Types infer_reflect_pad(const Node& n) {
  const auto& [lo, hi, symmetric] = n.attr<ReflectPadAttrs>();
  require_padding(n, lo, "lo");
  require_padding(n, hi, "hi");
  Dims dims = n.in().shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == unknown) continue;
    const int64_t most = symmetric ? dims[i] : std::max<int64_t>(dims[i] - 1, 0);
    require(lo[i] <= most && hi[i] <= most, "reflect_pad: axis ", i, " of ", n.in().shape(),
            " can be padded by at most ", most, " on a side, got ", lo[i], " and ", hi[i]);
    dims[i] += lo[i] + hi[i];
  }
  return {{n.in().dtype(), Shape(dims)}};
}

Value mirror(Value x, int64_t axis, int64_t start, int64_t limit) {
  return flip(slice_axis(x, axis, start, limit), {axis});
}

// Axis by axis: the mirrored start, x, the mirrored end.
Values decompose_reflect_pad(const Node& n) {
  const auto& [lo, hi, symmetric] = n.attr<ReflectPadAttrs>();
  const int64_t edge = symmetric ? 0 : 1;
  Value x = n.in();
  for (size_t i = 0; i < lo.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    const int64_t end = x.shape()[axis] - edge;
    Values parts;
    if (lo[i] > 0) parts.push_back(mirror(x, axis, edge, edge + lo[i]));
    parts.push_back(x);
    if (hi[i] > 0) parts.push_back(mirror(x, axis, end - hi[i], end));
    x = concatenate(parts, axis);
  }
  return {x};
}

Types infer_concat(const Node& n) {
  require(n.input_count() > 0, "concat: needs at least one input");
  const Type& first = n.in().type();
  const int64_t axis = n.attr<AxisAttrs>().axis;
  require(axis >= 0 && axis < first.shape.rank(), "concat: axis ", axis, " is outside ", first);
  Dims dims = first.shape.dims();
  for (size_t i = 1; i < n.input_count(); ++i) {
    const Shape& shape = n.in(i).shape();
    bool fits = n.in(i).dtype() == first.dtype && shape.rank() == first.shape.rank();
    for (int64_t a = 0; fits && a < shape.rank(); ++a) {
      int64_t& size = dims[static_cast<size_t>(a)];
      const bool open = size == unknown || shape[a] == unknown;
      if (a == axis) {
        size = open ? unknown : size + shape[a];
      } else {
        fits = open || size == shape[a];
        if (size == unknown) size = shape[a];
      }
    }
    require(fits, "concat: inputs must agree but for axis ", axis, ", input 0 is ", first,
            ", input ", i, " is ", n.in(i).type());
    require(dims[static_cast<size_t>(axis)] <= max_padding, "concat: too many elements");
  }
  return {{first.dtype, Shape(dims)}};
}

Values concat_grad(const Node& n, const Values& dy) {
  const int64_t axis = n.attr<AxisAttrs>().axis;
  Values result;
  int64_t start = 0;
  for (const Value& input : n.inputs()) {
    const int64_t size = input.shape()[axis];
    result.push_back(slice_axis(dy[0], axis, start, start + size));
    start += size;
  }
  return result;
}

// x as [outer, size, inner] around an axis, for the ops that repeat along it.
struct Around {
  int64_t outer, size, inner;
};
Around around(const Shape& shape, int64_t axis) {
  return {shape.count(0, axis), shape[axis], shape.count(axis + 1, shape.rank())};
}

Dims with_size(const Shape& shape, int64_t axis, int64_t size) {
  Dims dims = shape.dims();
  dims[static_cast<size_t>(axis)] = size;
  return dims;
}

Value tile_axis(Value x, int64_t axis, int64_t count) {
  const auto [outer, size, inner] = around(x.shape(), axis);
  const Value repeated =
      broadcast_to(reshape(x, {outer, 1, size * inner}), {outer, count, size * inner});
  return reshape(repeated, with_size(x.shape(), axis, size * count));
}

// The shape with some sizes multiplied.
Types multiplied(const Node& n, const Dims& factors) {
  Dims dims = n.in().shape().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    require(factors[i] >= 0, n.name(), ": a count must not be negative, got ", Listed{factors});
    if (dims[i] == unknown) continue;
    require(Shape({dims[i], factors[i]}).fits(), n.name(), ": ", n.in().type(), " repeated ",
            Listed{factors}, " times has too many elements");
    dims[i] *= factors[i];
  }
  return {{n.in().dtype(), Shape(dims)}};
}

}  // namespace

// out[lo + (1 + interior) · i] = x[i], else the value
const OpDef pad_op{.name = "pad",
                   .attrs = attrs_type<PadAttrs>(),
                   .arity = 1,
                   .infer = infer_pad,
                   .grad = [](const Node& n, const Values& dy) -> Values {
                     const auto& attrs = n.attr<PadAttrs>();
                     SliceAttrs window{.start = attrs.lo, .limit = {}, .step = {}};
                     for (size_t i = 0; i < attrs.lo.size(); ++i) {
                       const int64_t size = n.in().shape()[static_cast<int64_t>(i)];
                       window.limit.push_back(attrs.lo[i] + spread_size(size, attrs.interior[i]));
                       window.step.push_back(attrs.interior[i] + 1);
                     }
                     return {slice(dy[0], window.start, window.limit, window.step)};
                   }};

// x with its mirror image at the edges
const OpDef reflect_pad_op{.name = "reflect_pad",
                           .attrs = attrs_type<ReflectPadAttrs>(),
                           .arity = 1,
                           .infer = infer_reflect_pad,
                           .decompose = decompose_reflect_pad};

// out = x0, then x1, then …
const OpDef concat_op{.name = "concat",
                      .attrs = attrs_type<AxisAttrs>(),
                      .infer = infer_concat,
                      .grad = concat_grad,
                      .takes_strings = true};

// out[(i + shift) mod n] = x[i]
const OpDef roll_op{.name = "roll",
                    .attrs = attrs_type<RollAttrs>(),
                    .arity = 1,
                    .infer = [](const Node& n) -> Types {
                      const auto& attrs = n.attr<RollAttrs>();
                      require(attrs.axis >= 0 && attrs.axis < n.in().rank(), "roll: axis ",
                              attrs.axis, " is outside ", n.in().shape());
                      return {n.in().type()};
                    },
                    .decompose = [](const Node& n) -> Values {
                      const auto [shift, axis] = n.attr<RollAttrs>();
                      const int64_t size = n.in().shape()[axis];
                      const int64_t by = size == 0 ? 0 : ((shift % size) + size) % size;
                      if (by == 0) return {n.in()};
                      return {concatenate({slice_axis(n.in(), axis, size - by, size),
                                           slice_axis(n.in(), axis, 0, size - by)},
                                          axis)};
                    },
                    .takes_strings = true};

// out[i] = x[i mod n]
const OpDef tile_op{.name = "tile",
                    .attrs = attrs_type<TileAttrs>(),
                    .arity = 1,
                    .infer =
                        [](const Node& n) {
                          const Dims& repeats = n.attr<TileAttrs>().repeats;
                          require(static_cast<int64_t>(repeats.size()) == n.in().rank(),
                                  "tile: expected a count for each axis of ", n.in().shape(),
                                  ", got ", Listed{repeats});
                          return multiplied(n, repeats);
                        },
                    .decompose = [](const Node& n) -> Values {
                      Value x = n.in();
                      const Dims& repeats = n.attr<TileAttrs>().repeats;
                      for (size_t i = 0; i < repeats.size(); ++i)
                        if (repeats[i] != 1) x = tile_axis(x, static_cast<int64_t>(i), repeats[i]);
                      return {x};
                    },
                    .takes_strings = true};

// out[i] = x[i div count]
const OpDef repeat_op{.name = "repeat",
                      .attrs = attrs_type<RepeatAttrs>(),
                      .arity = 1,
                      .infer =
                          [](const Node& n) {
                            const auto [count, axis] = n.attr<RepeatAttrs>();
                            require(axis >= 0 && axis < n.in().rank(), "repeat: axis ", axis,
                                    " is outside ", n.in().shape());
                            Dims factors(static_cast<size_t>(n.in().rank()), 1);
                            factors[static_cast<size_t>(axis)] = count;
                            return multiplied(n, factors);
                          },
                      .decompose = [](const Node& n) -> Values {
                        const auto [count, axis] = n.attr<RepeatAttrs>();
                        const auto [outer, size, inner] = around(n.in().shape(), axis);
                        const Value flat = reshape(n.in(), {outer * size, 1, inner});
                        const Value repeated = broadcast_to(flat, {outer * size, count, inner});
                        return {reshape(repeated, n.type().shape.dims())};
                      },
                      .takes_strings = true};

Value pad(Value x, PadAttrs attrs) {
  const auto rank = static_cast<size_t>(x.rank());
  for (Dims* list : {&attrs.lo, &attrs.hi, &attrs.interior})
    if (list->empty()) list->assign(rank, 0);
  const Dims none(rank, 0);
  const bool nothing = attrs.lo == none && attrs.hi == none && attrs.interior == none;
  return nothing ? x : emit(pad_op, {x}, std::move(attrs));
}

Value pad_reflect(Value x, const Dims& lo, const Dims& hi) {
  return emit(reflect_pad_op, {x}, ReflectPadAttrs{lo, hi, false});
}
Value pad_symmetric(Value x, const Dims& lo, const Dims& hi) {
  return emit(reflect_pad_op, {x}, ReflectPadAttrs{lo, hi, true});
}

Value concatenate(const Values& inputs, int64_t axis) {
  require(!inputs.empty() && inputs[0].defined(), "concat: needs at least one input");
  const int64_t at = normalize_axis(axis, inputs[0].rank(), "concat");
  return inputs.size() == 1 ? inputs[0] : emit(concat_op, inputs, AxisAttrs{at});
}

Value stack(const Values& inputs, int64_t axis) {
  require(!inputs.empty() && inputs[0].defined(), "stack: needs at least one input");
  const int64_t at = normalize_axis(axis, inputs[0].rank() + 1, "stack");
  Values rows;
  for (const Value& input : inputs) {
    require(input.defined() && compatible(input.shape(), inputs[0].shape()),
            "stack: inputs must have one shape, got ", inputs[0].type(), " and ",
            input.defined() ? text(input.type()) : "an undefined value");
    rows.push_back(expand_dims(input, at));
  }
  return concatenate(rows, at);
}

Value roll(Value x, int64_t shift, int64_t axis) {
  return emit(roll_op, {x}, RollAttrs{shift, normalize_axis(axis, x.rank(), "roll")});
}
Value tile(Value x, const Dims& repeats) {
  Dims counts = repeats;
  while (static_cast<int64_t>(counts.size()) < x.rank()) counts.insert(counts.begin(), 1);
  while (x.rank() < static_cast<int64_t>(counts.size())) x = expand_dims(x, 0);
  return emit(tile_op, {x}, TileAttrs{counts});
}
Value repeat(Value x, int64_t count, int64_t axis) {
  return emit(repeat_op, {x}, RepeatAttrs{count, normalize_axis(axis, x.rank(), "repeat")});
}

}  // namespace keratin::ops

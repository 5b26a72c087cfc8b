#include "keratin/base/text.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/operation_rules.h"
#include "keratin/ops/fill.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::rules {
namespace {

// Calls cut(n) for n equal pieces, or cut(positions) for pieces that end at these positions.
template <class F>
Results cut_by_option(const C& c, const F& cut) {
  const Json& how = c.option("indices_or_sections");
  return how.is_number() ? cut(how.as_int()) : cut(dims_of(how));
}

// Broadcasts the axes of x, except for one, to the sizes of `like`.
Value broadcast_but(Value x, Value like, int64_t axis) {
  bool same = true;
  for (int64_t i = 0; i < x.rank(); ++i)
    same = same && (i == axis || x.shape()[i] != 1 || like.shape()[i] == 1);
  if (same) return x;
  const Value ones = ops::sum(ops::fill_like(like, 1, DType::i32), {axis}, /*keepdims=*/true);
  return ops::where(as_bool(ones), x, x);
}

// A pair for each axis, from pairs, one pair for all of them, or one number for all.
std::vector<Dims> pad_widths(const Json& widths, int64_t rank) {
  const auto count = static_cast<size_t>(rank);
  if (widths.is_int()) return std::vector<Dims>(count, Dims(2, widths.as_int()));
  const bool pair = widths.size() == 2 && widths[0].is_int();
  require(pair || widths.size() == 1 || widths.size() == count,
          "pad: expected `pad_width` to be a number, a pair or ", rank, " pairs, got ", widths);
  std::vector<Dims> pairs;
  for (size_t i = 0; i < count; ++i) {
    const Json& both = pair ? widths : widths[widths.size() == 1 ? 0 : i];
    require(both.is_array() && both.size() == 2, "pad: expected pairs in `pad_width`, got ",
            widths);
    pairs.push_back({both[0].as_int(), both[1].as_int()});
  }
  return pairs;
}

}  // namespace

Results reshape(const C& c) { return ops::reshape(c.tensor(0), c.dims("newshape")); }
Results broadcast_to(const C& c) { return ops::broadcast_to(c.tensor(0), c.dims("shape")); }
Results transpose(const C& c) {
  const Dims axes = c.dims("axes");
  return axes.empty() ? ops::transpose(c.tensor(0)) : ops::transpose(c.tensor(0), axes);
}
Results swap_axes(const C& c) {
  return ops::swapaxes(c.tensor(0), c.option("axis1").as_int(), c.option("axis2").as_int());
}
Results move_axis(const C& c) {
  return ops::moveaxis(c.tensor(0), c.dims("source"), c.dims("destination"));
}
Results expand_dims(const C& c) { return ops::expand_dims(c.tensor(0), c.dims("axis")); }
Results squeeze(const C& c) {
  if (c.option("axis").is_null()) return ops::squeeze(c.tensor(0));
  return ops::squeeze(c.tensor(0), c.dims("axis"));
}
Results concatenate(const C& c) {
  return ops::concatenate(c.list(0), c.integer("axis").value_or(0));
}
Results append(const C& c) {
  const Values in = c.operands(0, 2);
  return ops::append(in[0], in[1], c.integer("axis"));
}
Results stack(const C& c) { return ops::stack(c.list(0), c.integer("axis").value_or(0)); }
Results split(const C& c) {
  const int64_t axis = c.integer("axis").value_or(0);
  return cut_by_option(c, [&](const auto& how) { return ops::split(c.tensor(0), how, axis); });
}
Results hsplit(const C& c) {
  return cut_by_option(c, [&](const auto& how) { return ops::hsplit(c.tensor(0), how); });
}
Results vsplit(const C& c) {
  return cut_by_option(c, [&](const auto& how) { return ops::vsplit(c.tensor(0), how); });
}
Results dsplit(const C& c) {
  return cut_by_option(c, [&](const auto& how) { return ops::dsplit(c.tensor(0), how); });
}
Results array_split(const C& c) {
  const int64_t axis = c.integer("axis").value_or(0);
  return cut_by_option(c,
                       [&](const auto& how) { return ops::array_split(c.tensor(0), how, axis); });
}
Results unstack(const C& c) {
  return ops::unstack(c.tensor(0), c.integer("num"), c.integer("axis").value_or(0));
}
Results flip(const C& c) {
  return lists_no_axes(c) ? c.tensor(0) : ops::flip(c.tensor(0), c.dims("axis"));
}
Results tile(const C& c) { return ops::tile(c.tensor(0), c.dims("repeats")); }
Results repeat(const C& c) {
  return ops::repeat(c.tensor(0), c.dims("repeats"), c.integer("axis"));
}
Results roll(const C& c) {
  const Json& axis = c.option("axis");
  return ops::roll(c.tensor(0), c.dims("shift"),
                   axis.is_null() ? std::nullopt : std::optional(dims_of(axis)));
}
Results take(const C& c) {
  return ops::take(c.tensor(0), as_index(c.tensor(1)), c.integer("axis"));
}
Results one_hot(const C& c) {
  return ops::one_hot(as_index(c.tensor(0)), c.option("num_classes").as_int(),
                      c.integer("axis").value_or(-1), c.dtype().value_or(DType::f32));
}
Results multi_hot(const C& c) {
  return ops::multi_hot(as_index(c.tensor(0)), c.option("num_classes").as_int(),
                        c.integer("axis").value_or(-1), c.dtype().value_or(DType::f32));
}
Results pad(const C& c) {
  const Value x = c.tensor(0);
  const Tree<Traced>& value = c.argument("constant_values");
  const double number =
      value.is_none() ? 0 : tensor_from_json(constant_json(value), x.dtype()).at(0);
  return ops::pad(x, pad_widths(c.option("pad_width"), x.rank()), c.option("mode").as_string(),
                  number);
}
Results rot90(const C& c) {
  return ops::rot90(c.tensor(0), c.integer("k").value_or(1), c.dims("axes"));
}
Results diagonal(const C& c) {
  return ops::diagonal(c.tensor(0), c.integer("offset").value_or(0), c.integer("axis1").value_or(0),
                       c.integer("axis2").value_or(1));
}
Results trace(const C& c) {
  return ops::trace(c.tensor(0), c.integer("offset").value_or(0), c.integer("axis1").value_or(0),
                    c.integer("axis2").value_or(1));
}
Results meshgrid(const C& c) {
  Values vectors;
  for (size_t i = 0; i < c.argument_count(); ++i) vectors.push_back(c.tensor(i));
  return ops::meshgrid(vectors, c.option("indexing") == Json("xy") ? "xy" : "ij");
}
Results slice(const C& c) {
  return ops::slice(c.tensor(0), as_index(c.tensor(1)), c.dims("shape"));
}
Results slice_update(const C& c) {
  const Value x = c.tensor(0);
  return ops::slice_update(x, as_index(c.tensor(1)), ops::cast(c.tensor(2), x.dtype()));
}
Results take_along_axis(const C& c) {
  const auto axis = c.integer("axis");
  const Value x = c.tensor(0), indices = as_index(c.tensor(1));
  const int64_t rank = axis ? x.rank() : 1;
  require(indices.rank() == rank, "take_along_axis: `indices` must have ", rank,
          axis ? " dimensions, as `x` has" : " dimension where there is no axis", ", got shape ",
          keras_shape(indices.shape()));
  if (!axis) return ops::take_along_axis(x, indices);
  const int64_t at = normalize_axis(*axis, rank, "take_along_axis");
  return ops::take_along_axis(broadcast_but(x, indices, at), broadcast_but(indices, x, at), at);
}

}  // namespace keratin::rules

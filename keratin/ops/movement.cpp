#include "keratin/ops/movement.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/listed.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

// The sizes of a reshape, with keep_size replaced by those of the input.
Dims keep_sizes(const Shape& input, Dims shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t& size = shape[axis];
    if (size == infer_size) continue;
    require(size >= 0 || size == keep_size, "reshape: a size must not be negative, got ", size);
    if (size != keep_size) continue;
    require(static_cast<int64_t>(axis) < input.rank(), "reshape: axis ", axis,
            " is to be kept, the input ", input, " has none");
    size = input[static_cast<int64_t>(axis)];
  }
  return shape;
}

// Fills in the inferred sizes of a reshape; unknown if they depend on unknown sizes.
Shape reshaped(const Shape& input, const Dims& asked) {
  Dims shape = keep_sizes(input, asked);
  require(std::count(asked.begin(), asked.end(), infer_size) <= 1,
          "reshape: only one size can be inferred, got ", Listed{asked});
  // Axes that are kept in place on both sides cancel, so they may be unknown.
  Dims from, to;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (i >= asked.size() || asked[i] != keep_size || shape[i] != unknown)
      from.push_back(input[axis]);
  }
  int64_t* open = nullptr;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (asked[i] == infer_size) {
      open = &shape[i];
    } else if (shape[i] != unknown) {
      to.push_back(shape[i]);
    }
  }
  const Shape given(from), rest(to);
  if (!given.known() || !rest.fits()) return Shape(shape);
  const int64_t count = given.count(), part = rest.count();
  const bool divides =
      open == nullptr ? count == part : (part > 0 ? count % part == 0 : count == 0);
  require(divides, "reshape: cannot give ", input, " (", count, " elements) the shape ",
          Listed{asked});
  if (open != nullptr) *open = part > 0 ? count / part : 0;
  return Shape(shape);
}

}  // namespace

const OpDef reshape_op{
    .name = "reshape",
    .attrs = attrs_type<ReshapeAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      return {{n.in().dtype(), reshaped(n.in().shape(), n.attr<ReshapeAttrs>().shape)}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {reshape(dy[0], n.in().shape().dims())};
    },
    .view = true,
    .takes_strings = true,
};

const OpDef transpose_op{
    .name = "transpose",
    .attrs = attrs_type<TransposeAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      const Dims& permutation = n.attr<TransposeAttrs>().permutation;
      const Shape& shape = n.in().shape();
      Dims sorted = permutation;
      std::sort(sorted.begin(), sorted.end());
      Dims dims;
      for (size_t i = 0; i < sorted.size(); ++i)
        require(sorted[i] == static_cast<int64_t>(i), "transpose: ", Listed{permutation},
                " is no permutation of the axes");
      require(static_cast<int64_t>(permutation.size()) == shape.rank(), "transpose: expected ",
              shape.rank(), " axes for ", shape, ", got ", permutation.size());
      for (int64_t axis : permutation) dims.push_back(shape[axis]);
      return {{n.in().dtype(), Shape(dims)}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      const Dims& permutation = n.attr<TransposeAttrs>().permutation;
      Dims inverse(permutation.size());
      for (size_t i = 0; i < permutation.size(); ++i)
        inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
      return {transpose(dy[0], inverse)};
    },
    .takes_strings = true,
};

const OpDef broadcast_to_op{
    .name = "broadcast_to",
    .attrs = attrs_type<BroadcastAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      Dims dims = n.attr<BroadcastAttrs>().shape;
      const Shape& input = n.in().shape();
      const int64_t extra = static_cast<int64_t>(dims.size()) - input.rank();
      require(extra >= 0, "broadcast_to: ", input, " has more axes than the target ", Listed{dims});
      for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
        int64_t& size = dims[static_cast<size_t>(i)];
        const int64_t from = i < extra ? 1 : input[i - extra];
        require(size >= 0 || (size == -1 && i >= extra), "broadcast_to: ", input, " to ",
                Listed{n.attr<BroadcastAttrs>().shape},
                size == -1 ? ": the size of a new axis must be given"
                           : ": a size must not be negative");
        if (size == -1) size = from;
        require(size == from || from == 1 || from == unknown, "broadcast_to: ", input,
                " cannot become ", Listed{dims});
      }
      return {{n.in().dtype(), Shape(dims)}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {sum_to(dy[0], n.in().shape())};
    },
    .takes_strings = true,
};

namespace {

Values reshape_to_type(const Node& n) { return {reshape(n.in(), n.type().shape.dims())}; }

}  // namespace

// A new axis of size 1. An op of its own (not a reshape) since several sizes may be unknown.
const OpDef expand_dims_op{
    .name = "expand_dims",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      Dims dims = n.in().shape().dims();
      const int64_t axis = normalize_axis(n.attr<AxisAttrs>().axis, n.in().rank() + 1, n.name());
      dims.insert(dims.begin() + axis, 1);
      return {{n.in().dtype(), Shape(dims)}};
    },
    .decompose = reshape_to_type,
    .takes_strings = true,
};

const OpDef squeeze_op{
    .name = "squeeze",
    .attrs = attrs_type<AxisAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      Dims dims = n.in().shape().dims();
      const int64_t axis = normalize_axis(n.attr<AxisAttrs>().axis, n.in().rank(), n.name());
      require(dims[static_cast<size_t>(axis)] == 1 || dims[static_cast<size_t>(axis)] == unknown,
              "squeeze: axis ", axis, " of ", n.in().shape(), " is not of size 1");
      dims.erase(dims.begin() + axis);
      return {{n.in().dtype(), Shape(dims)}};
    },
    .decompose = reshape_to_type,
    .takes_strings = true,
};

Value reshape(Value x, const Dims& shape) {
  const bool same = x.shape().known() && x.shape().dims() == shape;
  return same ? x : emit(reshape_op, {x}, ReshapeAttrs{shape});
}

Value transpose(Value x, const Dims& permutation) {
  Dims axes;
  for (int64_t axis : permutation) axes.push_back(normalize_axis(axis, x.rank(), "transpose"));
  const bool same = axes == normalize_axes({}, x.rank(), "transpose");
  return same ? x : emit(transpose_op, {x}, TransposeAttrs{axes});
}

Value broadcast_to(Value x, const Dims& shape) {
  const bool same = x.shape().known() && x.shape().dims() == shape;
  return same ? x : emit(broadcast_to_op, {x}, BroadcastAttrs{shape});
}

Value expand_dims(Value x, int64_t axis) {
  return emit(expand_dims_op, {x}, AxisAttrs{normalize_axis(axis, x.rank() + 1, "expand_dims")});
}

Value squeeze(Value x, int64_t axis) {
  return emit(squeeze_op, {x}, AxisAttrs{normalize_axis(axis, x.rank(), "squeeze")});
}

}  // namespace keratin::ops

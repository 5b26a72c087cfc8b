#include "keratin/ops/movement.h"

#include <algorithm>

#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"

namespace keratin::ops {

namespace {

// Fills in the sizes that a reshape leaves open; unknown stays where the input does not tell.
Shape reshaped(const Shape& input, Dims shape) {
  int64_t open = -1;
  int64_t rest = 1;
  bool rest_known = true;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t& size = shape[axis];
    if (size == keep_size) {
      require(static_cast<int64_t>(axis) < input.rank(), "reshape: axis ", axis,
              " is to be kept, the input ", input, " has none");
      size = input[static_cast<int64_t>(axis)];
      if (size == unknown) {
        rest_known = false;
        continue;
      }
    } else if (size == infer_size) {
      require(open < 0, "reshape: only one size can be inferred, got ", Shape(shape));
      open = static_cast<int64_t>(axis);
      continue;
    }
    require(size >= 0, "reshape: a size must not be negative, got ", size);
    rest *= size;
  }
  if (open >= 0 && rest_known && input.known()) {
    require(rest > 0 ? input.count() % rest == 0 : input.count() == 0, "reshape: cannot give ",
            input, " (", input.count(), " elements) the shape ", Shape(shape));
    shape[static_cast<size_t>(open)] = rest > 0 ? input.count() / rest : 0;
  }
  const Shape result(shape);
  require(!input.known() || !result.known() || input.count() == result.count(),
          "reshape: cannot give ", input, " (", input.count(), " elements) the shape ", result);
  return result;
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
        require(sorted[i] == static_cast<int64_t>(i), "transpose: ", Shape(sorted),
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
};

const OpDef broadcast_to_op{
    .name = "broadcast_to",
    .attrs = attrs_type<BroadcastAttrs>(),
    .arity = 1,
    .infer = [](const Node& n) -> Types {
      Dims dims = n.attr<BroadcastAttrs>().shape;
      const Shape& input = n.in().shape();
      const int64_t extra = static_cast<int64_t>(dims.size()) - input.rank();
      require(extra >= 0, "broadcast_to: ", input, " has more axes than the target ", Shape(dims));
      for (int64_t axis = 0; axis < input.rank(); ++axis) {
        int64_t& size = dims[static_cast<size_t>(axis + extra)];
        if (size == -1) size = input[axis];
        require(size == input[axis] || input[axis] == 1 || input[axis] == unknown,
                "broadcast_to: ", input, " cannot become ", Shape(dims));
      }
      const Shape result(dims);
      if (result.known()) result.count();  // refuses what overflows
      return {{n.in().dtype(), result}};
    },
    .grad = [](const Node& n, const Values& dy) -> Values {
      return {sum_to(dy[0], n.in().shape())};
    },
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
};

Value reshape(Value x, const Dims& shape) {
  const bool same = x.shape().known() && x.shape().dims() == shape;
  return same ? x : emit(reshape_op, {x}, ReshapeAttrs{shape});
}

Value transpose(Value x, const Dims& permutation) {
  Dims axes;
  for (int64_t axis : permutation) axes.push_back(normalize_axis(axis, x.rank(), "transpose"));
  return std::is_sorted(axes.begin(), axes.end()) && static_cast<int64_t>(axes.size()) == x.rank()
             ? x
             : emit(transpose_op, {x}, TransposeAttrs{axes});
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

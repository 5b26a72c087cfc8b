#include "keratin/ops/constant.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

const OpDef constant_op{
    .name = "constant",
    .attrs = attrs_type<ConstantAttrs>(),
    .arity = 0,
    .infer = [](const Node& n) -> Types {
      const Tensor& value = n.attr<ConstantAttrs>().value;
      require(value.defined(), "constant: the value is missing");
      return {{value.dtype(), value.shape()}};
    },
    .grad = no_gradient,
};

const OpDef iota_op{
    .name = "iota",
    .attrs = attrs_type<IotaAttrs>(),
    .arity = 0,
    .infer = [](const Node& n) -> Types {
      const auto& attrs = n.attr<IotaAttrs>();
      require(is_float(attrs.dtype) || is_integer(attrs.dtype),
              "iota: expected a dtype of numbers, got ", attrs.dtype);
      const Shape shape(attrs.shape);
      require(shape.known(), "iota: the shape must be known, got ", shape);
      require(attrs.axis >= 0 && attrs.axis < shape.rank(), "iota: axis ", attrs.axis,
              " is outside ", shape);
      return {{attrs.dtype, shape}};
    },
    .grad = no_gradient,
};

Value constant(Block& block, Tensor value) {
  return block.append(constant_op, {}, ConstantAttrs{std::move(value)}).out();
}

Value full(Block& block, DType dtype, const Shape& shape, double value) {
  return broadcast_to(constant(block, Tensor::scalar(dtype, value)), shape.dims());
}

Value full_like(Value like, double value) {
  return full(like.block(), like.dtype(), like.shape(), value);
}

Value iota(Block& block, DType dtype, const Shape& shape, int64_t axis) {
  return block
      .append(iota_op, {},
              IotaAttrs{dtype, shape.dims(), normalize_axis(axis, shape.rank(), "iota")})
      .out();
}

const Tensor* constant_value(Value value) {
  if (&value.node().op() != &constant_op) return nullptr;
  return &value.node().attr<ConstantAttrs>().value;
}

std::optional<double> uniform_value(Value value) {
  // Bounded, so that the cost does not depend on the length of the chain.
  for (int step = 0; step < 4; ++step) {
    const OpDef* op = &value.node().op();
    if (op != &broadcast_to_op && op != &reshape_op) break;
    value = value.node().in();
  }
  const Tensor* tensor = constant_value(value);
  if (tensor == nullptr || tensor->count() != 1 || tensor->dtype() == DType::string)
    return std::nullopt;
  return tensor->at(0);
}

}  // namespace keratin::ops

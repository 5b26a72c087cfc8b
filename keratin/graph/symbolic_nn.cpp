#include "keratin/graph/operation.h"
#include "keratin/graph/symbolic_ops.h"

namespace keratin::ops {

using O = Json::Object;

SymbolicTensor relu(const Symbols& x) { return operation_result("Relu", {x}); }
SymbolicTensor relu6(const Symbols& x) { return operation_result("Relu6", {x}); }
SymbolicTensor sigmoid(const Symbols& x) { return operation_result("Sigmoid", {x}); }
SymbolicTensor silu(const Symbols& x) { return operation_result("Silu", {x}); }
SymbolicTensor softplus(const Symbols& x) { return operation_result("Softplus", {x}); }
SymbolicTensor softsign(const Symbols& x) { return operation_result("Softsign", {x}); }
SymbolicTensor selu(const Symbols& x) { return operation_result("Selu", {x}); }
SymbolicTensor hard_sigmoid(const Symbols& x) { return operation_result("HardSigmoid", {x}); }
SymbolicTensor hard_silu(const Symbols& x) { return operation_result("HardSilu", {x}); }
SymbolicTensor hard_tanh(const Symbols& x) { return operation_result("HardTanh", {x}); }
SymbolicTensor log_sigmoid(const Symbols& x) { return operation_result("LogSigmoid", {x}); }
SymbolicTensor sparse_plus(const Symbols& x) { return operation_result("SparsePlus", {x}); }
SymbolicTensor sparse_sigmoid(const Symbols& x) { return operation_result("SparseSigmoid", {x}); }
SymbolicTensor tanh_shrink(const Symbols& x) { return operation_result("TanhShrink", {x}); }
SymbolicTensor elu(const Symbols& x, double alpha) {
  return operation_result("Elu", {x}, O{{"alpha", alpha}});
}
SymbolicTensor celu(const Symbols& x, double alpha) {
  return operation_result("Celu", {x}, O{{"alpha", alpha}});
}
SymbolicTensor leaky_relu(const Symbols& x, const Number& negative_slope) {
  return operation_result("LeakyRelu", {x}, O{{"negative_slope", negative_slope.json()}});
}
SymbolicTensor gelu(const Symbols& x, bool approximate) {
  return operation_result("Gelu", {x}, O{{"approximate", approximate}});
}
SymbolicTensor squareplus(const Symbols& x, double b) {
  return operation_result("Squareplus", {x}, O{{"b", b}});
}
SymbolicTensor hard_shrink(const Symbols& x, const Number& threshold) {
  return operation_result("HardShrink", {x}, O{{"threshold", threshold.json()}});
}
SymbolicTensor soft_shrink(const Symbols& x, const Number& threshold) {
  return operation_result("SoftShrink", {x}, O{{"threshold", threshold.json()}});
}
SymbolicTensor threshold(const Symbols& x, const Number& threshold, const Number& default_value) {
  return operation_result(
      "Threshold", {x},
      O{{"threshold", threshold.json()}, {"default_value", default_value.json()}});
}
SymbolicTensor glu(const Symbols& x, int64_t axis) {
  return operation_result("Glu", {x}, O{{"axis", axis}});
}
SymbolicTensor sparsemax(const Symbols& x, int64_t axis) {
  return operation_result("Sparsemax", {x}, O{{"axis", axis}});
}
SymbolicTensor softmax(const Symbols& x, const Axes& axis) {
  return operation_result("Softmax", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor log_softmax(const Symbols& x, const Axes& axis) {
  return operation_result("LogSoftmax", {x}, O{{"axis", config::write(axis)}});
}
SymbolicTensor normalize(const Symbols& x, const Axes& axis, int64_t order,
                         std::optional<double> epsilon) {
  return operation_result(
      "Normalize", {x},
      O{{"axis", config::write(axis)}, {"order", order}, {"epsilon", config::write(epsilon)}});
}
SymbolicTensor batch_normalization(const Symbols& x, const Symbols& mean, const Symbols& variance,
                                   int64_t axis, const Symbols& offset, const Symbols& scale,
                                   double epsilon) {
  return operation_result("BatchNorm", {x, mean, variance, offset, scale},
                          O{{"axis", axis}, {"epsilon", epsilon}});
}
SymbolicTensor layer_normalization(const Symbols& x, const Symbols& gamma, const Symbols& beta,
                                   const Sizes& axis, std::optional<double> epsilon,
                                   bool rms_scaling) {
  return operation_result("LayerNorm", {x, gamma, beta},
                          O{{"axis", axis.to_json()},
                            {"epsilon", config::write(epsilon)},
                            {"rms_scaling", rms_scaling}});
}
SymbolicTensor rms_normalization(const Symbols& x, const Symbols& scale, const Sizes& axis,
                                 std::optional<double> epsilon) {
  return operation_result("RMSNorm", with_named(x, "scale", scale),
                          O{{"axis", axis.to_json()}, {"epsilon", config::write(epsilon)}});
}
SymbolicTensor one_hot(const Symbols& x, int64_t num_classes, int64_t axis, DType dtype) {
  return operation_result("OneHot", {x},
                          O{{"num_classes", num_classes},
                            {"axis", axis},
                            {"dtype", keras_name(dtype)},
                            {"sparse", false}});
}
SymbolicTensor multi_hot(const Symbols& x, int64_t num_classes, int64_t axis, DType dtype) {
  return operation_result("MultiHot", {x},
                          O{{"num_classes", num_classes},
                            {"axis", axis},
                            {"dtype", keras_name(dtype)},
                            {"sparse", false}});
}
Symbols moments(const Symbols& x, const Dims& axes, bool keepdims, bool synchronized) {
  return call_operation(
      "Moments", {{x}, {}},
      O{{"axes", config::write(axes)}, {"keepdims", keepdims}, {"synchronized", synchronized}});
}
SymbolicTensor psnr(const Symbols& x1, const Symbols& x2, double max_val) {
  return operation_result("PSNR", {x1, x2}, O{{"max_val", max_val}});
}

}  // namespace keratin::ops

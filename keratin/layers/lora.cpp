#include "keratin/layers/lora.h"

#include "keratin/graph/call_protocol.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

// kernel + scale · a · b, where the last axes of a and b are `rank` and `columns`.
template <class T>
Tensor with_update(const Tensor& kernel, const Tensor& a, const Tensor& b, double scale) {
  std::vector<T> sum = kernel.to_vector<T>();
  const std::vector<T> left = a.to_vector<T>(), right = b.to_vector<T>();
  const auto rank = static_cast<size_t>(b.shape()[0]), columns = static_cast<size_t>(b.shape()[1]);
  for (size_t row = 0; row * columns < sum.size(); ++row)
    for (size_t i = 0; i < rank; ++i) {
      const T factor = static_cast<T>(scale) * left[row * rank + i];
      for (size_t column = 0; column < columns; ++column)
        sum[row * columns + column] += factor * right[i * columns + column];
    }
  return Tensor::of(kernel.dtype(), kernel.shape(), sum);
}

}  // namespace

// The weights are float32 in any layer, so that small updates are not lost.
void LoraLayer::make_lora(const Variable& kernel, const LoraOptions& options) {
  require(options.rank > 0, class_name(), " '", name(), "': expected a positive rank, got ",
          options.rank);
  require(kernel.defined(), "Cannot enable lora on a layer that isn't yet built.");
  require(!lora_enabled(), "lora is already enabled. This can only be done once per layer.");
  Dims rows = kernel.shape().dims();
  const int64_t columns = rows.back();
  rows.back() = options.rank;
  const auto add = [&](std::string_view which, const Shape& shape, const Initializer& start) {
    const std::string own = text("lora_", kernel.name(), "_", which);
    const Variable weight = add_weight(
        own, shape, start, {.dtype = DType::f32, .regularizer = kernel.spec().regularizer});
    weight.set_path(kernel.path().substr(0, kernel.path().rfind('/') + 1) + own);
    return weight;
  };
  lora_kernel_ = kernel;
  lora_a_ = add("a", Shape(rows), options.a_initializer);
  lora_b_ = add("b", {options.rank, columns}, options.b_initializer);
  lora_scale_ =
      options.alpha.value_or(static_cast<double>(options.rank)) / static_cast<double>(options.rank);
  kernel.set_trainable(false);
  mark_changed();
}

Value LoraLayer::with_lora(const Call& c, const Variable& kernel) const {
  if (!lora_enabled()) return c.read(kernel);
  const auto read = [&](const Variable& weight) {
    return cast_float(c.read(weight), compute_dtype());
  };
  return read(kernel) + ops::matmul(read(lora_a_), read(lora_b_)) * lora_scale_;
}

std::vector<Variable> LoraLayer::saved_weights() const {
  std::vector<Variable> saved;
  for (const Variable& weight : own_weights())
    if (!lora_enabled() || (!(weight == lora_a_) && !(weight == lora_b_))) saved.push_back(weight);
  return saved;
}

Tensor LoraLayer::saved_value(const Variable& weight) const {
  if (!lora_enabled() || !(weight == lora_kernel_)) return weight.value();
  const auto merge = weight.dtype() == DType::f64 ? with_update<double> : with_update<float>;
  // Keras rounds it to the dtype in which the layer computes.
  return merge(weight.value(), lora_a_.value(), lora_b_.value(), lora_scale_).cast(compute_dtype());
}

std::vector<Variable> LoraLayer::unsaved_weights() const {
  if (!lora_enabled()) return {};
  return {lora_a_, lora_b_};
}

}  // namespace keratin

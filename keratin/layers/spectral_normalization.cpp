#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/layers/wrappers.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

Variable find_weight(const Layer& layer, std::string_view name) {
  const std::vector<Variable> weights = layer.own_weights();
  const auto found = std::find_if(weights.begin(), weights.end(),
                                  [&](const Variable& weight) { return weight.name() == name; });
  return found == weights.end() ? Variable() : *found;
}

Value unit(Value x) { return ops::normalize(x, Dims{}); }

// x, with the gradient of `like`.
Value with_gradient_of(Value like, Value x) {
  return ops::stop_gradient(x) + (like - ops::stop_gradient(like));
}

}  // namespace

SpectralNormalizationLayer::SpectralNormalizationLayer(SpectralNormalizationConfig config,
                                                       LayerOptions options)
    : WrapperOf(std::move(config), std::move(options)) {
  constexpr int64_t max_iterations = 10'000;  // each is a part of the program
  require(cfg.power_iterations > 0,
          "`power_iterations` should be greater than zero. Received: `power_iterations=",
          cfg.power_iterations, "`");
  require(cfg.power_iterations <= max_iterations, "SpectralNormalization: expected at most ",
          max_iterations, " power iterations, got ", cfg.power_iterations);
}

void SpectralNormalizationLayer::build(const Shapes& inputs) {
  WrapperOf::build(inputs);
  kernel_ = find_weight(*layer(), "kernel");
  if (!kernel_.defined()) kernel_ = find_weight(*layer(), "embeddings");
  require(kernel_.defined(), layer()->class_name(),
          " object has no attribute 'kernel' nor 'embeddings'");
  share_weight(kernel_);
  vector_u_ = add_weight("vector_u", {1, kernel_.shape().back()},
                         initializers::TruncatedNormal({.stddev = 0.02}),
                         {.trainable = false, .dtype = kernel_.dtype()});
  InputSpec spec{.min_ndim = 1};
  if (const int64_t last = inputs[0].back(); last != unknown) spec.axes.emplace(-1, last);
  set_input_spec({spec});
}

// As in Keras on TensorFlow, the optimizer sees the gradient with respect to the divided kernel.
void SpectralNormalizationLayer::normalize(const Call& c) const {
  const Value kernel = c.read(kernel_), old_u = c.read(vector_u_);
  const Value matrix = ops::reshape(kernel, {ops::infer_size, kernel_.shape().back()});
  Value u = old_u, v;
  for (int64_t i = 0; i < cfg.power_iterations; ++i) {
    v = unit(ops::matmul(u, matrix, {.transpose_b = true}));
    u = unit(ops::matmul(v, matrix));
  }
  const Value sigma = ops::matmul(ops::matmul(v, matrix), u, {.transpose_b = true});
  const Value zero = ops::all(ops::equal(kernel, ops::scalar_like(kernel, 0)));
  const Value divided = ops::where(zero, kernel, kernel / ops::reshape(sigma, {}));
  c.update(vector_u_, ops::stop_gradient(ops::where(zero, old_u, u)));
  c.update(kernel_, with_gradient_of(kernel, divided));
}

Results SpectralNormalizationLayer::call(const Call& c) const {
  // Replicas share the kernel: the first one divides it, before the others read it.
  if (c.training() && c.is_first_replica()) normalize(c);
  Traced input{c.input()};
  input.mask = c.mask();
  const Value y = c.invoke(*layer(), input).value;
  return c.dialect() == Dialect::keras2 ? y : ops::cast(y, c.input().dtype());
}

Masks SpectralNormalizationLayer::compute_mask(const Call& c, size_t outputs) const {
  const bool is_cast =
      c.dialect() == Dialect::keras3 && c.input().dtype() != layer()->compute_dtype();
  return is_cast ? Masks(outputs) : layer()->compute_mask(c, outputs);
}

}  // namespace keratin

#pragma once

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"

// A small training step for tests of the engine: a perceptron with two layers, softmax cross
// entropy and Adam, written in ops.
namespace keratin::testing {

struct TrainingStep {
  Module module;
  std::vector<Tensor> inputs;  // images, labels (one hot), then all state
};

inline TrainingStep make_training_step(int64_t batch = 32) {
  TrainingStep step;
  Module& m = step.module;
  const auto add = [&](Value value, double low, double high) {
    step.inputs.push_back(random_tensor(value.type(), low, high, step.inputs.size()));
    return value;
  };
  const auto f32 = [](const Shape& shape) { return Type{DType::f32, shape}; };
  const Value x = add(m.input(f32({batch, 20}), "x"), -1, 1);
  const Value labels = add(m.input(f32({batch, 10}), "labels"), 0, 0.2);
  const Values weights = {
      add(m.state(f32({20, 64}), "w0"), -0.2, 0.2), add(m.state(f32({64}), "b0"), 0, 0),
      add(m.state(f32({64, 10}), "w1"), -0.2, 0.2), add(m.state(f32({10}), "b1"), 0, 0)};
  const Value hidden = ops::relu(ops::matmul(x, weights[0]) + weights[1]);
  const Value logits = ops::matmul(hidden, weights[2]) + weights[3];
  const Value log_likelihood = ops::sum(labels * (logits - ops::logsumexp(logits, {1}, true)), {1});
  const Value loss = -ops::mean(log_likelihood);
  m.output(loss);

  const Value time = add(m.state(f32({}), "time"), 0, 0);
  const Value now = time + 1.0;
  m.update(time, now);
  const Values found = gradients(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Value w = weights[i], g = found[i];
    const Value m1 = add(m.state(w.type(), text("m", i)), 0, 0);
    const Value m2 = add(m.state(w.type(), text("v", i)), 0, 0);
    const Value n1 = m1 * 0.9 + g * 0.1, n2 = m2 * 0.999 + g * g * 0.001;
    const Value c1 = 1.0 - ops::power(ops::scalar_like(now, 0.9), now);
    const Value c2 = 1.0 - ops::power(ops::scalar_like(now, 0.999), now);
    m.update(m1, n1);
    m.update(m2, n2);
    m.update(w, w - n1 / c1 / (ops::sqrt(n2 / c2) + 1e-7) * 0.01);
  }
  return step;
}

}  // namespace keratin::testing

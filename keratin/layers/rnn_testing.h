#pragma once

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"
#include "keratin/layers/wrappers.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

// What the tests of recurrent layers share.
namespace keratin::testing {

inline const Shape sequences{2, 5, 3};
inline const LayerOptions in_f64{.dtype = DType::f64};

// The state that a stateful layer keeps from call to call.
inline std::vector<Variable> states_of(const Layer& layer) {
  if (const auto* both = dynamic_cast<const BidirectionalLayer*>(&layer)) return both->states();
  return dynamic_cast<const RecurrentLayer&>(layer).states();
}

inline Tensor noise(const Shape& shape, uint64_t seed = 1, DType dtype = DType::f32) {
  return random_tensor({dtype, shape}, -1, 1, seed);
}

// "110 100": a row for each sample.
inline Tensor mask_of(const std::string& bits) {
  std::vector<int> values;
  int64_t rows = 1;
  for (const char bit : bits) {
    if (bit == ' ')
      ++rows;
    else
      values.push_back(bit == '1');
  }
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::of(DType::boolean, {rows, count / rows}, values);
}

// One step of a sequence [batch, time, units].
inline Tensor step_of(const Tensor& sequence, int64_t t) {
  const Shape& s = sequence.shape();
  Tensor out(sequence.dtype(), {s[0], s[2]});
  for (int64_t b = 0; b < s[0]; ++b)
    for (int64_t u = 0; u < s[2]; ++u)
      out.set(b * s[2] + u, sequence.at((b * s[1] + t) * s[2] + u));
  return out;
}

// Steps `from` to `to` of a sequence.
inline Tensor steps_of(const Tensor& sequence, int64_t from, int64_t to) {
  const Shape& s = sequence.shape();
  Tensor out(sequence.dtype(), {s[0], to - from, s[2]});
  for (int64_t b = 0, i = 0; b < s[0]; ++b)
    for (int64_t t = from; t < to; ++t)
      for (int64_t u = 0; u < s[2]; ++u) out.set(i++, sequence.at((b * s[1] + t) * s[2] + u));
  return out;
}

using LayerInputs = Arguments<MaskedTensor>;

// One input, with a mask if there are bits.
inline LayerInputs on(const Tensor& x, const std::string& bits = "") {
  MaskedTensor input{x};
  if (!bits.empty()) input.mask = mask_of(bits);
  LayerInputs inputs;
  inputs.positional.emplace_back(input);
  return inputs;
}

// The same, with initial states.
inline LayerInputs from_states(LayerInputs inputs, const std::vector<Tensor>& states) {
  Tree<MaskedTensor>::List list;
  for (const Tensor& state : states) list.emplace_back(MaskedTensor{state});
  inputs.positional.emplace_back(list);
  return inputs;
}

// The mask as an argument of the call, not attached to the input.
inline LayerInputs with_mask(LayerInputs inputs, const std::string& bits) {
  inputs.named.emplace("mask", MaskedTensor{mask_of(bits)});
  return inputs;
}

inline std::vector<Tensor> outputs_of(Layer& layer, const LayerInputs& inputs,
                                      const RunOptions& options = {}) {
  return run_layer(layer, inputs, options).outputs.flat();
}

// Builds a layer for this shape and fills its weights with noise.
inline void fill(Layer& layer, const Shape& shape, uint64_t seed = 100) {
  layer.ensure_built({shape});
  std::vector<Tensor> values;
  for (const Variable& v : layer.weights()) values.push_back(noise(v.shape(), seed++, v.dtype()));
  layer.set_weights(values);
}

// The outputs, then the gradients of Σ r · outputs, r random, by the float inputs and the weights.
inline std::vector<Tensor> values_and_gradients(Layer& layer, const LayerInputs& inputs,
                                                bool training = false) {
  Module module;
  Tracer tracer(module, training);
  std::vector<Tensor> data;
  Values wrt;
  const auto traced = inputs.map<Traced>([&](const MaskedTensor& t) {
    Traced out{module.input({t.value.dtype(), t.value.shape()})};
    data.push_back(t.value);
    if (is_float(t.value.dtype())) wrt.push_back(out.value);
    if (t.mask) {
      out.mask = module.input({t.mask->dtype(), t.mask->shape()});
      data.push_back(*t.mask);
    }
    return out;
  });
  Value total;
  uint64_t seed = 50;
  tracer.invoke(layer, traced).each([&](const Traced& t) {
    module.output(t.value);
    const Tensor weights = random_tensor(t.value.type(), -1, 1, ++seed);
    const Value part = ops::sum(t.value * ops::constant(module.block(), weights));
    total = total.defined() ? total + part : part;
  });
  for (const Variable& v : layer.weights()) wrt.push_back(tracer.read(v));
  for (const Value g : keratin::gradients(total, wrt)) module.output(g);
  for (const Variable& v : tracer.variables()) data.push_back(v.value().clone());
  return compile(std::move(module))(data);
}

// Two layers with the same weights: same outputs, same gradients.
inline void expect_same_behaviour(Layer& a, Layer& b, const LayerInputs& inputs,
                                  bool training = false) {
  b.set_weights(a.get_weights());
  const auto ours = values_and_gradients(a, inputs, training);
  const auto theirs = values_and_gradients(b, inputs, training);
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i)
    expect_close(ours[i], theirs[i], 1e-10, text("value or gradient ", i));
}

// A layer that lowers to an op computes what an RNN layer computes with the same cell.
template <class Recurrent, class Cell, template <class> class Fields>
void expect_same_as_loop(typename Recurrent::Config config, const LayerInputs& inputs,
                         bool training) {
  config.units = 4;
  config.seed = 9;
  typename Cell::Config cell;
  config::copy_fields<Fields>(config, cell);
  RNNConfig loop{.cell = Cell(cell, in_f64)};
  config::copy_fields<RecurrentFields>(config, loop);
  const Recurrent one_op(std::move(config), in_f64);
  const RNN stepped(std::move(loop), in_f64);
  fill(*one_op, sequences);
  fill(*stepped, sequences);
  expect_same_behaviour(*one_op, *stepped, inputs, training);
}

}  // namespace keratin::testing

#include "keratin/layers/gates.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

Value draw_mask(const Call& c, const Variable& seed, double rate, Value ones) {
  // A program of unknown sizes never runs, so any count of words will do.
  const int64_t words =
      ones.shape().known() ? ops::random_words(ones.dtype(), ones.shape()) : int64_t{1};
  return ops::dropout(ones, c.random_key(seed, words), rate);
}

Tree<Traced> draw_list(const Call& c, const Variable& seed, double rate, size_t count, Value like,
                       const Shape& shape, DType dtype) {
  Tree<Traced>::List masks;
  if (rate > 0) {
    const Value ones = detail::filled_for(like, shape, dtype, 1);
    for (size_t i = 0; i < count; ++i) masks.emplace_back(Traced{draw_mask(c, seed, rate, ones)});
  }
  return masks;
}

}  // namespace

double clamp_rate(double rate) { return std::clamp(rate, 0.0, 1.0); }

CellDropout gate_dropout(double dropout, double recurrent_dropout, int64_t implementation,
                         size_t gates) {
  const auto applied = [](double rate) { return rate < 1 ? rate : 0.0; };
  const bool per_gate = implementation == 1 || recurrent_dropout != 0;
  return {applied(dropout), applied(recurrent_dropout), per_gate ? gates : 1};
}

bool lowers_to_op(const Activation& activation, const Activation& recurrent_activation,
                  const CellDropout& dropout, bool training) {
  if (!activation.is("tanh") || !recurrent_activation.is("sigmoid")) return false;
  return !training || (dropout.states == 0 && (dropout.inputs == 0 || dropout.masks == 1));
}

Tree<Traced> draw_masks(const Call& c, const Variable& seed, const CellDropout& dropout, Value like,
                        const Shape& features, const Shape& state, DType dtype) {
  if (!c.training()) return {};
  return Tree<Traced>::List{
      draw_list(c, seed, dropout.inputs, dropout.masks, like, features, dtype),
      draw_list(c, seed, dropout.states, dropout.masks, like, state, dtype)};
}

DrawnMasks step_masks(const Call& c, const RnnCell& cell, Value x) {
  const Dims dims = x.shape().dims();
  const Tree<Traced> drawn = c.has("drawn")
                                 ? c.argument("drawn")
                                 : cell.draw(c, x, Shape(Dims(dims.begin() + 1, dims.end())));
  DrawnMasks masks;
  if (drawn.is_none()) return masks;
  drawn[0].each([&](const Traced& t) { masks.inputs.push_back(t.value); });
  drawn[1].each([&](const Traced& t) { masks.states.push_back(t.value); });
  return masks;
}

Value dropped_sequence(const Call& c, const RnnCell& cell, Value x) {
  if (!is_float(x.dtype())) x = ops::cast(x, cell.compute_dtype());
  const Tree<Traced> drawn = cell.draw(c, x, Shape{x.shape()[2]});
  if (drawn.is_none() || drawn[0].leaf_count() == 0) return x;
  return x * ops::expand_dims(drawn[0][0].leaf().value, 1);
}

RecurrentOutputs outputs_of_op(Value ys, Values states, Value mask, RecurrentFlags flags) {
  RecurrentOutputs out;
  if (flags.return_sequences) {
    out.all = flags.go_backwards ? ops::flip(ys, {1}) : ys;
  } else if (!mask.defined()) {
    out.last = states[0];
  } else {
    // Not the state: the output is zero where every step is masked, whatever the state was.
    const Value where = ops::constant(
        ys.block(), Tensor::of<int64_t>(DType::i64, {}, {flags.go_backwards ? 0 : -1}));
    const int64_t time = ys.shape()[1], at = flags.go_backwards ? 0 : time - 1;
    out.last = time == unknown ? ops::take(ys, where, 1)
                               : ops::squeeze(ops::slice_axis(ys, 1, at, at + 1), 1);
  }
  out.states = std::move(states);
  return out;
}

Initializer forget_ones(const Initializer& initializer, int64_t units) {
  return Initializer([=](const Shape& shape, DType dtype, uint64_t seed) {
    const Tensor first = initializer({units}, dtype, seed);
    const Tensor rest = initializer({2 * units}, dtype, seed + 1);
    Tensor bias = Tensor::full(dtype, shape, 1);
    for (int64_t i = 0; i < units; ++i) bias.set(i, first.at(i));
    for (int64_t i = 0; i < 2 * units; ++i) bias.set(2 * units + i, rest.at(i));
    return bias;
  });
}

void require_units(int64_t units) {
  require(units > 0,
          "Received an invalid value for argument `units`, expected a positive integer, got ",
          units, ".");
}

int64_t step_features(const Shape& step, const RnnCell& cell) {
  require(step.rank() >= 2 && step.back() != unknown, cell.class_name(), " '", cell.name(),
          "': the last dimension of the input must be known, got shape ", keras_shape(step));
  return step.back();
}

Values gate_matmuls(Value x, const Values& masks, Value kernel, int64_t gates) {
  if (masks.size() <= 1) {
    if (!masks.empty()) x = x * masks[0];
    const Value all = ops::matmul(x, kernel);
    return gates == 1 ? Values{all} : ops::split(all, gates, -1);
  }
  const Values kernels = ops::split(kernel, gates, -1);
  Values matmuls;
  for (size_t i = 0; i < kernels.size(); ++i)
    matmuls.push_back(ops::matmul(x * masks[i], kernels[i]));
  return matmuls;
}

}  // namespace keratin

#include "keratin/layers/rnn_loop.h"

#include "keratin/base/text.h"
#include "keratin/graph/tracer.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

Value swap_batch_time(Value x) {
  Dims permutation{1, 0};
  for (int64_t axis = 2; axis < x.rank(); ++axis) permutation.push_back(axis);
  return ops::transpose(x, permutation);
}

// mask ? a : b for a mask [batch]; a if there is no mask.
Value keep(Value mask, Value a, Value b) {
  if (!mask.defined()) return a;
  Dims dims(static_cast<size_t>(a.rank()), 1);
  dims[0] = ops::keep_size;
  return ops::where(ops::reshape(mask, dims), a, b);
}

Shape without_axes(const Shape& shape, size_t count) {
  const Dims dims = shape.dims();
  return Shape(Dims(dims.begin() + static_cast<int64_t>(count), dims.end()));
}

Type step_type(Value x) {
  Dims dims = x.shape().dims();
  dims.erase(dims.begin() + 1);
  return {x.dtype(), Shape(dims)};
}

}  // namespace

CellLoop::CellLoop(const Call& c, const RnnCell& cell, const RecurrentInputs& in,
                   RecurrentFlags flags)
    : c_(c), cell_(cell), in_(in), flags_(flags), start_(in.states.flat()) {
  drawn_ = cell.draw(c, in.x, without_axes(in.x.shape(), 2));
  const bool repeats = in.mask.defined() && !flags.zero_output_for_mask;
  carries_output_ = repeats || !flags.return_sequences;
}

CellLoop::Step CellLoop::call(Tracer& tracer, Value x, const Values& states,
                              const Tree<Traced>& drawn) const {
  Arguments<Traced> arguments;
  arguments.positional.emplace_back(Traced{x});
  size_t next = 0;
  arguments.positional.push_back(
      in_.states.map<Traced>([&](Value) { return Traced{states[next++]}; }));
  arguments.named.emplace("training", Tree<Traced>(c_.training()));
  if (!drawn.is_none()) arguments.named.emplace("drawn", drawn);
  const auto results = tracer.invoke(cell_, std::move(arguments)).flat();
  require(results.size() == states.size() + 1, cell_.class_name(), " '", cell_.name(),
          "': expected an output and ", states.size(), " states from a call, got ", results.size(),
          " tensors");
  Step step{results[0].value, {}};
  for (size_t i = 0; i < states.size(); ++i) {
    const Value state = results[i + 1].value;
    const DType dtype = states[i].dtype();
    step.states.push_back(state.dtype() == dtype ? state : ops::cast(state, dtype));
  }
  return step;
}

void CellLoop::probe() {
  Module module;
  Tracer tracer(module, c_.training(), c_.dialect());
  Values states;
  for (const Value state : start_) states.push_back(module.input(state.type()));
  const auto drawn =
      drawn_.map<Traced>([&](const Traced& t) { return Traced{module.input(t.value.type())}; });
  output_ = call(tracer, module.input(step_type(in_.x)), states, drawn).output.type();
  changed_ = tracer.changed();
}

ops::Scanned CellLoop::body(const Values& carries, const Values& xs) const {
  Tracer& tracer = c_.tracer();
  const Values before(carries.begin(), carries.begin() + static_cast<int64_t>(start_.size()));
  size_t next = start_.size();
  const Value previous = carries_output_ ? carries[next++] : Value();
  for (const Variable& variable : changed_) tracer.bind(variable, carries[next++]);

  const Value mask = xs.size() > 1 ? xs[1] : Value();
  const Step step = call(tracer, xs[0], before, drawn_);
  ops::Scanned out;
  for (size_t i = 0; i < before.size(); ++i)
    out.carries.push_back(keep(mask, step.states[i], before[i]));
  const Value other = flags_.zero_output_for_mask ? ops::scalar_like(step.output, 0) : previous;
  const Value output = keep(mask, step.output, other);
  if (carries_output_) out.carries.push_back(output);
  for (const Variable& variable : changed_) out.carries.push_back(tracer.read(variable));
  if (flags_.return_sequences) out.ys.push_back(output);
  return out;
}

RecurrentOutputs CellLoop::run() {
  probe();
  Tracer& tracer = c_.tracer();
  Values init = start_;
  if (carries_output_)
    init.push_back(detail::filled_for(in_.x, without_axes(output_.shape, 1), output_.dtype, 0));
  for (const Variable& variable : changed_) init.push_back(tracer.read(variable));
  Values xs{swap_batch_time(in_.x)};
  if (in_.mask.defined()) xs.push_back(swap_batch_time(in_.mask));

  const ops::Scanned all = ops::scan(
      init, xs, [&](const Values& carries, const Values& step) { return body(carries, step); },
      {.length = in_.x.shape()[1], .reverse = flags_.go_backwards});

  RecurrentOutputs out;
  size_t next = 0;
  while (next < start_.size()) out.states.push_back(all.carries[next++]);
  if (carries_output_) out.last = all.carries[next++];
  for (const Variable& variable : changed_) tracer.bind(variable, all.carries[next++]);
  if (!flags_.return_sequences) return out;
  out.all = swap_batch_time(all.ys[0]);
  if (flags_.go_backwards) out.all = ops::flip(out.all, {1});
  return out;
}

}  // namespace keratin

#pragma once

#include <optional>

#include "keratin/base/export.h"
#include "keratin/graph/symbolic.h"
#include "keratin/graph/variable.h"
#include "keratin/ir/module.h"

namespace keratin {

class Tracer;

// A tensor of a program being written and, beside it, its mask.
struct Traced {
  Value value;
  std::optional<Value> mask = std::nullopt;
};

// One mask per output of a layer, in order; nothing where an output has none.
using Masks = std::vector<std::optional<Value>>;
// What a layer's call returns: a value, a list or a dict of values.
using Results = Tree<Value>;
extern template class Tree<Value>;
extern template class Tree<Traced>;

// One call of a layer while a program is written: the only door through which a layer sees its
// inputs, masks, weights, random numbers and whether it trains.
class KERATIN_API Call {
 public:
  Call(Tracer& tracer, const Layer& layer, Arguments<Traced> arguments, bool training)
      : tracer_(&tracer),
        layer_(&layer),
        weights_as_(&layer),
        arguments_(std::move(arguments)),
        training_(training) {}
  // A call that is a part of `outer`: it reads weights in the dtype in which the outer layer
  // computes.
  Call(const Call& outer, const Layer& layer, Arguments<Traced> arguments)
      : Call(*outer.tracer_, layer, std::move(arguments), outer.training_) {
    weights_as_ = outer.weights_as_;
  }

  Block& block() const;
  bool training() const { return training_; }
  Dialect dialect() const;
  Tracer& tracer() const { return *tracer_; }

  // The tensors of the first argument: the only one, or all of them.
  Value input() const;
  Value float_input() const;  // integers are cast to the dtype in which the layer computes
  Values inputs() const;
  size_t input_count() const { return argument(0).leaf_count(); }
  std::optional<Value> mask() const;  // of the first tensor
  Masks masks() const;

  // Arguments by position or by name; a missing one is none.
  const Tree<Traced>& argument(size_t position) const;
  const Tree<Traced>& argument(std::string_view name) const;
  bool has(std::string_view name) const { return !argument(name).is_none(); }
  // The tensor passed at a position or by that name; undefined when there is none.
  Value tensor(size_t position, std::string_view name) const;
  bool flag(std::string_view name, bool fallback) const;
  const Arguments<Traced>& arguments() const { return arguments_; }

  // A weight, in the dtype in which the layer computes; and its new value, which later reads see.
  Value read(const Variable& variable) const;
  void update(const Variable& variable, Value value) const;
  // A key for `words` random words, see ops/random.h; the next key starts after them.
  Value random_key(const Variable& seed, int64_t words) const;
  // A scalar is a mean over the batch, or independent of the batch. Any other shape holds losses of
  // samples, which are summed. The difference matters where a batch is split over devices.
  void add_loss(Value loss) const;

  // Whether this call sees one replica's slice of a batch; its share of the batch's samples; and
  // whether it is the first replica, which makes the updates that are the same for all.
  bool in_replica() const;
  double batch_share() const;
  bool is_first_replica() const;
  // Σ over all replicas of a value that each of them computes; itself outside replicas.
  Value sum_over_replicas(Value local) const;

  // Calls another layer as a part of this call.
  Tree<Traced> invoke(const Layer& layer, Arguments<Traced> arguments) const;
  Traced invoke(const Layer& layer, Traced input) const;

 private:
  Tracer* tracer_;
  const Layer* layer_;
  const Layer* weights_as_;
  Arguments<Traced> arguments_;
  bool training_;
};

}  // namespace keratin

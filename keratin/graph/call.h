#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "keratin/base/export.h"
#include "keratin/graph/symbolic.h"
#include "keratin/graph/variable.h"
#include "keratin/ir/module.h"

namespace keratin {

// The rules of masks differ between generations of Keras; a model follows one.
enum class Dialect : uint8_t { keras3, keras2 };

// A tensor of a program being written and, beside it, its mask.
struct Traced {
  Value value;
  std::optional<Value> mask = std::nullopt;
};

// One mask per output of a layer, in order; nothing where an output has none.
using Masks = std::vector<std::optional<Value>>;
// What a layer's call gives: a value, a list or a dict of values.
using Results = Tree<Value>;

// One of the parts in which a batch is run, each on a device of its own: see Tracer::replicate.
struct Replica {
  Device device;
  int64_t begin = 0, end = 0;  // its samples
  int64_t batch = 0;           // those of all replicas

  double share() const {
    return batch == 0 ? 1 : static_cast<double>(end - begin) / static_cast<double>(batch);
  }
  bool leads() const { return begin == 0; }  // is it the first one?
};

class Tracer;

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
  // A call of a layer that reads its weights in the dtype in which another one computes: that of
  // the layer whose call it is a part of.
  Call(const Call& outer, const Layer& layer, Arguments<Traced> arguments)
      : Call(*outer.tracer_, layer, std::move(arguments), outer.training_) {
    weights_as_ = outer.weights_as_;
  }

  Block& block() const;
  bool training() const { return training_; }
  Dialect dialect() const;
  Tracer& tracer() const { return *tracer_; }

  // The tensors of the first argument: the only one, all of them, or one by its position.
  Value input() const;
  Value float_input() const;  // integers become what the layer computes in
  Values inputs() const;
  size_t input_count() const { return argument(0).leaf_count(); }
  std::optional<Value> mask() const;  // that of the first tensor
  Masks masks() const;

  // Arguments by position or by name; a missing one is nothing.
  const Tree<Traced>& argument(size_t position) const;
  const Tree<Traced>& argument(std::string_view name) const;
  bool has(std::string_view name) const { return !argument(name).is_none(); }
  // The tensor passed at a position or by that name; undefined when there is none.
  Value tensor(size_t position, std::string_view name) const;
  bool flag(std::string_view name, bool otherwise) const;
  const Arguments<Traced>& arguments() const { return arguments_; }

  // A weight, in the dtype the layer computes in; and its new value, seen by later reads.
  Value read(const Variable& variable) const;
  void update(const Variable& variable, Value value) const;
  // A key for as many random words, see ops/random.h; the next one goes on behind them.
  Value random_key(const Variable& seed, int64_t words) const;
  // A scalar, which is a mean over the batch or does not depend on it; or losses of samples, which
  // are summed. The distinction matters where a batch is split over devices.
  void add_loss(Value loss) const;
  // The replica that is being written; nullptr where a batch runs as a whole.
  const Replica* replica() const;
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

// Writes calls of layers into a module. Variables become the module's state, in the order in which
// they are first used.
class KERATIN_API Tracer {
 public:
  Tracer(Module& module, bool training, Dialect dialect = Dialect::keras3)
      : module_(&module), training_(training), dialect_(dialect) {}

  Module& module() const { return *module_; }
  Block& block() const { return module_->block(); }
  bool training() const { return training_; }
  Dialect dialect() const { return dialect_; }

  // The call protocol: checks and casts the arguments, settles training and masks, calls, and gives
  // each output its mask.
  Tree<Traced> invoke(const Layer& layer, Arguments<Traced> arguments) {
    return invoke(layer, std::move(arguments), training_);
  }
  // The same within a call that trains or does not.
  Tree<Traced> invoke(const Layer& layer, Arguments<Traced> arguments, bool training);

  Value read(const Variable& variable);
  void update(const Variable& variable, Value value);
  void add_loss(Value loss);

  // A value on a device; a value that is asked for twice is brought once.
  Value bring(Value value, Device device);

  // Writes the parts of a batch: `write` is called for each replica in order, and layers run on its
  // device wherever they live. Updates of variables follow one another in that order. A variable of
  // which each sample has a row is read and updated row by row, and losses are those of the batch.
  // What goes wrong is an error that says on which device and in which layer.
  void replicate(const std::vector<Replica>& replicas,
                 const std::function<void(const Replica&)>& write);
  const Replica* replica() const { return replicas_ ? &(*replicas_)[at_] : nullptr; }
  Value sum_over_replicas(Value local);

  const std::vector<Variable>& variables() const { return variables_; }
  const Values& losses() const { return losses_; }
  // Declares the updates to the module; the last act.
  void finish();

  // For loops: the variables that calls so far have changed, and another value for one. Whoever
  // writes a loop carries what its body changes: binds the carries first, and the results after.
  std::vector<Variable> changed() const;
  void bind(const Variable& variable, Value value);

  // Warnings about masks that get lost are given while a model is built, not each time it is run.
  bool warns = false;

 private:
  friend class Placement;
  std::optional<Device> place_for(const Layer& layer, const Arguments<Traced>& arguments) const;
  Arguments<Traced> brought(Arguments<Traced> arguments, Device device);
  Value& current(const Variable& variable);
  Value& rows_of(const Variable& variable);
  void join_rows();
  void join_losses(const std::vector<size_t>& ends);
  void join_sums();

  Module* module_;
  bool training_;
  Dialect dialect_;
  std::vector<Variable> variables_;
  Values losses_;
  struct Entry {
    Value state, current;
  };
  std::unordered_map<Variable, Entry, VariableHash> entries_;

  // Where what is written runs, if that is settled; and values that were brought to a device.
  std::optional<Device> place_;
  struct Brought {
    Value value;
    Device device;
    bool operator==(const Brought&) const = default;
  };
  struct BroughtHash {
    size_t operator()(const Brought& key) const;
  };
  std::unordered_map<Brought, Value, BroughtHash> brought_;

  const std::vector<Replica>* replicas_ = nullptr;
  size_t at_ = 0;                                            // the replica that is being written
  std::string failed_;                                       // the layer whose call threw
  std::unordered_map<Variable, Values, VariableHash> rows_;  // of each replica
  struct Part {
    Value local, sum;
  };
  std::vector<std::vector<Part>> sums_;  // by the order in which replicas ask for them
  size_t next_sum_ = 0;
};

// While it lives, variables are read on the device; on no particular one, without it.
class KERATIN_API Placement {
 public:
  Placement(Tracer& tracer, std::optional<Device> device) : tracer_(tracer), outer_(tracer.place_) {
    tracer_.place_ = device;
  }
  ~Placement() { tracer_.place_ = outer_; }
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

 private:
  Tracer& tracer_;
  std::optional<Device> outer_;
};

}  // namespace keratin

#pragma once

#include <functional>
#include <unordered_map>

#include "keratin/graph/placement.h"

namespace keratin {

class Replication;

// Writes calls of layers into a module. Variables become the module's state, in the order in which
// they are first used.
class Tracer {
 public:
  Tracer(Module& module, bool training, Dialect dialect = Dialect::keras3)
      : module_(&module), training_(training), dialect_(dialect) {}

  Module& module() const { return *module_; }
  Block& block() const { return module_->block(); }
  bool training() const { return training_; }
  Dialect dialect() const { return dialect_; }

  // The call protocol: binds, checks and casts the arguments, settles training and masks, calls the
  // layer, and gives each output its mask.
  Tree<Traced> invoke(const Layer& layer, Arguments<Traced> arguments) {
    return invoke(layer, std::move(arguments), training_);
  }
  // The same within a call that trains or does not.
  Tree<Traced> invoke(const Layer& layer, Arguments<Traced> arguments, bool training);

  Value read(const Variable& variable);
  void update(const Variable& variable, Value value);
  void add_loss(Value loss);
  Placement& placement() { return placement_; }
  // The value on a device; see Placement.
  Value bring(Value value, Device device) { return placement_.bring(value, device); }
  // What writes a batch as replicas; nullptr while a batch is written as a whole.
  Replication* replication() const { return replication_; }

  const std::vector<Variable>& variables() const { return variables_; }
  const Values& losses() const { return losses_; }
  // Sizes of results may depend on an input of strings, whose data the tracer is given then. A
  // program fits other data if all such sizes are the same.
  struct MeasuredSize {
    Value input;
    std::function<int64_t(const Tensor& data)> measure;
  };
  void give_data(Value input, const Tensor& data) { data_.emplace_back(input, data); }
  // The size that the data of an input has; nothing if the strings are no input of the program.
  std::optional<int64_t> measure(Value strings, std::function<int64_t(const Tensor&)> measure);
  const std::vector<MeasuredSize>& measured_sizes() const { return measured_; }

  // Declares the updates to the module; the last call.
  void finish();

  // For loops: the variables that calls have changed so far, and a new current value for one. A
  // loop carries the variables that its body changes: it binds the carries before the body, and the
  // results after it.
  std::vector<Variable> changed() const;
  void bind(const Variable& variable, Value value);

  // Warnings about lost masks are given while a model is built, not each time it is run.
  bool warns = false;

 private:
  friend class Replication;  // sets replication_
  struct Entry {
    Value state, current;
  };

  Tree<Traced> call(const Layer& layer, Arguments<Traced> arguments, Arguments<Traced> for_masks,
                    bool training);
  std::optional<Device> device_of(const Layer& layer, const Arguments<Traced>& arguments) const;
  Value read_shards(const Variable& variable);
  void update_shards(const Variable& variable, Value value);
  Value& current(const Variable& variable);

  Module* module_;
  bool training_;
  Dialect dialect_;
  std::vector<Variable> variables_;
  Values losses_;
  std::unordered_map<Variable, Entry, VariableHash> entries_;
  Placement placement_;
  Replication* replication_ = nullptr;
  std::vector<std::pair<Value, Tensor>> data_;
  std::vector<MeasuredSize> measured_;
};

}  // namespace keratin

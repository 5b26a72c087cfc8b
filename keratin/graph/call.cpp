#include "keratin/graph/call.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/layer.h"
#include "keratin/graph/output_scope.h"
#include "keratin/graph/variable_parts.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/mirrored.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

const Tree<Traced> nothing;

thread_local const OutputScope* output_scope = nullptr;

Value cast_float(Value x, DType dtype) {
  return is_float(x.dtype()) && x.dtype() != dtype ? ops::cast(x, dtype) : x;
}

bool any_mask(const Arguments<Traced>& arguments) {
  bool any = false;
  if (!arguments.positional.empty())
    arguments.positional[0].each([&](const Traced& t) { any = any || t.mask.has_value(); });
  return any;
}

// The tensors of the first argument with the masks of `mask`: one of one tensor, a list of several,
// or nothing for none of them.
Tree<Traced> with_masks(const Tree<Traced>& input, const Tree<Traced>& mask, const Layer& layer) {
  std::vector<Traced> tensors = input.flat();
  require(mask.is_list() || mask.is_none() || tensors.size() == 1, "layer '", layer.name(),
          "': `mask` should be a list. Received: one mask for ", tensors.size(), " inputs");
  std::vector<std::optional<Value>> masks;
  const auto add = [&](const Tree<Traced>& m) {
    masks.push_back(m.is_none() ? std::nullopt : std::optional(m.leaf().value));
  };
  if (mask.is_list())
    for (const auto& m : mask.list()) add(m);
  else
    for (size_t i = 0; i < tensors.size(); ++i) add(mask);
  const size_t least = layer.least_masks(tensors.size());
  require(masks.size() >= least && masks.size() <= tensors.size(), "layer '", layer.name(),
          "': expected one mask per input (", tensors.size(), "), got ", masks.size());
  masks.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].mask = masks[i];
  return input.pack(tensors);
}

Tree<Traced> without_masks(const Tree<Traced>& input) {
  return input.map<Traced>([](const Traced& t) { return Traced{t.value}; });
}

// Removes an argument that the protocol itself deals with; nothing when it was not given.
std::optional<Tree<Traced>> take(Arguments<Traced>& arguments, std::string_view name) {
  const auto found = arguments.named.find(name);
  if (found == arguments.named.end()) return std::nullopt;
  Tree<Traced> value = std::move(found->second);
  arguments.named.erase(found);
  return value;
}

// A flag among the arguments of a call: true, or a number that is not 0, as in Python.
bool is_set(const Tree<Traced>& flag, const Layer& layer, std::string_view name) {
  require(flag.is_constant(), layer.class_name(), " '", layer.name(), "': the argument '", name,
          "' of its call must be true or false, got ", flag.is_leaf() ? "a tensor" : "a structure");
  const Json& value = flag.constant();
  require(value.is_bool() || value.is_number(), layer.class_name(), " '", layer.name(),
          "': the argument '", name, "' of its call must be true or false, got ", value);
  return value.is_number() ? value.as_double() != 0 : value.as_bool();
}

// TensorFlow's Keras 2 drops such a mask without a word. Keras 2 up to 2.3 refused it, so that no
// file of those has one.
void warn_of_lost_mask(const Layer& layer, const Tracer& tracer) {
  if (tracer.warns)
    warn_about(text("Layer '", layer.name(), "' (of type ", layer.class_name(), ")"),
               " was passed an input with a mask attached to it. However, this layer does not "
               "support masking and will therefore destroy the mask information. Downstream "
               "layers will not see the mask.");
}

}  // namespace

OutputScope::OutputScope(Change change) : change_(std::move(change)), outer_(output_scope) {
  output_scope = this;
}

OutputScope::~OutputScope() { output_scope = outer_; }

Value OutputScope::changed(const Layer& layer, Value output) {
  return output_scope == nullptr ? output : output_scope->change_(layer, output);
}

Block& Call::block() const { return tracer_->block(); }

Dialect Call::dialect() const { return tracer_->dialect(); }

const Tree<Traced>& Call::argument(size_t position) const {
  return position < arguments_.positional.size() ? arguments_.positional[position] : nothing;
}

const Tree<Traced>& Call::argument(std::string_view name) const {
  const auto found = arguments_.named.find(name);
  return found == arguments_.named.end() ? nothing : found->second;
}

Value Call::tensor(size_t position, std::string_view name) const {
  const Tree<Traced>& here = argument(position);
  const Tree<Traced>& found = here.is_none() ? argument(name) : here;
  return found.is_leaf() ? found.leaf().value : Value();
}

bool Call::flag(std::string_view name, bool otherwise) const {
  const Tree<Traced>& found = argument(name);
  return found.is_none() ? otherwise : is_set(found, *layer_, name);
}

Value Call::input() const {
  const Tree<Traced>& first = argument(0);
  require(first.leaf_count() == 1, layer_->class_name(), " '", layer_->name(),
          "': expected one input tensor, got ", first.leaf_count());
  Value only;
  first.each([&](const Traced& t) { only = t.value; });
  return only;
}

Value Call::float_input() const {
  const Value x = input();
  return is_float(x.dtype()) ? x : ops::cast(x, layer_->compute_dtype());
}

Values Call::inputs() const {
  Values values;
  argument(0).each([&](const Traced& t) { values.push_back(t.value); });
  return values;
}

Masks Call::masks() const {
  Masks masks;
  argument(0).each([&](const Traced& t) { masks.push_back(t.mask); });
  return masks;
}

std::optional<Value> Call::mask() const {
  const Masks all = masks();
  return all.empty() ? std::nullopt : all[0];
}

Value Call::read(const Variable& variable) const {
  const Value value = tracer_->read(variable);
  return weights_as_->autocasts() ? cast_float(value, weights_as_->compute_dtype()) : value;
}

void Call::update(const Variable& variable, Value value) const { tracer_->update(variable, value); }

Value Call::random_key(const Variable& seed, int64_t words) const {
  const Value key = tracer_->read(seed);
  tracer_->update(seed, ops::advance(key, words));
  return key;
}

void Call::add_loss(Value loss) const { tracer_->add_loss(loss); }

const Replica* Call::replica() const { return tracer_->replica(); }

Value Call::sum_over_replicas(Value local) const { return tracer_->sum_over_replicas(local); }

Tree<Traced> Call::invoke(const Layer& layer, Arguments<Traced> arguments) const {
  return tracer_->invoke(layer, std::move(arguments), training_);
}

Traced Call::invoke(const Layer& layer, Traced input) const {
  return invoke(layer, Arguments<Traced>{{std::move(input)}, {}}).leaf();
}

Value& Tracer::current(const Variable& variable) {
  if (!entries_.contains(variable)) {
    const Value state =
        module_->state({variable.dtype(), variable.shape(), variable.device()}, variable.path());
    variables_.push_back(variable);
    entries_.emplace(variable, Entry{state, state});
  }
  return replicas_ != nullptr && variable.spec().per_sample ? rows_of(variable)
                                                            : entries_.at(variable).current;
}

// Of mirrors, a call reads the one beside it. The parts of a variable are read where they live; in
// a replica, on its own devices.
Value Tracer::read(const Variable& variable) {
  const VariableParts* cut = parts_of(variable);
  if (cut != nullptr && cut->mirrored() && place_) {
    const auto beside = std::find_if(cut->parts.begin(), cut->parts.end(),
                                     [&](const Variable& v) { return v.device() == *place_; });
    return read(beside == cut->parts.end() ? cut->parts[0] : *beside);
  }
  if (cut != nullptr) {
    Values parts;
    for (size_t j = 0; j < cut->parts.size(); ++j) {
      const Variable& part = cut->parts[j];
      const Placement at(*this, replicas_ ? cut->place(replica()->device, j) : part.device());
      parts.push_back(read(part));
    }
    return cut->mirrored() ? ops::mirrored(parts) : ops::concatenate(parts, *cut->axis);
  }
  const Value value = current(variable);
  return place_ ? bring(value, *place_) : value;
}

void Tracer::update(const Variable& variable, Value value) {
  if (const VariableParts* cut = parts_of(variable)) {
    require(value.shape() == variable.shape(), "variable '", variable.path(), "': expected shape ",
            variable.shape(), ", got ", value.shape());
    int64_t begin = 0;
    for (const Variable& part : cut->parts) {
      if (cut->mirrored()) {
        update(part, ops::whole_on(value, part.device()));
        continue;
      }
      const int64_t end = begin + part.shape()[*cut->axis];
      update(part, ops::slice_axis(value, *cut->axis, begin, end));
      begin = end;
    }
    return;
  }
  Value& now = current(variable);
  require(value.shape() == now.shape(), "variable '", variable.path(), "': expected shape ",
          now.shape(), ", got ", value.shape());
  now = value.dtype() == variable.dtype() ? value : ops::cast(value, variable.dtype());
}

std::vector<Variable> Tracer::changed() const {
  std::vector<Variable> found;
  for (const Variable& variable : variables_) {
    const Entry& entry = entries_.at(variable);
    if (!(entry.current == entry.state)) found.push_back(variable);
  }
  return found;
}

void Tracer::bind(const Variable& variable, Value value) { current(variable) = value; }

void Tracer::add_loss(Value loss) {
  require(&loss.block() == &block(), "a loss cannot be added inside a loop over time");
  losses_.push_back(loss);
}

void Tracer::finish() {
  for (const Variable& variable : changed()) {
    const Entry& entry = entries_.at(variable);
    module_->update(entry.state, entry.current);
  }
}

Tree<Traced> Tracer::invoke(const Layer& layer, Arguments<Traced> arguments, bool outer) {
  const bool mask_by_name = arguments.named.contains("mask");
  arguments = layer.bound(std::move(arguments));
  require(!arguments.positional.empty(), "layer '", layer.name(), "': expected an input, got none");
  Shapes shapes;
  arguments.positional[0].each([&](const Traced& t) { shapes.push_back(t.value.shape()); });
  layer.check_inputs(shapes);
  const OriginScope origin(std::make_shared<const std::string>(layer.name()));
  const Placement at(*this, place_for(layer, arguments));
  if (place_ && !layer.places_parts()) arguments = brought(std::move(arguments), *place_);
  if (layer.autocasts())
    arguments = arguments.map<Traced>([&](Traced t) {
      t.value = cast_float(t.value, layer.compute_dtype());
      return t;
    });

  const auto training = take(arguments, "training");
  const bool trains =
      training && !training->is_none() ? is_set(*training, layer, "training") : outer;

  // Keras 2 passes masks on by what the input carries, Keras 3 by what the call was given by name.
  const auto mask = take(arguments, "mask");
  Arguments<Traced> for_masks = arguments;
  if (mask && (!mask->is_none() || dialect_ == Dialect::keras2)) {
    arguments.positional[0] = with_masks(arguments.positional[0], *mask, layer);
    if (dialect_ == Dialect::keras3 && mask_by_name)
      for_masks.positional[0] = arguments.positional[0];
  } else if (dialect_ == Dialect::keras3 && layer.takes_mask() && arguments.with_tensors() > 1) {
    // Keras 3 fills in the mask when one argument alone holds tensors: a recurrent layer that is
    // given states does not see the mask of its input, and still passes it on.
    arguments.positional[0] = without_masks(arguments.positional[0]);
  }
  if (!layer.supports_masking() && any_mask(for_masks)) warn_of_lost_mask(layer, *this);
  const Call call(*this, layer, std::move(arguments), trains);
  const Call masks_call(*this, layer, std::move(for_masks), trains);
  try {
    return layer.apply(call, masks_call).map<Traced>([&](const Traced& t) {
      return Traced{OutputScope::changed(layer, t.value), t.mask};
    });
  } catch (...) {
    if (failed_.empty()) failed_ = layer.name();
    throw;
  }
}

}  // namespace keratin

#include "keratin/graph/call.h"

#include "keratin/base/text.h"
#include "keratin/graph/call_protocol.h"
#include "keratin/graph/layer.h"
#include "keratin/graph/replication.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/random.h"

namespace keratin {
namespace {

const Tree<Traced> none;

}  // namespace

Block& Call::block() const { return tracer_->block(); }

Dialect Call::dialect() const { return tracer_->dialect(); }

const Tree<Traced>& Call::argument(size_t position) const {
  return position < arguments_.positional.size() ? arguments_.positional[position] : none;
}

const Tree<Traced>& Call::argument(std::string_view name) const {
  const auto found = arguments_.named.find(name);
  return found == arguments_.named.end() ? none : found->second;
}

Value Call::tensor(size_t position, std::string_view name) const {
  const Tree<Traced>& here = argument(position);
  const Tree<Traced>& found = here.is_none() ? argument(name) : here;
  return found.is_leaf() ? found.leaf().value : Value();
}

bool Call::flag(std::string_view name, bool fallback) const {
  const Tree<Traced>& found = argument(name);
  return found.is_none() ? fallback : is_true(found, *layer_, name);
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

bool Call::in_replica() const { return tracer_->replication() != nullptr; }

double Call::batch_share() const {
  return in_replica() ? tracer_->replication()->replica().share() : 1;
}

bool Call::is_first_replica() const {
  return !in_replica() || tracer_->replication()->replica().is_first();
}

Value Call::sum_over_replicas(Value local) const {
  return in_replica() ? tracer_->replication()->sum(local) : local;
}

Tree<Traced> Call::invoke(const Layer& layer, Arguments<Traced> arguments) const {
  return tracer_->invoke(layer, std::move(arguments), training_);
}

Traced Call::invoke(const Layer& layer, Traced input) const {
  return invoke(layer, Arguments<Traced>{{std::move(input)}, {}}).leaf();
}

}  // namespace keratin

#include "keratin/graph/tracer.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/replication.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/mirrored.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/slicing.h"

namespace keratin {

// A replica reads and updates its own rows of a variable that has a row per sample.
Value& Tracer::current(const Variable& variable) {
  if (!entries_.contains(variable)) {
    const Value state =
        module_->state({variable.dtype(), variable.shape(), variable.device()}, variable.path());
    variables_.push_back(variable);
    entries_.emplace(variable, Entry{state, state});
  }
  Value& whole = entries_.at(variable).current;
  const bool by_rows = replication_ != nullptr && variable.spec().per_sample;
  return by_rows ? replication_->rows_of(variable, whole) : whole;
}

Value Tracer::read(const Variable& variable) {
  if (shards_of(variable) != nullptr) return read_shards(variable);
  const Value value = current(variable);
  return placement_.device() ? bring(value, *placement_.device()) : value;
}

// A call reads the copy of a mirrored variable that is on its device. Shards are read where they
// are stored; in a replica, on the replica's devices.
Value Tracer::read_shards(const Variable& variable) {
  const VariableShards& all = *shards_of(variable);
  if (all.mirrored() && placement_.device()) {
    const auto here = std::find_if(all.shards.begin(), all.shards.end(), [&](const Variable& v) {
      return v.device() == *placement_.device();
    });
    return read(here == all.shards.end() ? all.shards[0] : *here);
  }
  Values values;
  for (size_t j = 0; j < all.shards.size(); ++j) {
    const Variable& shard = all.shards[j];
    const PlacementScope scope(placement_, replication_
                                               ? all.device_for(replication_->replica().device, j)
                                               : shard.device());
    values.push_back(read(shard));
  }
  return all.mirrored() ? ops::mirrored(values) : ops::concatenate(values, *all.axis);
}

void Tracer::update(const Variable& variable, Value value) {
  const auto check = [&](const Shape& shape) {
    require(value.shape() == shape, "variable '", variable.path(), "': expected shape ", shape,
            ", got ", value.shape());
  };
  if (shards_of(variable) != nullptr) {
    check(variable.shape());
    return update_shards(variable, value);
  }
  Value& now = current(variable);
  check(now.shape());
  now = value.dtype() == variable.dtype() ? value : ops::cast(value, variable.dtype());
}

void Tracer::update_shards(const Variable& variable, Value value) {
  const VariableShards& all = *shards_of(variable);
  int64_t begin = 0;
  for (const Variable& shard : all.shards) {
    if (all.mirrored()) {
      update(shard, ops::whole_on(value, shard.device()));
      continue;
    }
    const int64_t end = begin + shard.shape()[*all.axis];
    update(shard, ops::slice_axis(value, *all.axis, begin, end));
    begin = end;
  }
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
  replication_ != nullptr ? replication_->add_loss(loss) : losses_.push_back(loss);
}

std::optional<int64_t> Tracer::measure(Value strings,
                                       std::function<int64_t(const Tensor&)> measure) {
  for (const OpDef* op = &strings.node().op();
       op->view || op == &ops::transfer_op || op == &ops::expand_dims_op || op == &ops::squeeze_op;
       op = &strings.node().op())
    strings = strings.node().in();
  for (const auto& [input, data] : data_) {
    if (input != strings) continue;
    measured_.push_back({input, std::move(measure)});
    return measured_.back().measure(data);
  }
  return std::nullopt;
}

void Tracer::finish() {
  for (const Variable& variable : changed()) {
    const Entry& entry = entries_.at(variable);
    module_->update(entry.state, entry.current);
  }
}

}  // namespace keratin

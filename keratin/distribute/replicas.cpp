#include "keratin/distribute/replicas.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/distribute/output_layout.h"
#include "keratin/graph/config.h"
#include "keratin/graph/replication.h"
#include "keratin/layers/core.h"
#include "keratin/ops/collective.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/shards.h"

namespace keratin {
namespace {

// A replica's rows of the batch, on its device.
Value rows(Value value, const Replica& replica) {
  return ops::slice_on(value, 0, replica.begin, replica.end, replica.device);
}

// True for a mask that is the same for all samples, such as a causal one of [1, heads, steps,
// steps].
bool is_of_all_samples(Value mask, int64_t batch) { return mask.shape()[0] == 1 && batch != 1; }

int64_t batch_of(const Arguments<Traced>& arguments, const std::string& name) {
  int64_t batch = unknown;
  arguments.each([&](const Traced& t) {
    require(t.value.rank() > 0, "model '", name, "': an input without a batch cannot be split");
    const int64_t size = t.value.shape()[0];
    require(batch == unknown || size == unknown || size == batch, "model '", name,
            "': inputs have ", batch, " and ", size, " samples");
    if (size != unknown) batch = size;
  });
  return batch;
}

// Keras's names of the outputs: those of the layers that made them; where a layer made several, or
// is an input, each gets a number.
std::vector<std::string> output_names(const Model& model) {
  std::map<std::string, int> counts, next;
  for (const SymbolicTensor& t : model.inputs()) ++counts[t.layer()->name()];
  for (const SymbolicTensor& t : model.outputs()) ++counts[t.layer()->name()];
  std::vector<std::string> names;
  for (const SymbolicTensor& t : model.outputs()) {
    const std::string& name = t.layer()->name();
    names.push_back(counts[name] == 1 ? name : text(name, '_', ++next[name]));
  }
  return names;
}

// An identity of another dtype would cast floats.
DTypePolicy dtype_of_output(const SymbolicTensor& output) {
  return is_float(output.dtype()) ? DTypePolicy(output.dtype()) : DTypePolicy();
}

}  // namespace

ReplicasLayer::ReplicasLayer(LayerPtr model, ReplicasOptions options)
    : Layer("Replicas", {}),  // which weights are trained is for the model to say, at any time
      model_(std::move(model)),
      options_(std::move(options)) {
  add_sublayer("model", model_);
}

// The model's variables get the paths that they would have without replicas.
void ReplicasLayer::build(const Shapes& inputs) {
  model_->ensure_built(inputs);
  const std::string scope = name() + '/';
  for (const Variable& variable : model_->variables())
    if (variable.path().starts_with(scope)) variable.set_path(variable.path().substr(scope.size()));
  if (options_.store_variables) options_.store_variables(model_->weights());
}

// A replica without samples is left out, unless the batch has none at all.
std::vector<Replica> ReplicasLayer::replicas_of(int64_t batch) const {
  const auto count = static_cast<int64_t>(options_.devices.size()), step = batch / count;
  std::vector<Replica> replicas;
  for (int64_t i = 0; i < count; ++i) {
    const bool even = options_.split == Split::even;
    const int64_t begin = even ? batch * i / count : i * step;
    const int64_t end = even ? batch * (i + 1) / count : i + 1 == count ? batch : begin + step;
    if (begin == end && (batch > 0 || i > 0)) continue;
    replicas.push_back({options_.devices[static_cast<size_t>(i)], begin, end, batch});
  }
  return replicas;
}

LayerPtr ReplicasLayer::fresh_copy() const {
  return std::make_shared<ReplicasLayer>(detail::copy_of(model_), options_);
}

Results ReplicasLayer::call(const Call& c) const {
  return call_layers(c, c).map<Value>([](const Traced& t) { return t.value; });
}

Tree<Traced> ReplicasLayer::call_layers(const Call& call, const Call&) const {
  const int64_t batch = batch_of(call.arguments(), model_->name());
  // Before a batch is known, the graph is the model's.
  if (batch == unknown) return call.invoke(*model_, call.arguments());
  std::optional<distribute::OutputLayouts> layouts;
  if (options_.distribution) layouts.emplace(*model_, *options_.distribution);
  std::vector<Tree<Traced>> results;
  const std::vector<Replica> replicas = replicas_of(batch);
  Replication(call.tracer(), replicas).write([&](const Replica& replica) {
    results.push_back(call.invoke(*model_, call.arguments().map<Traced>([&](const Traced& t) {
      Traced slice{rows(t.value, replica)};
      if (t.mask) slice.mask = rows(*t.mask, replica);
      return slice;
    })));
  });
  return join(results);
}

// The outputs of all replicas, each output as one tensor.
Tree<Traced> ReplicasLayer::join(const std::vector<Tree<Traced>>& results) const {
  const auto join = [&](const Values& slices) {
    return options_.merge ? ops::collective::gather(slices, 0, *options_.merge)
                          : ops::concatenate(slices, 0);
  };
  std::vector<std::vector<Traced>> flat;
  for (const auto& result : results) flat.push_back(result.flat());
  size_t output = 0;
  return results[0].map<Traced>([&](const Traced& first) {
    Values values, masks;
    bool one_mask = false;
    for (const auto& result : flat) {
      const Traced& slice = result[output];
      values.push_back(slice.value);
      if (!first.mask) continue;
      masks.push_back(*slice.mask);
      one_mask = one_mask || is_of_all_samples(*slice.mask, slice.value.shape()[0]);
    }
    ++output;
    if (one_mask) masks.resize(1);
    Traced whole{join(values)};
    if (first.mask) whole.mask = join(masks);
    return whole;
  });
}

Model replicated(const Model& model, ReplicasOptions options) {
  const auto replicas = std::make_shared<ReplicasLayer>(model.layer(), std::move(options));
  const std::vector<std::string> names = output_names(model);
  size_t next = 0;
  const Symbols outputs =
      (*replicas)(model.input()).map<SymbolicTensor>([&](const SymbolicTensor& t) {
        const LayerOptions options = {.name = names[next++], .dtype = dtype_of_output(t)};
        return SymbolicTensor(Identity({}, options)(t));
      });
  return Model({.inputs = model.input(), .outputs = outputs, .dialect = model.dialect()});
}

}  // namespace keratin

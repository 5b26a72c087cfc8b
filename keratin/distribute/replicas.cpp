#include "keratin/distribute/replicas.h"

#include "keratin/graph/config.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/slicing.h"
#include "keratin/ops/transfer.h"

namespace keratin {
namespace {

Value on(Value value, Device device) {
  return value.type().device == device ? value : ops::transfer(value, device);
}

// Rows [begin, end) of the batch, on another device.
Value rows(Value value, int64_t begin, int64_t end, Device device) {
  return on(ops::slice_axis(value, 0, begin, end), device);
}

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

Value joined(const Values& parts, Device device) {
  Values there;
  for (const Value& part : parts) there.push_back(on(part, device));
  return there.size() == 1 ? there[0] : ops::concat(there, 0);
}

}  // namespace

ReplicasLayer::ReplicasLayer(LayerPtr model, std::vector<Device> devices, Device merge)
    : Layer("Replicas", {.trainable = model->trainable()}),
      model_(std::move(model)),
      devices_(std::move(devices)),
      merge_(merge) {
  add_sublayer("model", model_);
}

LayerPtr ReplicasLayer::fresh_copy() const {
  return std::make_shared<ReplicasLayer>(copy_of(model_), devices_, merge_);
}

Results ReplicasLayer::call(const Call& c) const {
  return apply(c, c).map<Value>([](const Traced& t) { return t.value; });
}

Tree<Traced> ReplicasLayer::apply(const Call& call, const Call&) const {
  const int64_t batch = batch_of(call.arguments(), model_->name());
  // Before a batch is known, the graph is the model's.
  if (batch == unknown) return call.invoke(*model_, call.arguments());
  const auto parts = static_cast<int64_t>(devices_.size()), step = batch / parts;
  std::vector<Tree<Traced>> results;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = i * step, end = i + 1 == parts ? batch : begin + step;
    if (begin == end && (i + 1 < parts || !results.empty())) continue;
    const Device device = devices_[static_cast<size_t>(i)];
    results.push_back(call.invoke(*model_, call.arguments().map<Traced>([&](const Traced& t) {
      Traced part{rows(t.value, begin, end, device)};
      if (t.mask) part.mask = rows(*t.mask, begin, end, device);
      return part;
    })));
  }
  std::vector<std::vector<Traced>> flat;
  for (const auto& result : results) flat.push_back(result.flat());
  size_t output = 0;
  return results[0].map<Traced>([&](const Traced& first) {
    Values values, masks;
    for (const auto& result : flat) {
      values.push_back(result[output].value);
      if (first.mask) masks.push_back(*result[output].mask);
    }
    ++output;
    Traced whole{joined(values, merge_)};
    if (first.mask) whole.mask = joined(masks, merge_);
    return whole;
  });
}

}  // namespace keratin

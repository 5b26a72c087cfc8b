#include "keratin/graph/call_protocol.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/bind_arguments.h"
#include "keratin/graph/build_scope.h"
#include "keratin/graph/output_scope.h"
#include "keratin/graph/replication.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

bool any_mask(const Arguments<Traced>& arguments) {
  bool any = false;
  if (!arguments.positional.empty())
    arguments.positional[0].each([&](const Traced& t) { any = any || t.mask.has_value(); });
  return any;
}

// The tensors of the first argument with the masks of `mask`: the mask of one tensor, a list for
// several, or none for all of them.
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
  const size_t min_masks = layer.min_masks().value_or(tensors.size());
  require(masks.size() >= min_masks && masks.size() <= tensors.size(), "layer '", layer.name(),
          "': expected one mask per input (", tensors.size(), "), got ", masks.size());
  masks.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].mask = masks[i];
  return input.pack(tensors);
}

Tree<Traced> without_masks(const Tree<Traced>& input) {
  return input.map<Traced>([](const Traced& t) { return Traced{t.value}; });
}

// Removes an argument that the protocol itself uses; nothing when it was not given.
std::optional<Tree<Traced>> take_named(Arguments<Traced>& arguments, std::string_view name) {
  const auto found = arguments.named.find(name);
  if (found == arguments.named.end()) return std::nullopt;
  Tree<Traced> value = std::move(found->second);
  arguments.named.erase(found);
  return value;
}

// TensorFlow's Keras 2 drops such a mask without a warning. Keras 2 up to 2.3 refused it, so no
// file of those versions has one.
void warn_of_lost_mask(const Layer& layer, const Tracer& tracer) {
  if (tracer.warns)
    detail::warn_about(
        text("Layer '", layer.name(), "' (of type ", layer.class_name(), ")"),
        " was passed an input with a mask attached to it. However, this layer does not "
        "support masking and will therefore destroy the mask information. Downstream "
        "layers will not see the mask.");
}

// The arguments of `call`, and the arguments that masks of outputs are computed from.
struct MaskedArguments {
  Arguments<Traced> for_call, for_masks;
};

// Keras 2 passes masks on by what the input carries, Keras 3 by the mask that the call was given by
// name.
MaskedArguments settle_masks(const Layer& layer, Arguments<Traced> arguments, Dialect dialect,
                             bool mask_by_name) {
  const auto mask = take_named(arguments, "mask");
  Arguments<Traced> for_masks = arguments;
  if (mask && (!mask->is_none() || dialect == Dialect::keras2)) {
    arguments.positional[0] = with_masks(arguments.positional[0], *mask, layer);
    if (dialect == Dialect::keras3 && mask_by_name)
      for_masks.positional[0] = arguments.positional[0];
  } else if (dialect == Dialect::keras3 && layer.takes_mask() && arguments.with_tensors() > 1) {
    // Keras 3 fills in the mask when one argument alone holds tensors: a recurrent layer that is
    // given states does not see the mask of its input, and still passes it on.
    arguments.positional[0] = without_masks(arguments.positional[0]);
  }
  return {std::move(arguments), std::move(for_masks)};
}

bool places_layers(const Layer& layer) {
  const auto* model = dynamic_cast<const CallsLayers*>(&layer);
  return model != nullptr && model->places_layers();
}

void add_penalty(const Regularizer& penalty, const Results& results, const Call& call) {
  results.each([&](Value y) {
    const double batch = y.rank() > 0 ? static_cast<double>(std::max<int64_t>(1, y.shape()[0])) : 1;
    call.add_loss(penalty(y) / batch);
  });
}

}  // namespace

bool is_true(const Tree<Traced>& flag, const Layer& layer, std::string_view name) {
  require(flag.is_constant(), layer.class_name(), " '", layer.name(), "': the argument '", name,
          "' of its call must be true or false, got ", flag.is_leaf() ? "a tensor" : "a structure");
  const Json& value = flag.constant();
  require(value.is_bool() || value.is_number(), layer.class_name(), " '", layer.name(),
          "': the argument '", name, "' of its call must be true or false, got ", value);
  return value.is_number() ? value.as_double() != 0 : value.as_bool();
}

Value cast_float(Value x, DType dtype) {
  return is_float(x.dtype()) && x.dtype() != dtype ? ops::cast(x, dtype) : x;
}

Tree<Traced> call_with_masks(const Layer& layer, const Call& call, const Call& for_masks) {
  const BuildScope scope(layer);  // an activation may be built by the call
  const Results results = layer.call(call);
  const Masks masks = layer.compute_mask(for_masks, results.leaf_count());
  ensure(masks.size() == results.leaf_count(), "layer '", layer.name(), "' (", layer.class_name(),
         "): compute_mask gave ", masks.size(), " masks for ", results.leaf_count(), " outputs");
  if (const Regularizer& penalty = layer.options().activity_regularizer)
    add_penalty(penalty, results, call);
  const std::vector<Traced> given = for_masks.argument(0).flat();
  size_t next = 0;
  return results.map<Traced>([&](Value y) {
    Traced traced{y, masks[next++]};
    // Keras ties a mask to its tensor: an input that is returned unchanged keeps its mask; in Keras
    // 2 only by a layer that does not support masking.
    if (!traced.mask && (call.dialect() == Dialect::keras3 || !layer.supports_masking()))
      for (const Traced& input : given)
        if (input.value == y) traced.mask = input.mask;
    return traced;
  });
}

// A call runs on its layer's device, or else where its first tensor is; in a replica, on the
// replica's device.
std::optional<Device> Tracer::device_of(const Layer& layer,
                                        const Arguments<Traced>& arguments) const {
  Value first;
  arguments.each([&](const Traced& t) {
    if (!first.defined()) first = t.value;
  });
  if (replication_ != nullptr || places_layers(layer) || !first.defined() ||
      first.block().depth() > 0)
    return placement_.device();
  return layer.device().value_or(first.type().device);
}

Tree<Traced> Tracer::invoke(const Layer& layer, Arguments<Traced> arguments, bool training) {
  const bool mask_by_name = arguments.named.contains("mask");
  arguments = bind_arguments(layer, std::move(arguments));
  require(!arguments.positional.empty(), "layer '", layer.name(), "': expected an input, got none");
  Shapes shapes;
  arguments.positional[0].each([&](const Traced& t) { shapes.push_back(t.value.shape()); });
  layer.check_inputs(shapes);
  const OriginScope origin(std::make_shared<const std::string>(layer.name()));
  const PlacementScope scope(placement_, device_of(layer, arguments));
  if (placement_.device() && !places_layers(layer))
    arguments = placement_.bring(std::move(arguments), *placement_.device());
  if (layer.autocasts())
    arguments = arguments.map<Traced>([&](Traced t) {
      t.value = cast_float(t.value, layer.compute_dtype());
      return t;
    });
  const auto given = take_named(arguments, "training");
  if (given && !given->is_none()) training = is_true(*given, layer, "training");
  auto [for_call, for_masks] = settle_masks(layer, std::move(arguments), dialect_, mask_by_name);
  return call(layer, std::move(for_call), std::move(for_masks), training);
}

Tree<Traced> Tracer::call(const Layer& layer, Arguments<Traced> arguments,
                          Arguments<Traced> for_masks, bool training) {
  if (!layer.supports_masking() && any_mask(for_masks)) warn_of_lost_mask(layer, *this);
  const Call call(*this, layer, std::move(arguments), training);
  const Call masks_call(*this, layer, std::move(for_masks), training);
  try {
    const auto* model = dynamic_cast<const CallsLayers*>(&layer);
    const Tree<Traced> results = model != nullptr ? model->call_layers(call, masks_call)
                                                  : call_with_masks(layer, call, masks_call);
    return results.map<Traced>([&](const Traced& t) {
      return Traced{OutputScope::changed(layer, t.value), t.mask};
    });
  } catch (...) {
    if (replication_ != nullptr) replication_->note_failure(layer);
    throw;
  }
}

}  // namespace keratin

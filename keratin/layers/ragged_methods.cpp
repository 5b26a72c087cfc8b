#include "keratin/layers/ragged_methods.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/core.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/slicing.h"

namespace keratin {
namespace {

[[noreturn]] void refuse_ragged(std::string_view class_name, const std::string& layer,
                                const std::string& what) {
  fail(class_name, " '", layer, "': ", what,
       " is of ragged or sparse tensors, which Keratin does not have");
}

// What the model has instead in files.
std::shared_ptr<const Layer> identity_for(const Layer& layer) {
  return std::make_shared<IdentityLayer>(
      IdentityConfig{}, LayerOptions{layer.name(), layer.trainable(), layer.dtype_policy()});
}

// The arguments of the method behind the tensor, which files have as a list and a dict.
class MethodArguments {
 public:
  explicit MethodArguments(const Call& c)
      : positional_(constant_json(c.argument(1))), named_(constant_json(c.argument(2))) {}

  Json at(size_t position, std::string_view name) const {
    if (positional_.is_array() && position < positional_.size()) return positional_[position];
    const Json* found = named_.is_object() ? named_.find(name) : nullptr;
    return found == nullptr ? Json() : *found;
  }

 private:
  Json positional_, named_;
};

// x with the sizes that `shape` says: cut, or padded with `value`. Other sizes are null.
Value resized(Value x, const Json& shape, double value) {
  require(shape.size() == static_cast<size_t>(x.rank()), "to_tensor: expected a shape of ",
          x.rank(), " dimensions, got ", shape);
  Dims start(static_cast<size_t>(x.rank()), 0), limit = x.shape().dims(), more = start;
  for (size_t axis = 0; axis < limit.size(); ++axis) {
    if (shape[axis].is_null()) continue;
    const int64_t wanted = shape[axis].as_int();
    require(wanted >= 0, "to_tensor: expected sizes of at least 0, got ", shape);
    more[axis] = std::max<int64_t>(wanted - limit[axis], 0);
    limit[axis] = std::min(wanted, limit[axis]);
  }
  return ops::pad(ops::slice(x, start, limit), {start, more, start, value});
}

}  // namespace

InstanceMethodLayer::InstanceMethodLayer(InstanceMethodConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)), form_(identity_for(*this)) {
  if (cfg.attr_name != "to_tensor")
    refuse_ragged("InstanceMethod", name(), "the method '" + cfg.attr_name + "'");
  set_built();
}

Results InstanceMethodLayer::call(const Call& c) const {
  const MethodArguments arguments(c);
  const Json value = arguments.at(0, "default_value"), shape = arguments.at(2, "shape");
  if (shape.is_null()) return c.input();
  if (c.tracer().warns) changes_shape_ = true;
  require(shape.is_array(), "InstanceMethod '", name(), "': expected a list as shape, got ", shape);
  return resized(c.input(), shape, value.is_number() ? value.as_double() : 0);
}

std::shared_ptr<const Layer> InstanceMethodLayer::saved_form() const {
  if (!changes_shape_) return form_;
  if (!warned_.exchange(true))
    warn(text("InstanceMethod '", name(),
              "' is saved as such, which Keras 3 cannot open: it changes the shape of its input"));
  return nullptr;
}

Arguments<SymbolicTensor> InstanceMethodLayer::saved_arguments(
    const Arguments<SymbolicTensor>& given) const {
  return {{given.positional.at(0)}, {}};
}

ClassMethodLayer::ClassMethodLayer(ClassMethodConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)), form_(identity_for(*this)) {
  if (cfg.cls_symbol != "RaggedTensor" || cfg.method_name != "from_tensor")
    refuse_ragged("ClassMethod", name(),
                  text("the class method '", cfg.method_name, "' of tf.", cfg.cls_symbol));
  set_built();
}

Results ClassMethodLayer::call(const Call& c) const {
  require(c.input_count() == 1, "ClassMethod '", name(), "': expected one tensor, got ",
          c.input_count());
  const Tree<Traced>& named = c.argument(1);
  const Json options = named.leaf_count() == 0 ? constant_json(named) : Json();
  for (const char* key : {"lengths", "padding"})
    if (options.is_object() && options.contains(key) && !options.at(key).is_null())
      refuse_ragged("ClassMethod", name(), text("the argument '", key, "' of from_tensor"));
  return c.input();
}

Arguments<SymbolicTensor> ClassMethodLayer::saved_arguments(
    const Arguments<SymbolicTensor>& given) const {
  std::vector<SymbolicTensor> tensors;
  given.each([&](const SymbolicTensor& tensor) { tensors.push_back(tensor); });
  return {{tensors.at(0)}, {}};
}

LayerPtr instance_property_from_config(const Json& config, const ConfigContext&) {
  const auto at = [&](std::string_view key) {
    const Json* value = config.find(key);
    return value == nullptr || !value->is_string() ? std::string("?") : value->as_string();
  };
  refuse_ragged("InstanceProperty", at("name"), "the property '" + at("attr_name") + "'");
}

}  // namespace keratin

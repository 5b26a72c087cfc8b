#include "keratin/graph/input.h"

#include <algorithm>
#include "keratin/base/text.h"
#include "keratin/base/warning.h"

namespace keratin {

InputLayer::InputLayer(const Shape& batch_shape, DType dtype, std::string name, InputFlags flags)
    : Layer("InputLayer", LayerOptions{std::move(name)}),
      shape_(batch_shape),
      dtype_(dtype),
      flags_(flags) {
  require(!flags.sparse || !flags.ragged, "InputLayer '", this->name(),
          "': tensors cannot be both sparse and ragged");
  set_built();
}

std::shared_ptr<InputLayer> InputLayer::make(const Shape& batch_shape, DType dtype,
                                             std::string name, InputFlags flags) {
  return std::make_shared<InputLayer>(batch_shape, dtype, std::move(name), flags);
}

SymbolicTensor InputLayer::output() {
  NodePtr node = node_.lock();
  if (node == nullptr) {
    node = add_node({}, {OutputSpec{{dtype_, shape_}, name()}});
    node_ = node;
  }
  return SymbolicTensor::output(node, 0);
}

Json InputLayer::get_config() const {
  return Json::Object{{"batch_shape", detail::shape_json(shape_)},
                      {"dtype", keras_name(dtype_)},
                      {"sparse", flags_.sparse},
                      {"ragged", flags_.ragged},
                      {"name", name()},
                      {"optional", flags_.optional}};
}

LayerPtr InputLayer::from_config(const Json& config, const ConfigContext& context) {
  const Json* shape = config.find("batch_shape");
  if (shape == nullptr) shape = config.find("batch_input_shape");  // Keras 2
  require(shape != nullptr, "InputLayer: the config has no batch_shape");
  static constexpr std::string_view known[] = {
      "batch_shape", "batch_input_shape", "dtype",     "sparse",      "ragged",
      "name",        "optional",          "trainable", "input_tensor"};
  for (const auto& member : config.as_object())
    if (std::find(std::begin(known), std::end(known), member.first) == std::end(known) &&
        context.unknown_key)
      context.unknown_key("InputLayer", member.first);
  const Json* dtype = config.find("dtype");
  const auto is_set = [&](const char* flag) {
    const Json* value = config.find(flag);
    return value != nullptr && value->is_bool() && value->as_bool();
  };
  const LayerOptions options = detail::read_options(Json::Object{{"name", config.at("name")}});
  const InputFlags flags{is_set("optional"), is_set("sparse"), is_set("ragged")};
  if (flags.ragged)
    warn(text("InputLayer '", options.name,
              "': its tensors are ragged in Keras; here rows are padded to one length, and layers "
              "count what is padded"));
  return make(
      detail::shape_from_json(*shape),
      dtype == nullptr || dtype->is_null() ? DType::f32 : DTypePolicy::from_json(*dtype).compute(),
      options.name, flags);
}

SymbolicTensor Input(InputOptions options) {
  require(!options.batch_size || *options.batch_size >= 0,
          "Input: batch_size must not be negative, got ", options.batch_size.value_or(0));
  Dims dims = options.shape.dims();
  require(dims.size() < max_rank, "Input: expected at most ", max_rank - 1,
          " dimensions and the batch, got shape ", options.shape);
  dims.insert(dims.begin(), options.batch_size.value_or(unknown));
  return InputLayer::make(dims, options.dtype, std::move(options.name),
                          {options.optional, options.sparse, options.ragged})
      ->output();
}

SymbolicTensor Input(const Shape& shape) { return Input(InputOptions{.shape = shape}); }

SymbolicTensor Input(std::initializer_list<int64_t> shape) {
  return Input(InputOptions{.shape = shape});
}

}  // namespace keratin

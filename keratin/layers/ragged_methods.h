#pragma once

#include <atomic>

#include "keratin/graph/config.h"
#include "keratin/graph/saved_form.h"

// Methods and properties of ragged tensors, which Keras 2 writes as layers of functional models.
// Keratin has no ragged tensors: their rows are padded to one length by whoever calls the model. So
// what pads rows, or makes padded rows ragged, returns its input. All else is an error that names
// the method.
namespace keratin {

// x.to_tensor(default_value, name, shape): x itself, padded or cut to `shape`.
struct InstanceMethodConfig {
  std::string attr_name;

  static constexpr std::string_view keras_name = "InstanceMethod";
  static constexpr auto call_arguments = arguments_of_call("obj", "args", "kwargs");
  static constexpr auto fields = field_list(field("attr_name", &InstanceMethodConfig::attr_name));
};

// Keras 3 has no such layer. Files hold an Identity, unless the layer changes a shape.
class InstanceMethodLayer final : public LayerOf<InstanceMethodLayer, InstanceMethodConfig>,
                                  public HasSavedForm {
 public:
  InstanceMethodLayer(InstanceMethodConfig config, LayerOptions options);
  std::string_view module() const override { return "tf_keras.src.layers.core.tf_op_layer"; }
  std::string_view registered_name() const override { return InstanceMethodConfig::keras_name; }
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }
  // Null, with a warning, if a call changed a shape.
  std::shared_ptr<const Layer> saved_form() const override;
  Arguments<SymbolicTensor> saved_arguments(const Arguments<SymbolicTensor>& given) const override;

 private:
  std::shared_ptr<const Layer> form_;
  mutable std::atomic<bool> changes_shape_ = false, warned_ = false;
};

// tf.RaggedTensor.from_tensor(x): x itself.
struct ClassMethodConfig {
  std::string cls_symbol, method_name;

  static constexpr std::string_view keras_name = "ClassMethod";
  static constexpr auto call_arguments = arguments_of_call("args", "kwargs");
  static constexpr auto fields = field_list(field("cls_symbol", &ClassMethodConfig::cls_symbol),
                                            field("method_name", &ClassMethodConfig::method_name));
};

// Keras 3 has no such layer. Files hold an Identity.
class ClassMethodLayer final : public LayerOf<ClassMethodLayer, ClassMethodConfig>,
                               public HasSavedForm {
 public:
  ClassMethodLayer(ClassMethodConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }
  std::shared_ptr<const Layer> saved_form() const override { return form_; }
  Arguments<SymbolicTensor> saved_arguments(const Arguments<SymbolicTensor>& given) const override;

 private:
  std::shared_ptr<const Layer> form_;
};

// An error: it is a property of ragged or sparse tensors.
LayerPtr instance_property_from_config(const Json& config, const ConfigContext& context);

}  // namespace keratin

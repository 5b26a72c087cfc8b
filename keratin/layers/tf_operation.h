#pragma once

#include <mutex>
#include <optional>

#include "keratin/graph/config.h"
#include "keratin/graph/saved_form.h"
#include "keratin/layers/tf_nodes.h"

// Keras 2 writes arithmetic on symbolic tensors as layers that name a function of TensorFlow:
// TFOpLambda, and SlicingOpLambda for x[…]. In TensorFlow 2.0 to 2.3, TensorFlowOpLayer has an
// operation of a graph, which calls one of these functions here.
namespace keratin {

struct TfFunction;

// Files hold it as a model of Keras 3's operations, whose inputs are the tensors among its
// arguments.
class TfOperationLayer final : public Layer, public HasSavedForm {
 public:
  TfOperationLayer(std::string_view class_name, const TfFunction& function, std::string symbol,
                   LayerOptions options, std::optional<TfNode> node = {});
  // Errors: a function of TensorFlow that Keratin does not have.
  static LayerPtr op_from_config(const Json& config, const ConfigContext& context);
  static LayerPtr slicing_from_config(const Json& config, const ConfigContext& context);
  static LayerPtr node_from_config(const Json& config, const ConfigContext& context);

  std::string_view class_name() const override { return class_name_; }
  std::string_view module() const override {
    return node_ ? "tf_keras.src.engine.base_layer" : "tf_keras.src.layers.core.tf_op_layer";
  }
  std::string_view registered_name() const override { return class_name_; }
  Json own_config() const override {
    return node_ ? node_->own_config() : Json::Object{{"function", symbol_}};
  }
  LayerPtr fresh_copy() const override;

  Results call(const Call& c) const override;
  // Like Keras's operations, it drops masks without a warning.
  bool supports_masking() const override { return true; }
  Masks compute_mask(const Call&, size_t outputs) const override { return Masks(outputs); }
  bool autocasts() const override { return false; }

  // Null, with a warning, if no operations compute the same.
  std::shared_ptr<const Layer> saved_form() const override;
  Arguments<SymbolicTensor> saved_arguments(const Arguments<SymbolicTensor>& given) const override;

 private:
  using Calls = std::vector<Arguments<Type>>;
  template <class T>
  Arguments<T> of_function(const Arguments<T>& given) const {
    return node_ ? node_->arguments(given) : given;
  }
  void remember(const Call& c) const;
  std::shared_ptr<const Layer> as_model(const Arguments<Type>& call) const;

  std::string_view class_name_;
  const TfFunction& function_;
  std::string symbol_;  // as in the file: "math.add", "compat.v1.squeeze"
  std::optional<TfNode> node_;
  mutable std::mutex lock_;
  mutable Calls calls_;           // without repetitions
  mutable bool settled_ = false;  // true if `form_` belongs to these calls
  mutable std::shared_ptr<const Layer> form_;
};

}  // namespace keratin

#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct InputOptions {
  Shape shape;                             // without the batch axis
  std::optional<int64_t> batch_size = {};  // default: unknown
  DType dtype = DType::f32;
  std::string name = {};
  bool optional = false;  // None may be passed for it
  bool sparse = false;    // sparse tensors in Keras; here they are dense, with the same values
};

// An input of a model: one tensor, made with the layer.
class KERATIN_API InputLayer final : public Layer {
 public:
  static std::shared_ptr<InputLayer> make(const Shape& batch_shape, DType dtype, std::string name,
                                          bool optional = false, bool sparse = false);
  static LayerPtr from_config(const Json& config, const ConfigContext& context);

  std::string_view class_name() const override { return "InputLayer"; }
  Json get_config() const override;
  LayerPtr fresh_copy() const override { return make(shape_, dtype_, name(), optional_, sparse_); }
  Results call(const Call& c) const override { return c.input(); }
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }

  // Its tensor. A new node is made if the last one is not used any more.
  SymbolicTensor output();
  const Shape& batch_shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  bool optional() const { return optional_; }
  bool sparse() const { return sparse_; }

  InputLayer(const Shape& batch_shape, DType dtype, std::string name, bool optional,
             bool sparse = false);

 private:
  Shape shape_;
  DType dtype_;
  bool optional_, sparse_;
  std::weak_ptr<const CallNode> node_;
};

// A tensor to build a model on.
KERATIN_API SymbolicTensor Input(InputOptions options);
KERATIN_API SymbolicTensor Input(const Shape& shape);
KERATIN_API SymbolicTensor Input(std::initializer_list<int64_t> shape);

}  // namespace keratin

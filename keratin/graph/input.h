#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

// What Keras says of an input beside its type.
struct InputFlags {
  bool optional = false;  // None may be passed for it
  bool sparse = false;    // sparse tensors in Keras; here they are dense, with the same values
  bool ragged = false;    // ragged tensors in Keras; here rows are padded to one length

  bool operator==(const InputFlags&) const = default;
};

struct InputOptions {
  Shape shape;                             // without the batch axis
  std::optional<int64_t> batch_size = {};  // default: unknown
  DType dtype = DType::f32;
  std::string name = {};
  bool optional = false;  // None may be passed for it
  bool sparse = false;    // sparse tensors in Keras; here they are dense, with the same values
  bool ragged = false;    // ragged tensors in Keras; here rows are padded to one length
};

// An input of a model: one tensor, made with the layer.
class KERATIN_API InputLayer final : public Layer {
 public:
  static std::shared_ptr<InputLayer> make(const Shape& batch_shape, DType dtype, std::string name,
                                          InputFlags flags = {});
  static LayerPtr from_config(const Json& config, const ConfigContext& context);

  std::string_view class_name() const override { return "InputLayer"; }
  Json get_config() const override;
  LayerPtr fresh_copy() const override { return make(shape_, dtype_, name(), flags_); }
  Results call(const Call& c) const override { return c.input(); }
  bool supports_masking() const override { return true; }
  bool autocasts() const override { return false; }

  // Its tensor. A new node is made if the last one is not used any more.
  SymbolicTensor output();
  const Shape& batch_shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  const InputFlags& flags() const { return flags_; }
  bool optional() const { return flags_.optional; }

  InputLayer(const Shape& batch_shape, DType dtype, std::string name, InputFlags flags);

 private:
  Shape shape_;
  DType dtype_;
  InputFlags flags_;
  std::weak_ptr<const CallNode> node_;
};

// A tensor to build a model on.
KERATIN_API SymbolicTensor Input(InputOptions options);
KERATIN_API SymbolicTensor Input(const Shape& shape);
KERATIN_API SymbolicTensor Input(std::initializer_list<int64_t> shape);

}  // namespace keratin

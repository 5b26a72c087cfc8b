#pragma once

#include <optional>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/graph/config.h"

// Fields that the configs of several families of layers have, in Keras's order, and a type of
// fields.
namespace keratin {

// Sizes of which some are unknown, as in {std::nullopt, 1, 3}; null in configs.
class KERATIN_API OpenDims {
 public:
  using Size = std::optional<int64_t>;

  OpenDims() = default;
  OpenDims(std::initializer_list<Size> sizes) : sizes_(sizes) {}

  size_t size() const { return sizes_.size(); }
  const Size& operator[](size_t i) const { return sizes_[i]; }
  auto begin() const { return sizes_.begin(); }
  auto end() const { return sizes_.end(); }

  Json to_json() const {
    Json json = Json::array();
    for (const Size& size : sizes_) json.push_back(size ? Json(*size) : Json());
    return json;
  }
  static OpenDims from_json(const Json& json) {
    OpenDims dims;
    for (const Json& size : json.as_array())
      dims.sizes_.push_back(size.is_null() ? Size() : Size(size.as_int()));
    return dims;
  }

 private:
  std::vector<Size> sizes_;
};

template <class C>
struct ActivationAndBiasFields {
  static constexpr auto fields =
      field_list(field("activation", &C::activation), field("use_bias", &C::use_bias));
};

// How the kernel and the bias of a layer start, are penalised and are kept in bounds.
template <class C>
struct KernelAndBiasFields {
  static constexpr auto fields = field_list(field("kernel_initializer", &C::kernel_initializer),
                                            field("bias_initializer", &C::bias_initializer),
                                            field("kernel_regularizer", &C::kernel_regularizer),
                                            field("bias_regularizer", &C::bias_regularizer),
                                            field("kernel_constraint", &C::kernel_constraint),
                                            field("bias_constraint", &C::bias_constraint));
};

// Keras writes these where LoRA is enabled.
template <class C>
struct LoraFields {
  static constexpr auto fields =
      field_list(field<Written::if_changed>("lora_rank", &C::lora_rank),
                 field<Written::if_changed>("lora_alpha", &C::lora_alpha));
};

template <class C>
struct ScaleAndCenterFields {
  static constexpr auto fields = field_list(field("epsilon", &C::epsilon),
                                            field("center", &C::center), field("scale", &C::scale));
};

// The same of the offset and the factor of a normalization.
template <class C>
struct BetaAndGammaFields {
  static constexpr auto fields = field_list(field("beta_initializer", &C::beta_initializer),
                                            field("gamma_initializer", &C::gamma_initializer),
                                            field("beta_regularizer", &C::beta_regularizer),
                                            field("gamma_regularizer", &C::gamma_regularizer),
                                            field("beta_constraint", &C::beta_constraint),
                                            field("gamma_constraint", &C::gamma_constraint));
};

}  // namespace keratin

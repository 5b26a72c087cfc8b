#pragma once

#include "keratin/graph/config.h"

// Fields that the configs of several families of layers have, in Keras's order.
namespace keratin {

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

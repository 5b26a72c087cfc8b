#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

namespace keratin {

struct KERATIN_API EmbeddingConfig {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;
  Json quantization_config = {};

  static constexpr std::string_view keras_name = "Embedding";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields =
      field_list(field("input_dim", &EmbeddingConfig::input_dim),
                 field("output_dim", &EmbeddingConfig::output_dim),
                 field("embeddings_initializer", &EmbeddingConfig::embeddings_initializer),
                 field("embeddings_regularizer", &EmbeddingConfig::embeddings_regularizer),
                 field("embeddings_constraint", &EmbeddingConfig::embeddings_constraint),
                 field("mask_zero", &EmbeddingConfig::mask_zero),
                 field("quantization_config", &EmbeddingConfig::quantization_config));
};

// A row of a table for each index; with mask_zero, index 0 is masked.
class KERATIN_API EmbeddingLayer final : public LayerOf<EmbeddingLayer, EmbeddingConfig> {
 public:
  EmbeddingLayer(EmbeddingConfig config, LayerOptions options);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return cfg.mask_zero; }
  // Casting float indices to a smaller float would round them.
  bool autocasts() const override { return false; }

 private:
  Variable embeddings_;
};

using Embedding = Shared<EmbeddingLayer>;

}  // namespace keratin

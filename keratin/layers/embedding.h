#pragma once

#include "keratin/base/export.h"
#include "keratin/layers/dense.h"

namespace keratin {

template <class C>
struct EmbeddingFields {
  static constexpr auto fields = field_list(
      field("input_dim", &C::input_dim), field("output_dim", &C::output_dim),
      field("embeddings_initializer", &C::embeddings_initializer),
      field("embeddings_regularizer", &C::embeddings_regularizer),
      field("embeddings_constraint", &C::embeddings_constraint), field("mask_zero", &C::mask_zero),
      field("quantization_config", &C::quantization_config), fields_of<LoraFields>());
};

// The base of layers with a table of embeddings.
class KERATIN_API EmbeddingTable : public LoraLayer {
 public:
  // Casting float indices to a smaller float would round them.
  bool autocasts() const override { return false; }

 protected:
  using LoraLayer::LoraLayer;

  template <class Config>
  static void check_arguments(Config& config);
  template <class Config>
  void build_table(Config& config);
  Value table(const Call& c) const { return with_lora(c, embeddings_); }
  // The rows that the input names.
  Value look_up(const Call& c) const;

  Variable embeddings_;
};

struct KERATIN_API EmbeddingConfig {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;
  Json quantization_config = {};
  std::optional<int64_t> lora_rank = {};
  std::optional<double> lora_alpha = {};  // default: the rank

  static constexpr std::string_view keras_name = "Embedding";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(fields_of<EmbeddingFields>());
};

// A row of a table for each index; with mask_zero, index 0 is masked.
class KERATIN_API EmbeddingLayer final
    : public LayerOf<EmbeddingLayer, EmbeddingConfig, EmbeddingTable> {
 public:
  EmbeddingLayer(EmbeddingConfig config, LayerOptions options);

  void enable_lora(const LoraOptions& options);
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return cfg.mask_zero; }
};

using Embedding = Shared<EmbeddingLayer>;

struct KERATIN_API ReversibleEmbeddingConfig {
  int64_t input_dim = 0;
  int64_t output_dim = 0;
  bool tie_weights = true;  // project back with the table itself
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;
  std::optional<DType> reverse_dtype = {};    // in which the projection is computed
  std::optional<double> logit_soft_cap = {};  // bounds what the projection gives
  Json quantization_config = {};
  std::optional<int64_t> lora_rank = {};
  std::optional<double> lora_alpha = {};  // default: the rank

  static constexpr std::string_view keras_name = "ReversibleEmbedding";
  static constexpr auto call_arguments = arguments_of_call("inputs", "reverse");
  static constexpr bool writes_activity_regularizer = true;
  static constexpr auto fields = field_list(
      fields_of<EmbeddingFields>(), field("tie_weights", &ReversibleEmbeddingConfig::tie_weights),
      field("reverse_dtype", &ReversibleEmbeddingConfig::reverse_dtype),
      field("logit_soft_cap", &ReversibleEmbeddingConfig::logit_soft_cap));
};

// An Embedding that projects back from embeddings to logits of the indices when it is called with
// {{"reverse", true}}.
class KERATIN_API ReversibleEmbeddingLayer final
    : public LayerOf<ReversibleEmbeddingLayer, ReversibleEmbeddingConfig, EmbeddingTable> {
 public:
  ReversibleEmbeddingLayer(ReversibleEmbeddingConfig config, LayerOptions options);

  void enable_lora(const LoraOptions& options);
  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return cfg.mask_zero; }
  std::vector<std::string_view> argument_names() const override { return {"inputs"}; }

 private:
  Value logits(const Call& c) const;

  Variable reverse_embeddings_;
};

using ReversibleEmbedding = Shared<ReversibleEmbeddingLayer>;

}  // namespace keratin

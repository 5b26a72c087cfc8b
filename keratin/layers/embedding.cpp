#include "keratin/layers/embedding.h"

#include "keratin/base/text.h"
#include "keratin/graph/call_protocol.h"
#include "keratin/layers/lora.h"
#include "keratin/ops/composites.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"

namespace keratin {

template <class Config>
void EmbeddingTable::check_arguments(Config& config) {
  require(config.input_dim > 0,
          "`input_dim` must be a positive integer. Received: input_dim=", config.input_dim);
  require(config.output_dim > 0,
          "`output_dim` must be a positive integer. Received: output_dim=", config.output_dim);
  check_lora(config);
}

template <class Config>
void EmbeddingTable::build_table(Config& config) {
  embeddings_ = add_weight(
      "embeddings", {config.input_dim, config.output_dim}, config.embeddings_initializer,
      {.regularizer = config.embeddings_regularizer, .constraint = config.embeddings_constraint});
  if (config.lora_rank) add_lora(config, embeddings_, {.rank = *config.lora_rank});
}

Value EmbeddingTable::look_up(const Call& c) const {
  Value indices = c.input();
  if (indices.dtype() != DType::i32 && indices.dtype() != DType::i64)
    indices = ops::cast(indices, DType::i32);
  const Value rows = ops::embedding(table(c), indices);
  return rows.dtype() == compute_dtype() ? rows : ops::cast(rows, compute_dtype());
}

namespace {

Value is_not_zero(Value x) { return ops::not_equal(x, ops::scalar_like(x, 0)); }

}  // namespace

EmbeddingLayer::EmbeddingLayer(EmbeddingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_arguments(cfg);
}

void EmbeddingLayer::build(const Shapes&) { build_table(cfg); }

void EmbeddingLayer::enable_lora(const LoraOptions& options) {
  add_lora(cfg, embeddings_, options);
}

Results EmbeddingLayer::call(const Call& c) const { return look_up(c); }

Masks EmbeddingLayer::compute_mask(const Call& c, size_t outputs) const {
  if (!cfg.mask_zero) return Masks(outputs);
  return {is_not_zero(c.input())};
}

ReversibleEmbeddingLayer::ReversibleEmbeddingLayer(ReversibleEmbeddingConfig config,
                                                   LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_arguments(cfg);
}

void ReversibleEmbeddingLayer::build(const Shapes&) {
  build_table(cfg);
  if (!cfg.tie_weights)
    reverse_embeddings_ = add_weight("reverse_embeddings", {cfg.output_dim, cfg.input_dim},
                                     cfg.embeddings_initializer);
}

void ReversibleEmbeddingLayer::enable_lora(const LoraOptions& options) {
  add_lora(cfg, embeddings_, options);
}

Results ReversibleEmbeddingLayer::call(const Call& c) const {
  return c.flag("reverse", false) ? logits(c) : look_up(c);
}

// x · kernel, and then cap · tanh(logits / cap). The kernel is the table transposed, or a weight of
// its own. As in Keras, the kernel has the dtype in which the layer computes, and x keeps its own.
Value ReversibleEmbeddingLayer::logits(const Call& c) const {
  Value x = c.input(), kernel = cfg.tie_weights ? table(c) : c.read(reverse_embeddings_);
  kernel = cast_float(kernel, compute_dtype());
  if (cfg.reverse_dtype) {
    x = ops::cast(x, *cfg.reverse_dtype);
    kernel = ops::cast(kernel, *cfg.reverse_dtype);
  }
  const Values both = ops::promote({x, kernel});
  const Value y = ops::matmul(both[0], both[1], {.transpose_b = cfg.tie_weights});
  if (!cfg.logit_soft_cap) return y;
  return ops::tanh(y / *cfg.logit_soft_cap) * *cfg.logit_soft_cap;
}

Masks ReversibleEmbeddingLayer::compute_mask(const Call& c, size_t outputs) const {
  if (!cfg.mask_zero || c.flag("reverse", false)) return Masks(outputs);
  return {is_not_zero(c.input())};
}

}  // namespace keratin

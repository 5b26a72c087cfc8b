#include "keratin/layers/embedding.h"

#include "keratin/base/text.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/pointwise.h"

namespace keratin {

EmbeddingLayer::EmbeddingLayer(EmbeddingConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  require(cfg.input_dim > 0,
          "`input_dim` must be a positive integer. Received: input_dim=", cfg.input_dim);
  require(cfg.output_dim > 0,
          "`output_dim` must be a positive integer. Received: output_dim=", cfg.output_dim);
}

void EmbeddingLayer::build(const Shapes&) {
  embeddings_ = add_weight(
      "embeddings", {cfg.input_dim, cfg.output_dim}, cfg.embeddings_initializer,
      {.regularizer = cfg.embeddings_regularizer, .constraint = cfg.embeddings_constraint});
}

Results EmbeddingLayer::call(const Call& c) const {
  Value indices = c.input();
  if (indices.dtype() != DType::i32 && indices.dtype() != DType::i64)
    indices = ops::cast(indices, DType::i32);
  const Value rows = ops::embedding(c.read(embeddings_), indices);
  return rows.dtype() == compute_dtype() ? rows : ops::cast(rows, compute_dtype());
}

Masks EmbeddingLayer::compute_mask(const Call& c, size_t outputs) const {
  if (!cfg.mask_zero) return Masks(outputs);
  return {ops::not_equal(c.input(), ops::scalar_like(c.input(), 0))};
}

}  // namespace keratin

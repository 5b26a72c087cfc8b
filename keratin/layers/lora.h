#pragma once

#include "keratin/base/text.h"
#include "keratin/layers/dense.h"

namespace keratin {

template <class Config>
void LoraLayer::check_lora(Config& config) {
  if (config.lora_rank.value_or(0) == 0) config.lora_rank.reset(), config.lora_alpha.reset();
  if (!config.lora_rank) return;
  require(*config.lora_rank > 0, Config::keras_name,
          ": `lora_rank` must be positive. Received: lora_rank=", *config.lora_rank);
  if (!config.lora_alpha) config.lora_alpha = static_cast<double>(*config.lora_rank);
}

template <class Config>
void LoraLayer::add_lora(Config& config, const Variable& kernel, const LoraOptions& options) {
  constexpr bool is_table = requires { config.embeddings_constraint; };
  const auto constrained = [&] {
    if constexpr (is_table)
      return static_cast<bool>(config.embeddings_constraint);
    else
      return static_cast<bool>(config.kernel_constraint);
  };
  require(!constrained(), "Lora is incompatible with ", is_table ? "embedding" : "kernel",
          " constraints. In order to enable lora on this layer, remove the `",
          is_table ? "embeddings" : "kernel", "_constraint` argument.");
  make_lora(kernel, options);
  config.lora_rank = options.rank;
  config.lora_alpha = options.alpha.value_or(static_cast<double>(options.rank));
}

}  // namespace keratin

#pragma once

#include "keratin/layers/preprocessing.h"

namespace keratin {

struct IndexLookupConfig {
  std::optional<int64_t> max_tokens = {};
  int64_t num_oov_indices = 1;
  Json mask_token = {};
  Json oov_token = {};
  std::string vocabulary_dtype = "string";  // or "int64"
  Json vocabulary = {};
  Json idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count", "tf_idf"
  bool sparse = false;
  bool pad_to_max_tokens = false;
  std::string oov_method = "floormod";  // or "farmhash"
  Json salt = {};
  Json vocabulary_size = {};

  static constexpr std::string_view keras_name = "IndexLookup";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(
      fields_of<LookupFields>(), field("vocabulary_dtype", &IndexLookupConfig::vocabulary_dtype));
};

// The base class of Keras's lookups. Keras does not export it, but its files may name it.
class IndexLookupLayer final : public LayerOf<IndexLookupLayer, IndexLookupConfig, LookupLayer> {
 public:
  IndexLookupLayer(IndexLookupConfig config, LayerOptions options);
  std::string_view module() const override { return "keras.src.layers.preprocessing.index_lookup"; }
  std::string_view registered_name() const override { return "IndexLookup"; }
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  Json own_config() const override;
  LayerPtr fresh_copy() const override;
};

}  // namespace keratin

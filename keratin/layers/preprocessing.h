#pragma once

#include "keratin/base/export.h"
#include "keratin/graph/config.h"

// Layers that prepare data: numbers, categories and text.
namespace keratin {

struct KERATIN_API RescalingConfig {
  Json scale = 1.0;  // a number, or one for each channel
  Json offset = 0.0;

  static constexpr std::string_view keras_name = "Rescaling";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("scale", &RescalingConfig::scale),
                                            field("offset", &RescalingConfig::offset));
};

// y = x · scale + offset
class KERATIN_API RescalingLayer final : public LayerOf<RescalingLayer, RescalingConfig> {
 public:
  RescalingLayer(RescalingConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }
};

using Rescaling = Shared<RescalingLayer>;

struct KERATIN_API NormalizationConfig {
  Sizes axis = -1;  // that have their own statistics; Dims{}: one mean for all elements
  Json mean = {};   // default: computed by adapt()
  Json variance = {};
  bool invert = false;

  static constexpr std::string_view keras_name = "Normalization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(field("axis", &NormalizationConfig::axis),
                                            field("mean", &NormalizationConfig::mean),
                                            field("variance", &NormalizationConfig::variance),
                                            field("invert", &NormalizationConfig::invert));
};

// y = (x - mean) / max(√variance, 1e-7); inverted: x · max(√variance, 1e-7) + mean.
class KERATIN_API NormalizationLayer final
    : public LayerOf<NormalizationLayer, NormalizationConfig> {
 public:
  NormalizationLayer(NormalizationConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);

  // Computes the mean and variance of data: one tensor, or batches, each weighted by its size.
  void adapt(const Tensor& data) { adapt(std::vector<Tensor>{data}); }
  void adapt(const std::vector<Tensor>& batches);

  void build(const Shapes& inputs) override;
  Results call(const Call& c) const override;
  bool supports_masking() const override { return true; }

 private:
  bool given() const { return !cfg.mean.is_null(); }
  // A statistic from the config, in a shape that broadcasts against the input.
  Tensor aligned(const Json& statistic, DType dtype) const;

  Dims keep_;       // the axes that have their own statistics, not negative
  Dims broadcast_;  // the shape of the statistics against the input
  Variable mean_, variance_, count_;
};

using Normalization = Shared<NormalizationLayer>;

struct KERATIN_API CategoryEncodingConfig {
  std::optional<int64_t> num_tokens = {};
  std::string output_mode = "multi_hot";  // or "one_hot", "count"
  bool sparse = false;

  static constexpr std::string_view keras_name = "CategoryEncoding";
  static constexpr auto call_arguments = arguments_of_call("inputs", "count_weights");
  static constexpr auto fields =
      field_list(field("num_tokens", &CategoryEncodingConfig::num_tokens),
                 field("output_mode", &CategoryEncodingConfig::output_mode),
                 field<Written::never>("sparse", &CategoryEncodingConfig::sparse));
};

// Integers as vectors: 1 at each integer, 1 at each that is in a sample, or how often it is there.
class KERATIN_API CategoryEncodingLayer final
    : public LayerOf<CategoryEncodingLayer, CategoryEncodingConfig> {
 public:
  CategoryEncodingLayer(CategoryEncodingConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  std::vector<std::string_view> argument_names() const override {
    return {"inputs", "count_weights"};
  }
  bool autocasts() const override { return false; }
};

using CategoryEncoding = Shared<CategoryEncodingLayer>;

struct KERATIN_API DiscretizationConfig {
  std::optional<std::vector<double>> bin_boundaries = {};
  std::optional<int64_t> num_bins = {};
  double epsilon = 0.01;
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count"
  bool sparse = false;

  static constexpr std::string_view keras_name = "Discretization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("bin_boundaries", &DiscretizationConfig::bin_boundaries),
                 field("num_bins", &DiscretizationConfig::num_bins),
                 field("epsilon", &DiscretizationConfig::epsilon),
                 field("output_mode", &DiscretizationConfig::output_mode),
                 field("sparse", &DiscretizationConfig::sparse));
};

// The number of the bin of each number: how many boundaries are at most as large.
class KERATIN_API DiscretizationLayer final
    : public LayerOf<DiscretizationLayer, DiscretizationConfig> {
 public:
  DiscretizationLayer(DiscretizationConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  LayerPtr fresh_copy() const override;
  Json get_config() const override;

  // Finds boundaries of `num_bins` bins with about as many numbers of the data each.
  void adapt(const Tensor& data) { adapt(std::vector<Tensor>{data}); }
  void adapt(const std::vector<Tensor>& batches);

  Results call(const Call& c) const override;
};

using Discretization = Shared<DiscretizationLayer>;

struct KERATIN_API HashingConfig {
  int64_t num_bins = 0;
  Json salt = {};                   // a number or two: SipHash with this key, instead of FarmHash
  Json mask_value = {};             // has bin 0 for itself
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count"
  bool sparse = false;

  static constexpr std::string_view keras_name = "Hashing";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(
      field("num_bins", &HashingConfig::num_bins), field("salt", &HashingConfig::salt),
      field("mask_value", &HashingConfig::mask_value),
      field("output_mode", &HashingConfig::output_mode), field("sparse", &HashingConfig::sparse));
};

// The hash of each string or integer, modulo the number of bins. Without a dtype it gives int64, or
// floats where it encodes.
class KERATIN_API HashingLayer final : public LayerOf<HashingLayer, HashingConfig> {
 public:
  HashingLayer(HashingConfig config, LayerOptions options);
  Results call(const Call& c) const override;
  bool autocasts() const override { return false; }

 private:
  Value bins_of(Value values) const;
};

using Hashing = Shared<HashingLayer>;

struct KERATIN_API HashedCrossingConfig {
  int64_t num_bins = 0;
  std::string output_mode = "int";  // or "one_hot"
  bool sparse = false;

  static constexpr std::string_view keras_name = "HashedCrossing";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(field("num_bins", &HashedCrossingConfig::num_bins),
                 field("output_mode", &HashedCrossingConfig::output_mode),
                 field("sparse", &HashedCrossingConfig::sparse));
};

// One hash for the elements of several inputs, modulo the number of bins.
class KERATIN_API HashedCrossingLayer final
    : public LayerOf<HashedCrossingLayer, HashedCrossingConfig> {
 public:
  HashedCrossingLayer(HashedCrossingConfig config, LayerOptions options);
  Json get_config() const override;
  Results call(const Call& c) const override;
  bool autocasts() const override { return false; }
};

using HashedCrossing = Shared<HashedCrossingLayer>;

// What StringLookup and IntegerLookup do with their vocabularies.
struct KERATIN_API LookupRules {
  DType dtype = DType::string;  // of the vocabulary
  std::optional<int64_t> max_tokens = {};
  int64_t num_oov_indices = 1;
  Json mask_token = {}, oov_token = {};
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false, sparse = false;
  std::string oov_method = "floormod";
  Json salt = {}, idf_weights = {};
};

// A layer with a vocabulary: indices of tokens, or tokens of indices. A vocabulary that was learned
// or set later is in `assets/` of a .keras, one that the layer was made with in its config.
class KERATIN_API LookupLayer : public Layer {
 public:
  // Learns the vocabulary, most frequent tokens first. Of one tensor, each row is a document; a
  // batch of one axis is one document.
  void adapt(const Tensor& data);
  void adapt(const std::vector<Tensor>& batches);

  // All tokens and their indices: first the mask and the unknown tokens, if they are included.
  Tensor vocabulary(bool include_special_tokens = true) const;
  void set_vocabulary(const Tensor& tokens, const std::vector<double>& idf_weights = {});
  int64_t vocabulary_size() const;

  Results call(const Call& c) const override { return encoded(looked_up(c.input()), c); }
  bool autocasts() const override { return false; }
  LayerAssets assets() const override;
  LayerAssets expected_assets() const override;
  void load_assets(const LayerAssets& assets) override;

 protected:
  LookupLayer(std::string_view class_name, LayerOptions options)
      : Layer(class_name, std::move(options)) {}

  // For constructors: checks the rules, and sets a vocabulary that is given.
  void start(LookupRules rules, const Json& vocabulary, const Json& vocabulary_size);
  void copy_vocabulary(const LookupLayer& other);
  Json frozen_size() const;  // null before there is a vocabulary
  bool given_in_config() const { return given_; }

 private:
  friend class TextVectorizationLayer;

  // Learns from documents, tensors of one axis, until there are no more.
  void learn(const std::function<bool(Tensor& document)>& next_document);
  int64_t oov_start() const;
  int64_t token_start() const { return oov_start() + rules_.num_oov_indices; }
  int64_t depth() const;
  void freeze();
  void set_weights_of_tokens(const std::vector<double>& weights, bool has_special);
  Tensor padded_weights() const;  // with 0 for indices without a token
  Tensor special(const Json& token) const;
  Tensor special_tokens() const;
  // The tokens and the mask, sorted, and the index of each.
  std::pair<Tensor, Tensor> sorted_table() const;

  Value looked_up(Value x) const;
  Value tokens_of(Value indices) const;
  Value indices_of(Value tokens) const;
  Value encoded(Value indices, const Call& c) const;
  Value idf_factors(const Call& c) const;

  LookupRules rules_;
  Tensor tokens_;  // without special ones, by index
  std::vector<float> idf_weights_;
  std::optional<int64_t> frozen_size_;
  bool given_ = false;     // by the config, not learned
  bool has_file_ = false;  // the vocabulary was read from a file: it is not in the config
};

// What the configs of lookups have in common, in Keras's order.
template <class C>
struct LookupFields {
  static constexpr auto fields =
      field_list(field("invert", &C::invert), field("max_tokens", &C::max_tokens),
                 field("num_oov_indices", &C::num_oov_indices), field("oov_token", &C::oov_token),
                 field("mask_token", &C::mask_token), field("output_mode", &C::output_mode),
                 field("sparse", &C::sparse), field("pad_to_max_tokens", &C::pad_to_max_tokens),
                 field("idf_weights", &C::idf_weights), field("vocabulary", &C::vocabulary),
                 field<Written::never>("vocabulary_size", &C::vocabulary_size),
                 field("oov_method", &C::oov_method), field("salt", &C::salt));
};

struct KERATIN_API IntegerLookupConfig {
  std::optional<int64_t> max_tokens = {};
  int64_t num_oov_indices = 1;
  Json mask_token = {};
  Json oov_token = -1;
  Json vocabulary = {};  // a list, or the path of a file with a token a line
  std::string vocabulary_dtype = "int64";
  Json idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count", "tf_idf"
  bool sparse = false;
  bool pad_to_max_tokens = false;
  std::string oov_method = "floormod";  // or "farmhash"
  Json salt = {};
  Json vocabulary_size = {};

  static constexpr std::string_view keras_name = "IntegerLookup";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(
      field("vocabulary_dtype", &IntegerLookupConfig::vocabulary_dtype), fields_of<LookupFields>());
};

class KERATIN_API IntegerLookupLayer final
    : public LayerOf<IntegerLookupLayer, IntegerLookupConfig, LookupLayer> {
 public:
  IntegerLookupLayer(IntegerLookupConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  Json own_config() const override;
  LayerPtr fresh_copy() const override;

  std::vector<int64_t> get_vocabulary(bool include_special_tokens = true) const;
  void set_vocabulary(const std::vector<int64_t>& tokens,
                      const std::vector<double>& idf_weights = {});
};

using IntegerLookup = Shared<IntegerLookupLayer>;

struct KERATIN_API StringLookupConfig {
  std::optional<int64_t> max_tokens = {};
  int64_t num_oov_indices = 1;
  Json mask_token = {};
  Json oov_token = "[UNK]";
  Json vocabulary = {};  // a list, or the path of a file with a token a line
  Json idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count", "tf_idf"
  bool pad_to_max_tokens = false;
  bool sparse = false;
  std::string encoding = "utf-8";
  std::string oov_method = "floormod";
  Json salt = {};
  Json vocabulary_size = {};

  static constexpr std::string_view keras_name = "StringLookup";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields =
      field_list(fields_of<LookupFields>(), field("encoding", &StringLookupConfig::encoding));
};

class KERATIN_API StringLookupLayer final
    : public LayerOf<StringLookupLayer, StringLookupConfig, LookupLayer> {
 public:
  StringLookupLayer(StringLookupConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  Json own_config() const override;
  LayerPtr fresh_copy() const override;

  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  void set_vocabulary(const std::vector<std::string>& tokens,
                      const std::vector<double>& idf_weights = {});
};

using StringLookup = Shared<StringLookupLayer>;

struct KERATIN_API TextVectorizationConfig {
  std::optional<int64_t> max_tokens = {};
  Json standardize = "lower_and_strip_punctuation";  // or "lower", "strip_punctuation", null
  Json split = "whitespace";                         // or "character", null
  Json ngrams = {};                 // up to how many words a token has, or a list of these numbers
  std::string output_mode = "int";  // or "one_hot", "multi_hot", "count", "tf_idf"
  std::optional<int64_t> output_sequence_length = {};
  bool pad_to_max_tokens = false;
  Json vocabulary = {};  // a list, or the path of a file with a token a line
  Json idf_weights = {};
  bool sparse = false;
  bool ragged = false;
  std::string encoding = "utf-8";
  Json vocabulary_size = {};

  static constexpr std::string_view keras_name = "TextVectorization";
  static constexpr auto call_arguments = arguments_of_call("inputs");
  static constexpr auto fields = field_list(
      field("max_tokens", &TextVectorizationConfig::max_tokens),
      field("standardize", &TextVectorizationConfig::standardize),
      field("split", &TextVectorizationConfig::split),
      field("ngrams", &TextVectorizationConfig::ngrams),
      field("output_mode", &TextVectorizationConfig::output_mode),
      field("output_sequence_length", &TextVectorizationConfig::output_sequence_length),
      field("pad_to_max_tokens", &TextVectorizationConfig::pad_to_max_tokens),
      field("sparse", &TextVectorizationConfig::sparse),
      field("ragged", &TextVectorizationConfig::ragged),
      field("vocabulary", &TextVectorizationConfig::vocabulary),
      field("idf_weights", &TextVectorizationConfig::idf_weights),
      field("encoding", &TextVectorizationConfig::encoding),
      field<Written::never>("vocabulary_size", &TextVectorizationConfig::vocabulary_size));
};

// Texts to indices of their words: standardised, split, joined to n-grams and looked up. The length
// of the longest text of a batch is that of its rows, unless a length is given.
class KERATIN_API TextVectorizationLayer final
    : public LayerOf<TextVectorizationLayer, TextVectorizationConfig> {
 public:
  TextVectorizationLayer(TextVectorizationConfig config, LayerOptions options);
  static LayerPtr from_config(const Json& json, const ConfigContext& context);
  Json own_config() const override;
  LayerPtr fresh_copy() const override;

  // Learns the vocabulary, most frequent tokens first. Each text is a document.
  void adapt(const Tensor& data) { adapt(std::vector<Tensor>{data}); }
  void adapt(const std::vector<Tensor>& batches);
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  void set_vocabulary(const std::vector<std::string>& tokens,
                      const std::vector<double>& idf_weights = {});
  int64_t vocabulary_size() const { return lookup_->vocabulary_size(); }

  Results call(const Call& c) const override;
  bool autocasts() const override { return false; }
  LayerAssets assets() const override { return lookup_->assets(); }
  LayerAssets expected_assets() const override { return lookup_->expected_assets(); }

 private:
  bool splits() const { return !cfg.split.is_null(); }
  int64_t row_length(const Call& c, Value texts) const;

  std::shared_ptr<StringLookupLayer> lookup_;
};

using TextVectorization = Shared<TextVectorizationLayer>;

}  // namespace keratin

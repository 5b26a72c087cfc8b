#include "keratin/layers/registry.h"

#include <algorithm>
#include <utility>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/operation.h"
#include "keratin/graph/sequential.h"
#include "keratin/layers/add_loss.h"
#include "keratin/layers/index_lookup.h"
#include "keratin/layers/layers.h"
#include "keratin/layers/missing.h"
#include "keratin/layers/ragged_methods.h"
#include "keratin/layers/tf_operation.h"

namespace keratin {
namespace {

struct Known {
  std::string_view class_name;
  MakeLayer make;
};

// Configs from before Keras 2.1.3 have no key reset_after; it was false.
LayerPtr gru_from_config(const Json& config, const ConfigContext& context) {
  if (context.dialect == Dialect::keras3 || config.contains("reset_after"))
    return GRULayer::from_config(config, context);
  Json with_reset = config;
  with_reset["reset_after"] = false;
  return GRULayer::from_config(with_reset, context);
}

// Keras 2's SyncBatchNormalization has no key for what it is.
LayerPtr sync_batch_normalization_from_config(const Json& config, const ConfigContext& context) {
  Json together = config;
  if (together.is_object()) together["synchronized"] = true;
  return BatchNormalizationLayer::from_config(together, context);
}

// Keras 2's ThresholdedReLU is a ReLU of today.
LayerPtr thresholded_relu_from_config(const Json& config, const ConfigContext& context) {
  Json relu = Json::Object{{"threshold", 1.0}};
  for (const auto& [key, value] : config.as_object())
    relu[key == "theta" ? "threshold" : key] = value;
  return ReLULayer::from_config(relu, context);
}

constexpr MakeLayer missing = nullptr;  // a layer of some version of Keras that Keratin lacks

// All classes of Keras that a file may name, with older names of some, sorted.
constexpr Known known_layers[] = {
    {"Activation", ActivationLayer::from_config},
    {"ActivityRegularization", ActivityRegularizationLayer::from_config},
    {"AdaptiveAveragePooling1D", AdaptivePoolingLayer<1, Pool::average>::from_config},
    {"AdaptiveAveragePooling2D", AdaptivePoolingLayer<2, Pool::average>::from_config},
    {"AdaptiveAveragePooling3D", AdaptivePoolingLayer<3, Pool::average>::from_config},
    {"AdaptiveMaxPooling1D", AdaptivePoolingLayer<1, Pool::max>::from_config},
    {"AdaptiveMaxPooling2D", AdaptivePoolingLayer<2, Pool::max>::from_config},
    {"AdaptiveMaxPooling3D", AdaptivePoolingLayer<3, Pool::max>::from_config},
    {"Add", MergeLayer<AddRule>::from_config},
    {"AddLoss", AddLossLayer::from_config},
    {"AddMetric", AddMetricLayer::from_config},
    {"AdditiveAttention", AdditiveAttentionLayer::from_config},
    {"AlphaDropout", AlphaDropoutLayer::from_config},
    {"AtrousConvolution1D", missing},
    {"AtrousConvolution2D", missing},
    {"Attention", AttentionLayer::from_config},
    {"AugMix", AugMixLayer::from_config},
    {"AutoContrast", AutoContrastLayer::from_config},
    {"Average", MergeLayer<AverageRule>::from_config},
    {"AveragePooling1D", PoolingLayer<1, Pool::average>::from_config},
    {"AveragePooling2D", PoolingLayer<2, Pool::average>::from_config},
    {"AveragePooling3D", PoolingLayer<3, Pool::average>::from_config},
    {"BatchNormalization", BatchNormalizationLayer::from_config},
    {"BatchNormalizationV1", BatchNormalizationLayer::from_config},  // names in TensorFlow
    {"BatchNormalizationV2", BatchNormalizationLayer::from_config},
    {"Bidirectional", BidirectionalLayer::from_config},
    {"CategoryEncoding", CategoryEncodingLayer::from_config},
    {"CenterCrop", CenterCropLayer::from_config},
    {"ClassMethod", ClassMethodLayer::from_config},
    {"Concatenate", ConcatenateLayer::from_config},
    {"ContrastLimitedAdaptiveHistogramEqualization",
     ContrastLimitedAdaptiveHistogramEqualizationLayer::from_config},
    {"Conv1D", ConvLayer<1>::from_config},
    {"Conv1DTranspose", ConvTransposeLayer<1>::from_config},
    {"Conv2D", ConvLayer<2>::from_config},
    {"Conv2DTranspose", ConvTransposeLayer<2>::from_config},
    {"Conv3D", ConvLayer<3>::from_config},
    {"Conv3DTranspose", ConvTransposeLayer<3>::from_config},
    {"ConvLSTM1D", ConvLSTMLayer<1>::from_config},
    {"ConvLSTM1DCell", missing},
    {"ConvLSTM2D", ConvLSTMLayer<2>::from_config},
    {"ConvLSTM2DCell", missing},
    {"ConvLSTM3D", ConvLSTMLayer<3>::from_config},
    {"ConvLSTM3DCell", missing},
    {"ConvLSTMCell", missing},
    {"ConvRecurrent2D", missing},
    {"Cropping1D", CroppingLayer<1>::from_config},
    {"Cropping2D", CroppingLayer<2>::from_config},
    {"Cropping3D", CroppingLayer<3>::from_config},
    {"CuDNNGRU", GRULayer::from_config},  // Keras 2's GRU and LSTM for GPUs
    {"CuDNNLSTM", LSTMLayer::from_config},
    {"CutMix", CutMixLayer::from_config},
    {"Dense", DenseLayer::from_config},
    {"DenseFeatures", missing},
    {"DepthwiseConv1D", DepthwiseConvLayer<1>::from_config},
    {"DepthwiseConv2D", DepthwiseConvLayer<2>::from_config},
    {"Discretization", DiscretizationLayer::from_config},
    {"Dot", DotLayer::from_config},
    {"Dropout", DropoutLayer::from_config},
    {"ELU", ELULayer::from_config},
    {"EinsumDense", EinsumDenseLayer::from_config},
    {"Embedding", EmbeddingLayer::from_config},
    {"Equalization", EqualizationLayer::from_config},
    {"Flatten", FlattenLayer::from_config},
    {"FlaxLayer", missing},
    {"Functional", FunctionalLayer::from_config},
    {"GRU", gru_from_config},
    {"GRUCell", GRUCellLayer::from_config},
    {"GaussianDropout", GaussianDropoutLayer::from_config},
    {"GaussianNoise", GaussianNoiseLayer::from_config},
    {"GlobalAveragePooling1D", GlobalPoolingLayer<1, Pool::average>::from_config},
    {"GlobalAveragePooling2D", GlobalPoolingLayer<2, Pool::average>::from_config},
    {"GlobalAveragePooling3D", GlobalPoolingLayer<3, Pool::average>::from_config},
    {"GlobalMaxPooling1D", GlobalPoolingLayer<1, Pool::max>::from_config},
    {"GlobalMaxPooling2D", GlobalPoolingLayer<2, Pool::max>::from_config},
    {"GlobalMaxPooling3D", GlobalPoolingLayer<3, Pool::max>::from_config},
    {"GroupNormalization", GroupNormalizationLayer::from_config},
    {"GroupQueryAttention", GroupQueryAttentionLayer::from_config},
    {"GroupedQueryAttention", GroupQueryAttentionLayer::from_config},
    {"HashedCrossing", HashedCrossingLayer::from_config},
    {"Hashing", HashingLayer::from_config},
    {"Highway", missing},
    {"Identity", IdentityLayer::from_config},
    {"IndexLookup", IndexLookupLayer::from_config},
    {"InputLayer", InputLayer::from_config},
    {"InstanceMethod", InstanceMethodLayer::from_config},
    {"InstanceProperty", instance_property_from_config},
    {"IntegerLookup", IntegerLookupLayer::from_config},
    {"JaxLayer", missing},
    {"LSTM", LSTMLayer::from_config},
    {"LSTMCell", LSTMCellLayer::from_config},
    {"Lambda", LambdaLayer::from_config},
    {"LayerNormalization", LayerNormalizationLayer::from_config},
    {"LayerScale", LayerScaleLayer::from_config},
    {"LeakyReLU", LeakyReLULayer::from_config},
    {"LocallyConnected1D", LocallyConnectedLayer<1>::from_config},
    {"LocallyConnected2D", LocallyConnectedLayer<2>::from_config},
    {"Masking", MaskingLayer::from_config},
    {"MaxNumBoundingBoxes", MaxNumBoundingBoxesLayer::from_config},
    {"MaxPooling1D", PoolingLayer<1, Pool::max>::from_config},
    {"MaxPooling2D", PoolingLayer<2, Pool::max>::from_config},
    {"MaxPooling3D", PoolingLayer<3, Pool::max>::from_config},
    {"Maximum", MergeLayer<MaximumRule>::from_config},
    {"MaxoutDense", missing},
    {"MelSpectrogram", MelSpectrogramLayer::from_config},
    {"Minimum", MergeLayer<MinimumRule>::from_config},
    {"MixUp", MixUpLayer::from_config},
    {"Model", FunctionalLayer::from_config},
    {"MultiHeadAttention", MultiHeadAttentionLayer::from_config},
    {"Multiply", MergeLayer<MultiplyRule>::from_config},
    {"Normalization", NormalizationLayer::from_config},
    {"PReLU", PReLULayer::from_config},
    {"PeepholeLSTMCell", missing},
    {"Permute", PermuteLayer::from_config},
    {"Pipeline", PipelineLayer::from_config},
    {"RMSNormalization", RMSNormalizationLayer::from_config},
    {"RNN", RNNLayer::from_config},
    {"RandAugment", RandAugmentLayer::from_config},
    {"RandomBrightness", RandomColorLayer<BrightnessRule>::from_config},
    {"RandomColorDegeneration", RandomColorLayer<ColorDegenerationRule>::from_config},
    {"RandomColorJitter", RandomColorJitterLayer::from_config},
    {"RandomContrast", RandomColorLayer<ContrastRule>::from_config},
    {"RandomCrop", RandomCropLayer::from_config},
    {"RandomElasticTransform", RandomElasticTransformLayer::from_config},
    {"RandomErasing", RandomErasingLayer::from_config},
    {"RandomFlip", RandomFlipLayer::from_config},
    {"RandomGaussianBlur", RandomGaussianBlurLayer::from_config},
    {"RandomGrayscale", RandomGrayscaleLayer::from_config},
    {"RandomHeight", RandomSizeLayer<ImageAxis::height>::from_config},
    {"RandomHue", RandomColorLayer<HueRule>::from_config},
    {"RandomInvert", RandomColorLayer<InvertRule>::from_config},
    {"RandomPerspective", RandomPerspectiveLayer::from_config},
    {"RandomPosterization", RandomColorLayer<PosterizationRule>::from_config},
    {"RandomRotation", RandomRotationLayer::from_config},
    {"RandomSaturation", RandomColorLayer<SaturationRule>::from_config},
    {"RandomSharpness", RandomColorLayer<SharpnessRule>::from_config},
    {"RandomShear", RandomShearLayer::from_config},
    {"RandomTranslation", RandomTranslationLayer::from_config},
    {"RandomWidth", RandomSizeLayer<ImageAxis::width>::from_config},
    {"RandomZoom", RandomZoomLayer::from_config},
    {"ReLU", ReLULayer::from_config},
    {"RepeatVector", RepeatVectorLayer::from_config},
    {"Rescaling", RescalingLayer::from_config},
    {"Reshape", ReshapeLayer::from_config},
    {"Resizing", ResizingLayer::from_config},
    {"ReversibleEmbedding", ReversibleEmbeddingLayer::from_config},
    {"STFTSpectrogram", STFTSpectrogramLayer::from_config},
    {"SeparableConv1D", SeparableConvLayer<1>::from_config},
    {"SeparableConv2D", SeparableConvLayer<2>::from_config},
    {"SequenceFeatures", missing},
    {"Sequential", SequentialLayer::from_config},
    {"SimpleRNN", SimpleRNNLayer::from_config},
    {"SimpleRNNCell", SimpleRNNCellLayer::from_config},
    {"SlicingOpLambda", TfOperationLayer::slicing_from_config},
    {"Softmax", SoftmaxLayer::from_config},
    {"Solarization", SolarizationLayer::from_config},
    {"SpatialDropout1D", SpatialDropoutLayer<1>::from_config},
    {"SpatialDropout2D", SpatialDropoutLayer<2>::from_config},
    {"SpatialDropout3D", SpatialDropoutLayer<3>::from_config},
    {"SpectralNormalization", SpectralNormalizationLayer::from_config},
    {"StackedRNNCells", StackedRNNCellsLayer::from_config},
    {"StringLookup", StringLookupLayer::from_config},
    {"Subtract", MergeLayer<SubtractRule>::from_config},
    {"SyncBatchNormalization", sync_batch_normalization_from_config},
    {"TFDConcat", ConcatenateLayer::from_config},  // these two are in models of a FeatureSpace
    {"TFDIdentity", IdentityLayer::from_config},
    {"TFOpLambda", TfOperationLayer::op_from_config},
    {"TFSMLayer", missing},
    {"TensorFlowOpLayer", TfOperationLayer::node_from_config},
    {"TextVectorization", TextVectorizationLayer::from_config},
    {"ThresholdedReLU", thresholded_relu_from_config},
    {"TimeDistributed", TimeDistributedLayer::from_config},
    {"TorchModuleWrapper", missing},
    {"UnitNormalization", UnitNormalizationLayer::from_config},
    {"UpSampling1D", UpSampling1DLayer::from_config},
    {"UpSampling2D", UpSampling2DLayer::from_config},
    {"UpSampling3D", UpSampling3DLayer::from_config},
    {"Wrapper", WrapperLayer::from_config},
    {"ZeroPadding1D", ZeroPaddingLayer<1>::from_config},
    {"ZeroPadding2D", ZeroPaddingLayer<2>::from_config},
    {"ZeroPadding3D", ZeroPaddingLayer<3>::from_config},
};

static_assert(std::is_sorted(std::begin(known_layers), std::end(known_layers),
                             [](const Known& a, const Known& b) {
                               return a.class_name < b.class_name;
                             }));

const Known* find_row(std::string_view name) {
  const auto found =
      std::lower_bound(std::begin(known_layers), std::end(known_layers), name,
                       [](const Known& k, std::string_view n) { return k.class_name < n; });
  return found == std::end(known_layers) || found->class_name != name ? nullptr : found;
}

MakeLayer find_known(std::string_view name) {
  const Known* row = find_row(name);
  return row == nullptr ? nullptr : row->make;
}

bool is_operation_class(std::string_view name) {
  const auto all = all_operations();
  return std::any_of(all.begin(), all.end(),
                     [&](const OperationDef& def) { return def.class_name == name; });
}

// True for the envelope of an operation, which its module shows. .h5 files of Keras 3 have no
// modules; there, configs of layers have the key `trainable`, and those of operations do not.
bool names_operation(const Json& json) {
  if (const Json* module = json.find("module"); module != nullptr && !module->is_null())
    return module->is_string() && is_operation_module(module->as_string());
  const Json* calls = json.find("inbound_nodes");
  return calls != nullptr && calls->is_array() && calls->size() > 0 && (*calls)[0].is_object() &&
         !json.at("config").contains("trainable") && !json.at("config").contains("dtype") &&
         is_operation_class(json.at("class_name").as_string());
}

std::string text_under(const Json& envelope, std::string_view key) {
  const Json* found = envelope.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string();
}

// True for a class of Keras, false for one of another package with that name. Old files have
// neither module nor package.
bool is_of_keras(const Json& envelope) {
  const std::string module = text_under(envelope, "module");
  const std::string package = module.substr(0, module.find('.'));
  const std::string registered = text_under(envelope, "registered_name");
  const bool keras = package == "keras" || package == "tf_keras" || package == "tensorflow";
  return (keras || module.empty()) && registered.find('>') == registered.npos;
}

MakeLayer find_class(const Json& envelope) {
  return is_of_keras(envelope) ? find_known(envelope.at("class_name").as_string()) : nullptr;
}

// True if a layer of the user's may take this one's place. Those of Keras that may hold Python
// functions are among them.
bool may_be_custom(const Json& envelope) {
  const std::string& name = envelope.at("class_name").as_string();
  return find_class(envelope) == nullptr || name == "Lambda" || name == "TextVectorization";
}

bool names_custom_layer(const Json& envelope) {
  bool found = false;
  if (may_be_custom(envelope))
    detail::find_custom(
        envelope, [&](const CustomObject& object) { return found = object.makes<LayerPtr>(); });
  return found;
}

// The names that a file has for the class of a layer. An .h5 file has the registered name alone.
SavedClass names_in(const Json& envelope) {
  const std::string& name = envelope.at("class_name").as_string();
  const size_t end = name.rfind('>');
  if (end != name.npos) return {name.substr(end + 1), name.substr(0, end), name, {}};
  return {name, text_under(envelope, "module"), text_under(envelope, "registered_name"), {}};
}

// The keys of a model's config that a class of the user's adds to those of Keras's models.
Json own_keys(const Json& config) {
  static const std::vector<std::string_view> of_keras = {
      "name", "trainable", "layers", "input_layers", "output_layers", "build_input_shape"};
  Json own;
  if (!config.is_object()) return own;
  for (const auto& [key, value] : config.as_object())
    if (std::find(of_keras.begin(), of_keras.end(), key) == of_keras.end()) own[key] = value;
  return own;
}

// The layer has the names of its class in the file, if it is of that class or stands for a model.
void keep_names(Layer& layer, const Json& envelope) {
  SavedClass names = names_in(envelope);
  const bool is_model = dynamic_cast<const ModelLayer*>(&layer) != nullptr;
  if (is_model) names.config = own_keys(envelope.at("config"));
  if (find_class(envelope) == nullptr && (is_model || layer.class_name() == names.class_name))
    layer.set_saved_class(std::move(names));
}

bool has_list(const Json& config, std::string_view key) {
  const Json* found = config.find(key);
  return found != nullptr && found->is_array();
}

// How the model is made whose config a class of the user's has; null if there is none. In Python
// the class is derived from Model, and its objects are made from inputs and outputs.
MakeLayer find_model_class(const Json& envelope) {
  const Json& config = envelope.at("config");
  if (!config.is_object() || !has_list(config, "layers")) return nullptr;
  if (config.contains("input_layers") && config.contains("output_layers"))
    return FunctionalLayer::from_config;
  return config.contains("build_input_shape") ? SequentialLayer::from_config : nullptr;
}

LayerPtr model_of_other_class(const Json& envelope, MakeLayer make, const ConfigContext& context) {
  LayerPtr model = make(envelope.at("config"), context);
  keep_names(*model, envelope);
  const std::string& name = envelope.at("class_name").as_string();
  warn(text("The class '", name, "' of model '", model->name(),
            "' is not registered; its config is "
            "that of a ",
            model->class_name(),
            " model, so it is opened as one. What the class "
            "itself defines, such as `call`, `train_step` or `compute_loss`, is not there. It is "
            "saved as '",
            name, "' again."));
  return model;
}

// The layer of the user's that an envelope names; null if there is none.
LayerPtr custom_layer(const Json& envelope, const ConfigContext& context) {
  const auto made = detail::custom_from_json<LayerPtr>(envelope, context);
  if (!made) return nullptr;
  require(*made != nullptr, "custom object '", envelope.at("class_name").as_string(),
          "': expected a layer, got nothing");
  keep_names(**made, envelope);
  return *made;
}

[[noreturn]] void fail_unknown_class(const Json& json) {
  const std::string& name = json.at("class_name").as_string();
  const std::string registered = text_under(json, "registered_name");
  const std::string module = text_under(json, "module");
  const std::string layer = text_under(json.at("config"), "name");
  if (is_of_keras(json) && is_missing_layer(name)) fail(missing_layer_message(name, layer));
  fail("Could not find the class '", name, "'", module.empty() ? "" : " of module '" + module + "'",
       registered.find('>') == registered.npos ? "" : ", registered as '" + registered + "',",
       layer.empty() ? "" : " for layer '" + layer + "'",
       ". If it is a layer of yours, register it: load_model(path, {.custom_objects = {{\"", name,
       "\", YourLayer::from_config}}}).");
}

}  // namespace

LayerPtr layer_from_json(const Json& envelope, const CustomObjects& custom, Dialect dialect) {
  const CustomObjectScope scope(custom);
  ConfigContext context;
  context.dialect = dialect;
  context.names_layer = [&](const Json& json) {
    return names_custom_layer(json) || find_class(json) != nullptr;
  };
  std::string reading;  // the name of the layer whose config is being read
  context.make_layer = [&](const Json& json) -> LayerPtr {
    if (may_be_custom(json))
      if (const LayerPtr made = custom_layer(json, context)) return made;
    if (names_operation(json)) return operation_from_json(json);
    const MakeLayer make = find_class(json);
    if (make == nullptr) {
      if (const MakeLayer model = find_model_class(json))
        return model_of_other_class(json, model, context);
      fail_unknown_class(json);
    }
    const std::string outer = std::exchange(reading, text_under(json.at("config"), "name"));
    LayerPtr made = make(json.at("config"), context);
    reading = outer;
    return made;
  };
  context.unknown_key = [&](std::string_view class_name, std::string_view key) {
    detail::warn_of_unknown_key(
        reading.empty() ? std::string(class_name) : text(class_name, " '", reading, "'"), key);
  };
  const WarningScope warnings;
  return context.make_layer(envelope);
}

std::vector<std::string_view> layer_names() {
  std::vector<std::string_view> names;
  for (const Known& known : known_layers)
    if (known.make != missing) names.push_back(known.class_name);
  return names;
}

bool is_missing_layer(std::string_view class_name) {
  const Known* row = find_row(class_name);
  return row != nullptr && row->make == missing;
}

}  // namespace keratin

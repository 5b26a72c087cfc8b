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
  bool (*is)(const Layer& layer) = nullptr;  // whether a layer is of the class; null: none is
};

template <class L>
constexpr Known row(std::string_view class_name, MakeLayer make = L::from_config) {
  return {class_name, make, [](const Layer& layer) { return typeid(layer) == typeid(L); }};
}

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
    row<ActivationLayer>("Activation"),
    row<ActivityRegularizationLayer>("ActivityRegularization"),
    row<AdaptivePoolingLayer<1, Pool::average>>("AdaptiveAveragePooling1D"),
    row<AdaptivePoolingLayer<2, Pool::average>>("AdaptiveAveragePooling2D"),
    row<AdaptivePoolingLayer<3, Pool::average>>("AdaptiveAveragePooling3D"),
    row<AdaptivePoolingLayer<1, Pool::max>>("AdaptiveMaxPooling1D"),
    row<AdaptivePoolingLayer<2, Pool::max>>("AdaptiveMaxPooling2D"),
    row<AdaptivePoolingLayer<3, Pool::max>>("AdaptiveMaxPooling3D"),
    row<MergeLayer<AddRule>>("Add"),
    row<AddLossLayer>("AddLoss"),
    row<AddMetricLayer>("AddMetric"),
    row<AdditiveAttentionLayer>("AdditiveAttention"),
    row<AlphaDropoutLayer>("AlphaDropout"),
    {"AtrousConvolution1D", missing},
    {"AtrousConvolution2D", missing},
    row<AttentionLayer>("Attention"),
    row<AugMixLayer>("AugMix"),
    row<AutoContrastLayer>("AutoContrast"),
    row<MergeLayer<AverageRule>>("Average"),
    row<PoolingLayer<1, Pool::average>>("AveragePooling1D"),
    row<PoolingLayer<2, Pool::average>>("AveragePooling2D"),
    row<PoolingLayer<3, Pool::average>>("AveragePooling3D"),
    row<BatchNormalizationLayer>("BatchNormalization"),
    row<BatchNormalizationLayer>("BatchNormalizationV1"),  // names in TensorFlow
    row<BatchNormalizationLayer>("BatchNormalizationV2"),
    row<BidirectionalLayer>("Bidirectional"),
    row<CategoryEncodingLayer>("CategoryEncoding"),
    row<CenterCropLayer>("CenterCrop"),
    row<ClassMethodLayer>("ClassMethod"),
    row<ConcatenateLayer>("Concatenate"),
    row<ContrastLimitedAdaptiveHistogramEqualizationLayer>(
        "ContrastLimitedAdaptiveHistogramEqualization"),
    row<ConvLayer<1>>("Conv1D"),
    row<ConvTransposeLayer<1>>("Conv1DTranspose"),
    row<ConvLayer<2>>("Conv2D"),
    row<ConvTransposeLayer<2>>("Conv2DTranspose"),
    row<ConvLayer<3>>("Conv3D"),
    row<ConvTransposeLayer<3>>("Conv3DTranspose"),
    row<ConvLSTMLayer<1>>("ConvLSTM1D"),
    {"ConvLSTM1DCell", missing},
    row<ConvLSTMLayer<2>>("ConvLSTM2D"),
    {"ConvLSTM2DCell", missing},
    row<ConvLSTMLayer<3>>("ConvLSTM3D"),
    {"ConvLSTM3DCell", missing},
    {"ConvLSTMCell", missing},
    {"ConvRecurrent2D", missing},
    row<CroppingLayer<1>>("Cropping1D"),
    row<CroppingLayer<2>>("Cropping2D"),
    row<CroppingLayer<3>>("Cropping3D"),
    row<GRULayer>("CuDNNGRU"),  // Keras 2's GRU and LSTM for GPUs
    row<LSTMLayer>("CuDNNLSTM"),
    row<CutMixLayer>("CutMix"),
    row<DenseLayer>("Dense"),
    {"DenseFeatures", missing},
    row<DepthwiseConvLayer<1>>("DepthwiseConv1D"),
    row<DepthwiseConvLayer<2>>("DepthwiseConv2D"),
    row<DiscretizationLayer>("Discretization"),
    row<DotLayer>("Dot"),
    row<DropoutLayer>("Dropout"),
    row<ELULayer>("ELU"),
    row<EinsumDenseLayer>("EinsumDense"),
    row<EmbeddingLayer>("Embedding"),
    row<EqualizationLayer>("Equalization"),
    row<FlattenLayer>("Flatten"),
    {"FlaxLayer", missing},
    row<FunctionalLayer>("Functional"),
    row<GRULayer>("GRU", gru_from_config),
    row<GRUCellLayer>("GRUCell"),
    row<GaussianDropoutLayer>("GaussianDropout"),
    row<GaussianNoiseLayer>("GaussianNoise"),
    row<GlobalPoolingLayer<1, Pool::average>>("GlobalAveragePooling1D"),
    row<GlobalPoolingLayer<2, Pool::average>>("GlobalAveragePooling2D"),
    row<GlobalPoolingLayer<3, Pool::average>>("GlobalAveragePooling3D"),
    row<GlobalPoolingLayer<1, Pool::max>>("GlobalMaxPooling1D"),
    row<GlobalPoolingLayer<2, Pool::max>>("GlobalMaxPooling2D"),
    row<GlobalPoolingLayer<3, Pool::max>>("GlobalMaxPooling3D"),
    row<GroupNormalizationLayer>("GroupNormalization"),
    row<GroupQueryAttentionLayer>("GroupQueryAttention"),
    row<GroupQueryAttentionLayer>("GroupedQueryAttention"),
    row<HashedCrossingLayer>("HashedCrossing"),
    row<HashingLayer>("Hashing"),
    {"Highway", missing},
    row<IdentityLayer>("Identity"),
    row<IndexLookupLayer>("IndexLookup"),
    row<InputLayer>("InputLayer"),
    row<InstanceMethodLayer>("InstanceMethod"),
    {"InstanceProperty", instance_property_from_config},
    row<IntegerLookupLayer>("IntegerLookup"),
    {"JaxLayer", missing},
    row<LSTMLayer>("LSTM"),
    row<LSTMCellLayer>("LSTMCell"),
    row<LambdaLayer>("Lambda"),
    row<LayerNormalizationLayer>("LayerNormalization"),
    row<LayerScaleLayer>("LayerScale"),
    row<LeakyReLULayer>("LeakyReLU"),
    row<LocallyConnectedLayer<1>>("LocallyConnected1D"),
    row<LocallyConnectedLayer<2>>("LocallyConnected2D"),
    row<MaskingLayer>("Masking"),
    row<MaxNumBoundingBoxesLayer>("MaxNumBoundingBoxes"),
    row<PoolingLayer<1, Pool::max>>("MaxPooling1D"),
    row<PoolingLayer<2, Pool::max>>("MaxPooling2D"),
    row<PoolingLayer<3, Pool::max>>("MaxPooling3D"),
    row<MergeLayer<MaximumRule>>("Maximum"),
    {"MaxoutDense", missing},
    row<MelSpectrogramLayer>("MelSpectrogram"),
    row<MergeLayer<MinimumRule>>("Minimum"),
    row<MixUpLayer>("MixUp"),
    row<FunctionalLayer>("Model"),
    row<MultiHeadAttentionLayer>("MultiHeadAttention"),
    row<MergeLayer<MultiplyRule>>("Multiply"),
    row<NormalizationLayer>("Normalization"),
    row<PReLULayer>("PReLU"),
    {"PeepholeLSTMCell", missing},
    row<PermuteLayer>("Permute"),
    row<PipelineLayer>("Pipeline"),
    row<RMSNormalizationLayer>("RMSNormalization"),
    row<RNNLayer>("RNN"),
    row<RandAugmentLayer>("RandAugment"),
    row<RandomColorLayer<BrightnessRule>>("RandomBrightness"),
    row<RandomColorLayer<ColorDegenerationRule>>("RandomColorDegeneration"),
    row<RandomColorJitterLayer>("RandomColorJitter"),
    row<RandomColorLayer<ContrastRule>>("RandomContrast"),
    row<RandomCropLayer>("RandomCrop"),
    row<RandomElasticTransformLayer>("RandomElasticTransform"),
    row<RandomErasingLayer>("RandomErasing"),
    row<RandomFlipLayer>("RandomFlip"),
    row<RandomGaussianBlurLayer>("RandomGaussianBlur"),
    row<RandomGrayscaleLayer>("RandomGrayscale"),
    row<RandomSizeLayer<ImageAxis::height>>("RandomHeight"),
    row<RandomColorLayer<HueRule>>("RandomHue"),
    row<RandomColorLayer<InvertRule>>("RandomInvert"),
    row<RandomPerspectiveLayer>("RandomPerspective"),
    row<RandomColorLayer<PosterizationRule>>("RandomPosterization"),
    row<RandomRotationLayer>("RandomRotation"),
    row<RandomColorLayer<SaturationRule>>("RandomSaturation"),
    row<RandomColorLayer<SharpnessRule>>("RandomSharpness"),
    row<RandomShearLayer>("RandomShear"),
    row<RandomTranslationLayer>("RandomTranslation"),
    row<RandomSizeLayer<ImageAxis::width>>("RandomWidth"),
    row<RandomZoomLayer>("RandomZoom"),
    row<ReLULayer>("ReLU"),
    row<RepeatVectorLayer>("RepeatVector"),
    row<RescalingLayer>("Rescaling"),
    row<ReshapeLayer>("Reshape"),
    row<ResizingLayer>("Resizing"),
    row<ReversibleEmbeddingLayer>("ReversibleEmbedding"),
    row<STFTSpectrogramLayer>("STFTSpectrogram"),
    row<SeparableConvLayer<1>>("SeparableConv1D"),
    row<SeparableConvLayer<2>>("SeparableConv2D"),
    {"SequenceFeatures", missing},
    row<SequentialLayer>("Sequential"),
    row<SimpleRNNLayer>("SimpleRNN"),
    row<SimpleRNNCellLayer>("SimpleRNNCell"),
    {"SlicingOpLambda", TfOperationLayer::slicing_from_config},
    row<SoftmaxLayer>("Softmax"),
    row<SolarizationLayer>("Solarization"),
    row<SpatialDropoutLayer<1>>("SpatialDropout1D"),
    row<SpatialDropoutLayer<2>>("SpatialDropout2D"),
    row<SpatialDropoutLayer<3>>("SpatialDropout3D"),
    row<SpectralNormalizationLayer>("SpectralNormalization"),
    row<StackedRNNCellsLayer>("StackedRNNCells"),
    row<StringLookupLayer>("StringLookup"),
    row<MergeLayer<SubtractRule>>("Subtract"),
    {"SyncBatchNormalization", sync_batch_normalization_from_config},
    row<ConcatenateLayer>("TFDConcat"),  // these two are in models of a FeatureSpace
    row<IdentityLayer>("TFDIdentity"),
    {"TFOpLambda", TfOperationLayer::op_from_config},
    {"TFSMLayer", missing},
    {"TensorFlowOpLayer", TfOperationLayer::node_from_config},
    row<TextVectorizationLayer>("TextVectorization"),
    {"ThresholdedReLU", thresholded_relu_from_config},
    row<TimeDistributedLayer>("TimeDistributed"),
    {"TorchModuleWrapper", missing},
    row<UnitNormalizationLayer>("UnitNormalization"),
    row<UpSampling1DLayer>("UpSampling1D"),
    row<UpSampling2DLayer>("UpSampling2D"),
    row<UpSampling3DLayer>("UpSampling3D"),
    row<WrapperLayer>("Wrapper"),
    row<ZeroPaddingLayer<1>>("ZeroPadding1D"),
    row<ZeroPaddingLayer<2>>("ZeroPadding2D"),
    row<ZeroPaddingLayer<3>>("ZeroPadding3D"),
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

// False for a class of another package or module that has a name of Keras's.
bool may_be_of_keras(const Json& envelope) {
  return detail::owner_in(envelope) != detail::Owner::user;
}

MakeLayer find_class(const Json& envelope) {
  return may_be_of_keras(envelope) ? find_known(envelope.at("class_name").as_string()) : nullptr;
}

// True if a layer of the user's may take this one's place. Those of Keras that may hold Python
// functions are among them.
bool may_be_custom(const Json& envelope) {
  const std::string& name = envelope.at("class_name").as_string();
  return detail::owner_in(envelope) != detail::Owner::keras || find_class(envelope) == nullptr ||
         name == "Lambda" || name == "TextVectorization";
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
  const bool known = find_known(name) != nullptr;
  if (may_be_of_keras(json) && is_missing_layer(name)) fail(missing_layer_message(name, layer));
  fail("Could not find the class '", name, "'", module.empty() ? "" : " of module '" + module + "'",
       registered.find('>') == registered.npos ? "" : ", registered as '" + registered + "',",
       layer.empty() ? "" : " for layer '" + layer + "'",
       known ? ". The file says that it is not Keras's class of that name" : "",
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

bool detail::has_name_of_keras(const Layer& layer) {
  const Known* row = find_row(layer.class_name());
  return row != nullptr && row->is != nullptr && !row->is(layer);
}

bool is_missing_layer(std::string_view class_name) {
  const Known* row = find_row(class_name);
  return row != nullptr && row->make == missing;
}

}  // namespace keratin

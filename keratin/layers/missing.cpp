#include "keratin/layers/missing.h"

#include <algorithm>

#include "keratin/base/text.h"

namespace keratin {
namespace {

// Of Keras 1, 2 and 3, in order.
constexpr std::string_view missing_layers[] = {
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "AddLoss",
    "AddMetric",
    "AtrousConvolution1D",
    "AtrousConvolution2D",
    "AugMix",
    "AutoContrast",
    "CategoryEncoding",
    "CenterCrop",
    "ClassMethod",
    "ContrastLimitedAdaptiveHistogramEqualization",
    "ConvLSTM1D",
    "ConvLSTM1DCell",
    "ConvLSTM2D",
    "ConvLSTM2DCell",
    "ConvLSTM3D",
    "ConvLSTM3DCell",
    "ConvLSTMCell",
    "ConvRecurrent2D",
    "CutMix",
    "DenseFeatures",
    "Discretization",
    "Equalization",
    "FlaxLayer",
    "HashedCrossing",
    "Hashing",
    "Highway",
    "InstanceMethod",
    "InstanceProperty",
    "IntegerLookup",
    "JaxLayer",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "MaxNumBoundingBoxes",
    "MaxoutDense",
    "MelSpectrogram",
    "MixUp",
    "PeepholeLSTMCell",
    "Pipeline",
    "RandAugment",
    "RandomBrightness",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomElasticTransform",
    "RandomErasing",
    "RandomFlip",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHeight",
    "RandomHue",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterization",
    "RandomRotation",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "RandomTranslation",
    "RandomWidth",
    "RandomZoom",
    "Resizing",
    "ReversibleEmbedding",
    "STFTSpectrogram",
    "SequenceFeatures",
    "Solarization",
    "SpectralNormalization",
    "StringLookup",
    "TFSMLayer",
    "TensorFlowOpLayer",
    "TextVectorization",
    "ThresholdedReLU",
    "TorchModuleWrapper",
};

}  // namespace

bool is_missing_layer(std::string_view class_name) {
  return std::binary_search(std::begin(missing_layers), std::end(missing_layers), class_name);
}

std::string missing_layer_message(std::string_view class_name, const std::string& layer) {
  return text(layer.empty() ? "The file has a layer" : "Layer '" + layer + "' is",
              " of the class '", class_name,
              "' of Keras, which Keratin does not have yet. A layer of yours can take its place: "
              "load_model(path, {.layers = {{\"",
              class_name, "\", YourLayer::from_config}}}).");
}

}  // namespace keratin

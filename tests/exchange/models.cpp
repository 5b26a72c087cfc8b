#include "tests/exchange/models.h"

#include "keratin/ir/node.h"
#include "keratin/keratin.h"
#include "keratin/testing/zoo.h"
#include "tests/exchange/user_parts.h"

namespace keratin {
namespace {

using namespace layers;  // NOLINT(google-build-using-namespace)

using enum DType;
const Slice all;

Model arithmetic() {
  const auto a = Input({.shape = {4}, .name = "a"}), b = Input({.shape = {4}, .name = "b"});
  const SymbolicTensor sum = 2 * a + b / 3 - 1;
  const SymbolicTensor power = ops::power(ops::abs(a) + 0.5, 1.5);
  const SymbolicTensor chosen = ops::where((a < b) & !(a > 1), -a, ops::maximum(b, 0.25));
  return Model({.inputs = {a, b}, .outputs = {sum, power, chosen, 1 - a % 2}});
}

Model whole_numbers() {
  const auto n = Input({.shape = {5}, .dtype = i32, .name = "n"});
  const SymbolicTensor half = ops::floor_divide(n, 2), mixed = ops::cast(n, DType::f32) * 0.5 + n;
  return Model({.inputs = n, .outputs = {n % 3, half, mixed, n * 2.5, ops::equal(n, 2)}});
}

// A NumPy array in Keras's JSON.
Symbols array(const char* values) {
  const Json config = Json::Object{{"value", Json::parse(values)}, {"dtype", "float32"}};
  return Json(Json::Object{{"class_name", "__numpy__"}, {"config", config}});
}

Model constants() {
  const auto x = Input({.shape = {3}, .name = "x"});
  const Symbols row = array("[1.5, -2.0, 0.25]");
  const Symbols table = array("[[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]");
  return Model({.inputs = x, .outputs = {x + row, ops::matmul(x, table), row - x * 2}});
}

Model slicing() {
  const auto x = Input({.shape = {5, 4}, .name = "x"});
  const SymbolicTensor middle = x[{all, Slice{.start = 1, .stop = 4}, Slice{.step = 2}}];
  const SymbolicTensor backwards = x[{all, Slice{.step = -1}, -1}];
  const SymbolicTensor wider = x[{ellipsis, new_axis, Slice{.start = -2}}];
  return Model({.inputs = x, .outputs = {x[{all, 0}], x[{all, -2}], middle, backwards, wider}});
}

Model reductions() {
  const auto x = Input({.shape = {5, 4}, .name = "x"});
  const SymbolicTensor centred = x - ops::mean(x, -1, true);
  const Symbols best = ops::top_k(x, 2);
  return Model({.inputs = x,
                .outputs = {ops::softmax(centred), ops::max(x, 1), ops::sum(x, Sizes{1, 2}),
                            ops::argmax(x, 2), ops::logsumexp(x, -1), best[0], best[1]}});
}

Model movement() {
  const auto x = Input({.shape = {6, 4}, .name = "x"});
  const Symbols halves = ops::split(x, 2, 1);
  const SymbolicTensor joined = ops::concatenate({halves[1], ops::flip(halves[0], 1)}, -1);
  const SymbolicTensor turned = ops::reshape(ops::transpose(x, Dims{0, 2, 1}), {-1, 8, 3});
  const SymbolicTensor padded = ops::pad(x, {{0, 0}, {1, 0}, {0, 2}});
  return Model({.inputs = x, .outputs = {joined, turned, padded, ops::roll(x, 1, 1)}});
}

Model matmuls() {
  const auto a = Input({.shape = {3, 4}, .name = "a"}), b = Input({.shape = {4, 2}, .name = "b"});
  const SymbolicTensor matmul = ops::matmul(a, b);
  const SymbolicTensor sums = ops::einsum("bij,bjk->bk", {a, b});
  return Model({.inputs = {a, b}, .outputs = {matmul, sums, ops::swapaxes(matmul, 1, 2)}});
}

// Operations between layers, in dicts of inputs and outputs.
Model structures() {
  const auto x = Input({.shape = {3}, .name = "x"}), y = Input({.shape = {3}, .name = "y"});
  const SymbolicTensor h = Dense({.units = 5, .activation = "tanh"}, "hidden")(x * 2 - y);
  const SymbolicTensor out = Dense({.units = 2}, "out")(ops::square(h) + h);
  return Model({.inputs = Symbols::Dict{{"second", y}, {"first", x}},
                .outputs = Symbols::Dict{{"parts", Symbols{h[{all, 0}], out}}, {"all", out * 0.5}},
                .name = "structures"});
}

// A model that calls a layer twice, and a nested model of operations twice.
Model shared() {
  const auto inner = Input({.shape = {3}, .name = "inner"});
  const Dense once({.units = 3}, "once"), twice({.units = 3}, "twice");
  const Model nested({.inputs = inner, .outputs = ops::relu(once(inner) + 0.1), .name = "nested"});
  const auto x = Input({.shape = {3}, .name = "x"}), y = Input({.shape = {3}, .name = "y"});
  const SymbolicTensor a = nested(x), b = nested(y - a);
  return Model({.inputs = {x, y}, .outputs = {twice(a * b), twice(b)}, .name = "shared"});
}

Model masked() {
  const auto words = Input({.shape = {6}, .dtype = i32, .name = "words"});
  const Embedding embed({.input_dim = 6, .output_dim = 4, .mask_zero = true}, "embed");
  const Bidirectional both({.layer = LSTM({.units = 3, .return_sequences = true}, "lstm")}, "both");
  const SymbolicTensor read = both(embed(words));
  const SymbolicTensor mean = GlobalAveragePooling1D({}, "mean")(read);
  return Model({.inputs = words, .outputs = {mean * 2, read[{all, -1}]}, .name = "masked"});
}

Model nested_twice() {
  const Model inside = structures();
  const auto x = Input({.shape = {3}, .name = "p"});
  const Symbols out = inside(Symbols::Dict{{"first", x}, {"second", ops::exp(x)}});
  return Model({.inputs = x, .outputs = {out["all"] + 1, out["parts"][0]}, .name = "outside"});
}

Model trained_dense() {
  const auto x = Input({.shape = {4}, .name = "x"});
  const SymbolicTensor h = Dense({.units = 8, .activation = "relu"})(x);
  Model model({.inputs = x, .outputs = Dense({.units = 2, .activation = "sigmoid"})(h)});
  model.compile({.optimizer = Adam({.learning_rate = 0.01}),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy", "mae"}});
  return model;
}

Model trained_outputs() {
  const auto x = Input({.shape = {3}, .name = "x"});
  const SymbolicTensor h = BatchNormalization()(Dense({.units = 5})(x));
  Model model({.inputs = x,
               .outputs = Symbols::Dict{{"a", Dense({.units = 2}, "a")(h)},
                                        {"b", Dense({.units = 1}, "b")(h)}}});
  model.compile({.optimizer = SGD({.learning_rate = 0.05, .momentum = 0.9, .nesterov = true},
                                  {.clipnorm = 0.5}),
                 .loss = PerOutput<Loss>::ByName{{"a", "mse"}, {"b", "mae"}},
                 .loss_weights = PerOutput<double>::ByName{{"a", 0.5}, {"b", 2}},
                 .metrics = std::map<std::string, Metrics::List>{{"a", {"mae"}}}});
  return model;
}

Model trained_lstm() {
  const auto words = Input({.shape = {6}, .dtype = i32, .name = "words"});
  const SymbolicTensor h = Embedding({.input_dim = 6, .output_dim = 4, .mask_zero = true})(words);
  Model model({.inputs = words, .outputs = Dense({.units = 1})(LSTM({.units = 5})(h))});
  // The optimizer is SGD, because others differ for a word that occurs twice in a batch: Keras on
  // TensorFlow squares its gradients before they are summed, Keras on JAX and Keratin after.
  model.compile({.optimizer = SGD({.learning_rate = 0.1}, {.use_ema = true}), .loss = "mse"});
  return model;
}

Model trained_film() {
  const auto x = Input({.shape = {3, 5, 4, 2}, .name = "x"});
  const ConvLSTM2D first(
      {.filters = 3, .kernel_size = {2, 1}, .padding = "same", .return_sequences = true}, "first");
  const Bidirectional both({.layer = ConvLSTM2D({.filters = 2, .kernel_size = 2}, "second")},
                           "both");
  Model model({.inputs = x, .outputs = Dense({.units = 1})(Flatten()(both(first(x))))});
  model.compile({.optimizer = Adam({.learning_rate = 0.02}), .loss = "mse"});
  return model;
}

// Sequences of images of one and three axes, from states that other layers return.
Model films() {
  const auto x = Input({.shape = {3, 6, 2}, .name = "x"});
  const auto y = Input({.shape = {2, 1, 3, 4, 3}, .name = "y"});
  const Symbols all = ConvLSTM1D({.filters = 2,
                                  .kernel_size = 3,
                                  .padding = "same",
                                  .recurrent_activation = "hard_sigmoid",
                                  .return_sequences = true,
                                  .return_state = true},
                                 "line")(x);
  const ConvLSTM1D next({.filters = 2, .kernel_size = 2, .padding = "same"}, "next");
  const SymbolicTensor z = next(all[0], {{"initial_state", Symbols::List{all[1], all[2]}}});
  const ConvLSTM3D space({.filters = 2, .kernel_size = {1, 2, 3}, .go_backwards = true}, "space");
  return Model({.inputs = {x, y}, .outputs = {z, space(y)}, .name = "films"});
}

// C++ functions, which are saved as operations: of one and several tensors, shared, in a
// Sequential, and in TimeDistributed.
Model lambdas() {
  const auto x = Input({.shape = {3, 4}, .name = "x"}), y = Input({.shape = {4}, .name = "y"});
  const Lambda bend([](Value v) { return ops::tanh(v * 0.5 + 1.0) * v; }, "bend");
  const Lambda mixed(
      [](const Values& v) {
        const Value top = ops::squeeze(ops::slice_axis(v[0], 1, 0, 1), 1);
        return Values{ops::maximum(top, v[1]), ops::where(top > v[1], top, v[1] * v[1])};
      },
      "mixed");
  const Symbols both = mixed({x, y});
  const Lambda square([](Value v) { return v * v; }, "square");
  const SymbolicTensor each = TimeDistributed({.layer = square}, "each")(x);
  const Sequential within(
      {Dense({.units = 4}, "inside"),
       Lambda([](Value v) { return ops::softmax(v - ops::mean(v, {-1}, true), -1); }, "centred")},
      "within");
  return Model({.inputs = {x, y},
                .outputs = {bend(x), bend(ops::concatenate({x, each}, 1)), both, within(both[1])},
                .name = "lambdas"});
}

// A function with the C++ operations that Keras has too.
Model lambda_functions() {
  const auto x = Input({.shape = {3, 4}, .name = "x"});
  const Lambda reduced(
      [](Value v) {
        return Values{ops::sum(v, {1}),       ops::mean(v, {1, 2}, true),
                      ops::max(v, {2}),       ops::var(v, {1}),
                      ops::logsumexp(v, {2}), ops::prod(v, {1}),
                      ops::any(v > 0, {1}),   ops::argmax(v, 2),
                      ops::min(v, {2}, true), ops::cumsum(v, {.axis = 1})};
      },
      "reduced");
  const Lambda moved(
      [](Value v) {
        return Values{ops::reshape(v, {ops::keep_size, 12}),
                      ops::transpose(v, {0, 2, 1}),
                      ops::flip(v, {1, 2}),
                      ops::roll(v, 1, 2),
                      ops::slice_axis(v, 2, 1, 4, 2),
                      ops::concatenate({v, v * 2.0}, 2),
                      ops::pad(v, {.lo = {0, 1, 0}, .hi = {0, 0, 2}, .value = 7}),
                      ops::pad_reflect(v, {0, 1, 0}, {0, 0, 1}),
                      ops::tile(v, {1, 2, 1}),
                      ops::repeat(v, 2, 1),
                      ops::expand_dims(v, 1)};
      },
      "moved");
  const Lambda found(
      [](Value v) {
        const Value at = ops::constant(v.block(), Tensor::of<int32_t>(i32, {2}, {2, 0}));
        const Value row =
            ops::constant(v.block(), Tensor::of<float>(DType::f32, {4}, {1, -2, 3, 4}));
        const ops::TopK best = ops::top_k(v, 2);
        return Values{ops::take(v, at, 1),
                      v * row,
                      ops::sort(v, {.axis = 2}),
                      best.values,
                      best.indices,
                      ops::matmul(v, v, {.transpose_b = true}),
                      ops::einsum("bij,bkj->bik", {v, v}),
                      ops::log_softmax(v, 1),
                      ops::gelu(v, true),
                      ops::cast(ops::round(v), i32),
                      ops::where(v > 0, ops::scalar_like(v, 1), ops::scalar_like(v, -1)),
                      ops::bitwise_or(v > 1.0, !(v > -1.0))};
      },
      "found");
  return Model({.inputs = x, .outputs = {reduced(x), moved(x), found(x)}});
}

// Keras 3 has another function with this name.
Model old_hard_sigmoid() {
  const auto x = Input({4, 3});
  const char* old = "keras2_hard_sigmoid";
  const auto y = LSTM({.units = 5, .recurrent_activation = old, .return_sequences = true})(x);
  const GRU gru({.units = 2, .recurrent_activation = old});
  const auto z = Dense({.units = 3, .activation = old})(Bidirectional({.layer = gru})(y));
  return Model({.inputs = x, .outputs = {z, layers::Activation({.activation = old})(z * 5.0)}});
}

// Each adaptive pooling, and spectrograms of its result.
Model poolings_and_spectrograms() {
  const auto x = Input({.shape = {9, 4}, .name = "x"}),
             y = Input({.shape = {7, 5, 2}, .name = "y"});
  const auto z = Input({.shape = {2, 4, 5, 3}, .name = "z"});
  const AdaptiveMaxPooling3D first({.output_size = {3, 2, 2}, .data_format = "channels_first"});
  const SymbolicTensor longer = AdaptiveAveragePooling1D({.output_size = 40})(x);
  const STFTSpectrogram stft({.mode = "psd", .frame_length = 8, .window = "blackman"});
  const MelSpectrogram mel({.fft_length = 16, .sequence_stride = 4, .num_mel_bins = 3});
  return Model({.inputs = {x, y, z},
                .outputs = {AdaptiveMaxPooling1D({.output_size = 4})(x),
                            AdaptiveAveragePooling2D({.output_size = {3, 2}})(y),
                            AdaptiveMaxPooling2D({.output_size = 4})(y), first(z),
                            AdaptiveAveragePooling3D({.output_size = 2})(z), stft(longer),
                            mel(longer[{all, all, 0}])}});
}

Model trained_spectral() {
  const auto x = Input({.shape = {5, 4}, .name = "x"});
  const SpectralNormalization hidden({.layer = Conv1D({.filters = 3, .kernel_size = 2})}, "hidden");
  const SpectralNormalization out({.layer = Dense({.units = 2}), .power_iterations = 2}, "out");
  Model model({.inputs = x, .outputs = out(Flatten()(hidden(x)))});
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return model;
}

// Layers of images whose random numbers are all the same. Called without `training`, a model of
// Keras augments.
Model trained_images() {
  const auto x = Input({.shape = {6, 7, 2}, .name = "x"});
  const Keywords training = {{"training", true}};
  Symbols y = Resizing({.height = 9, .width = 8, .antialias = true})(x);
  y = CenterCrop({.height = 8, .width = 7})(y);
  y = RandomTranslation({.height_factor = {0.1, 0.1}, .width_factor = {-0.2, -0.2}})(y, training);
  y = RandomRotation({.factor = {0.05, 0.05}, .fill_mode = "nearest"})(y, training);
  y = RandomZoom({.height_factor = {0.2, 0.2}, .interpolation = "nearest"})(y, training);
  y = RandomPerspective({.scale = 0})(y, training);
  y = RandomElasticTransform({.scale = 0.0})(y, training);
  y = Conv2D({.filters = 3, .kernel_size = 3, .activation = "tanh"})(y);
  y = Dense({.units = 2}, "out")(GlobalAveragePooling2D()(y));
  Model model({.inputs = x, .outputs = y});
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return model;
}

// Files have the sum of a kernel and its update. Nothing can train a and b after that: both are
// zeros, in Keras too.
Model lora() {
  const auto x = Input({.shape = {6}, .dtype = i32, .name = "x"});
  const ReversibleEmbedding table(
      {.input_dim = 6, .output_dim = 4, .logit_soft_cap = 3, .lora_rank = 2});
  const EinsumDense middle(
      {.equation = "abc,cd->abd", .output_shape = {std::nullopt, 4}, .lora_rank = 2});
  const Conv1D window(
      {.filters = 4, .kernel_size = 2, .padding = "same", .lora_rank = 2, .lora_alpha = 3});
  const SymbolicTensor h = Dense({.units = 4, .lora_rank = 1})(window(middle(table(x))));
  const Model model({.inputs = x, .outputs = table(h, {{"reverse", true}})});
  for (const Variable& weight : model.weights())
    if (weight.name().ends_with("_b")) weight.assign(Tensor::full(DType::f32, weight.shape(), 0.5));
  return model;
}

// Texts of any length to a number.
Model texts() {
  const auto x = Input({.shape = {1}, .dtype = string, .name = "x"});
  const TextVectorization vectorize({.vocabulary = Json::Array{"cat", "a", "hat"}}, "vectorize");
  const SymbolicTensor rows =
      Embedding({.input_dim = 6, .output_dim = 4, .mask_zero = true}, "rows")(vectorize(x));
  const SymbolicTensor h = GRU({.units = 3}, "gru")(rows);
  Model model({.inputs = x, .outputs = Dense({.units = 1}, "out")(h)});
  model.compile({.optimizer = SGD({.learning_rate = 0.05}), .loss = "mse"});
  return model;
}

Model categories() {
  const auto n = Input({.shape = {3}, .dtype = i64, .name = "n"});
  const auto w = Input({.shape = {2}, .dtype = string, .name = "w"});
  const Symbols indices = StringLookup({.vocabulary = Json::Array{"cat", ""}}, "index")(w);
  return Model({.inputs = {n, w},
                .outputs = {CategoryEncoding({.num_tokens = 5, .output_mode = "count"}, "count")(n),
                            IntegerLookup({.vocabulary = Json::Array{1, 4}}, "integers")(n),
                            Hashing({.num_bins = 9, .salt = 3}, "hash")(n),
                            Discretization({.bin_boundaries = {{1.0, 2.5}}}, "bins")(n), indices,
                            StringLookup({.vocabulary = Json::Array{"cat", ""}, .invert = true},
                                         "words")(indices)}});
}

// Optimizers with different kinds of state.
std::vector<std::pair<std::string, Optimizer>> optimizers() {
  const schedules::ExponentialDecay decay{
      .initial_learning_rate = 0.05, .decay_steps = 4, .decay_rate = 0.8};
  return {
      {"momentum", SGD({.learning_rate = 0.05, .momentum = 0.9})},
      {"rmsprop", RMSprop({.learning_rate = 0.01, .momentum = 0.5, .centered = true})},
      {"adam", Adam({.learning_rate = 0.02, .amsgrad = true}, {.clipvalue = 0.3})},
      {"adamw", AdamW({.learning_rate = 0.02, .weight_decay = 0.1}, {.global_clipnorm = 0.7})},
      {"adamax", Adamax({.learning_rate = 0.02})},
      {"nadam", Nadam({.learning_rate = 0.02})},
      {"adagrad", Adagrad({.learning_rate = 0.1})},
      {"adadelta", Adadelta({.learning_rate = 0.5})},
      {"ftrl", Ftrl({.learning_rate = 0.1})},
      {"lion", Lion({.learning_rate = 0.01})},
      {"lamb", Lamb({.learning_rate = 0.02})},
      {"adafactor", Adafactor({.learning_rate = 0.02})},
      {"muon", Muon({.learning_rate = 0.02})},
      {"schedule", SGD({.learning_rate = decay, .momentum = 0.5})},
      {"averaged", Adam({}, {.use_ema = true, .ema_momentum = 0.8, .ema_overwrite_frequency = 5})},
      {"accumulated", Adam({.learning_rate = 0.02}, {.gradient_accumulation_steps = 4})},
      {"loss_scale", LossScaleOptimizer({.inner_optimizer = Adam({.learning_rate = 0.02}),
                                         .initial_scale = 64,
                                         .dynamic_growth_steps = 5})},
  };
}

Model optimized(const Optimizer& optimizer) {
  const auto x = Input({.shape = {6}, .name = "x"});
  const SymbolicTensor h = Dense({.units = 8, .activation = "tanh"}, "hidden")(x);
  Model model(
      {.inputs = x, .outputs = Dense({.units = 2}, "out")(BatchNormalization({}, "norm")(h))});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  return model;
}

// Random layers in training, with factors that leave no choice.
Model image_colors() {
  const auto x = Input({.shape = {6, 5, 3}, .name = "x"});
  // Without a flag, Keras augments.
  const Keywords training = {{"training", true}}, inference = {{"training", false}};
  const SymbolicTensor pixels = AutoContrast({}, "contrast")(x);
  return Model({.inputs = x,
                .outputs = {ContrastLimitedAdaptiveHistogramEqualization({.tile_grid_size = {2, 2}},
                                                                         "clahe")(pixels),
                            RandomBrightness({.factor = {0.2, 0.2}}, "bright")(pixels, training),
                            RandomPosterization({.factor = {3, 3}}, "posters")(pixels, training),
                            RandomHue({.factor = {1, 1}}, "hue")(pixels, training),
                            RandomInvert({.seed = 4}, "as_it_is")(pixels, inference),
                            RandomErasing({.scale = {1, 1}, .fill_value = Numbers{1, 2, 3}},
                                          "filled")(pixels, inference)}});
}

Model pipeline() {
  const auto x = Input({.shape = {6, 5, 3}, .name = "x"});
  const LayerPtr conv = Conv2D({.filters = 4, .kernel_size = 3, .activation = "tanh"}, "conv");
  const LayerPtr bright = RandomBrightness({.factor = 0.1, .seed = 3}, "bright");
  // Keras cannot have an Equalization in a graph: its output is the input's tensor.
  const LayerPtr equal = Equalization({.bins = 64}, "equalized");
  const Pipeline steps({.layers = {bright, equal, conv, Flatten({}, "flat")}}, "steps");
  const SymbolicTensor h = steps(x, {{"training", false}});
  return Model({.inputs = x, .outputs = Dense({.units = 2}, "out")(h)});
}

// The same in training, as Keras runs it unless a call says otherwise.
Model trained_pipeline() {
  const auto x = Input({.shape = {6, 5, 3}, .name = "x"});
  const LayerPtr equal = Equalization({.bins = 64}, "equalized");
  const LayerPtr conv = Conv2D({.filters = 2, .kernel_size = 3}, "conv");
  const Pipeline steps({.layers = {equal, conv, Flatten({}, "flat")}}, "steps");
  const SymbolicTensor pixels = Rescaling({.scale = 40.0, .offset = 128.0}, "pixels")(x);
  const SymbolicTensor h = steps(pixels, {{"training", true}});
  Model model({.inputs = x, .outputs = Dense({.units = 2}, "out")(h)});
  model.compile({.optimizer = SGD({.learning_rate = 1e-6}), .loss = "mse"});
  return model;
}

// Layers that pass their input on outside of training.
Model noise() {
  const auto x = Input({.shape = {6, 5}, .name = "x"});
  Symbols y = GaussianNoise({.stddev = 0.3}, "noise")(x);
  y = GaussianDropout({.rate = 0.4, .seed = 2}, "factors")(y);
  y = SpatialDropout1D({.rate = 0.5, .seed = 3}, "channels")(y);
  return Model({.inputs = x, .outputs = Dense({.units = 2}, "out")(y)});
}

// Python has neither a Lambda's function nor C++ functions, whose module is "builtins".
bool only_of_keras(const testing::ZooModel& zoo) {
  return !zoo.keras2 && zoo.record.at("lambdas").size() == 0 &&
         zoo.model.to_json().find("\"builtins\"") == std::string::npos;
}

}  // namespace

std::vector<ExchangeModel> exchange_models() {
  std::vector<ExchangeModel> models = {
      {"arithmetic", arithmetic}, {"whole_numbers", whole_numbers}, {"constants", constants},
      {"slicing", slicing},       {"reductions", reductions},       {"movement", movement},
      {"matmuls", matmuls},       {"structures", structures},       {"shared", shared},
      {"masked", masked},         {"nested_twice", nested_twice},
  };
  models.push_back({"films", films});
  models.push_back({"lambdas", lambdas});
  models.push_back({"lambda_functions", lambda_functions});
  models.push_back({"old_hard_sigmoid", old_hard_sigmoid});
  models.push_back({"poolings_and_spectrograms", poolings_and_spectrograms});
  models.push_back({"trained_spectral", trained_spectral, true});
  models.push_back({"lora", lora});
  models.push_back({"noise", noise});
  models.push_back(
      {.name = "trained_pipeline", .make = trained_pipeline, .trained = true, .training = true});
  models.push_back({.name = "image_colors", .make = image_colors, .training = true});
  models.push_back({"pipeline", pipeline});
  models.push_back({"categories", categories});
  models.push_back({"texts", texts, true});
  models.push_back({"trained_dense", trained_dense, true});
  models.push_back({"trained_outputs", trained_outputs, true});
  models.push_back({"trained_lstm", trained_lstm, true});
  models.push_back({"trained_film", trained_film, true});
  models.push_back(
      {.name = "trained_images", .make = trained_images, .trained = true, .training = true});
  models.push_back({"user_parts", user_parts_model, true});
  models.push_back({.name = "user_sequences", .make = user_sequences_model, .trained = true});
  for (const auto& [name, optimizer] : optimizers())
    models.push_back(
        {"optimizer_" + name, [optimizer = optimizer] { return optimized(optimizer); }, true});
  for (const std::string& name : testing::zoo_names())
    if (const testing::ZooModel zoo = testing::load_zoo_model(name); only_of_keras(zoo))
      models.push_back({.name = "zoo_" + name,
                        .make = [zoo] { return zoo.model; },
                        .lambdas = zoo.record.at("lambdas")});
  return models;
}

}  // namespace keratin

#include "keratin/graph/initializer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/json_tensor.h"
#include "keratin/graph/named.h"
#include "keratin/graph/signal_windows.h"
#include "keratin/ops/philox.h"
#include "keratin/tensor/elements.h"

namespace keratin {
namespace {

// A stream of random numbers on the host.
class Stream {
 public:
  explicit Stream(uint64_t seed) : seed_(seed) {}

  double uniform() {  // in [0, 1), 53 bits
    const uint64_t high = philox_bits(seed_, at_), low = philox_bits(seed_, at_ + 1);
    at_ += 2;
    return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
  }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double truncated_normal() {
    double x = normal();
    while (std::fabs(x) > 2) x = normal();
    return x;
  }

 private:
  uint64_t seed_;
  uint64_t at_ = 0;
};

double number(const Json& config, std::string_view key, double fallback) {
  const Json* value = config.find(key);
  return value == nullptr || value->is_null() ? fallback : value->as_double();
}

std::string word(const Json& config, std::string_view key, const std::string& fallback) {
  const Json* value = config.find(key);
  return value == nullptr || value->is_null() ? fallback : value->as_string();
}

template <class Draw>
Tensor filled(const Shape& shape, DType dtype, Draw&& draw) {
  Tensor out(dtype, shape);
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* data = static_cast<T*>(out.raw());
    for (int64_t i = 0; i < out.count(); ++i) data[i] = convert<T>(static_cast<double>(draw()));
  });
  return out;
}

// The product of the sizes of the axes that a config lists; nothing if it lists none.
std::optional<double> fan_of(const Json& config, std::string_view key, const Shape& shape) {
  const Json* axes = config.find(key);
  if (axes == nullptr || axes->is_null()) return std::nullopt;
  double product = 1;
  for (const Json& axis : axes->as_array()) {
    const int64_t at = axis.as_int() < 0 ? axis.as_int() + shape.rank() : axis.as_int();
    require(at >= 0 && at < shape.rank(), "Initializer: ", key, "=", *axes,
            " does not fit the shape ", shape);
    product *= static_cast<double>(shape[at]);
  }
  return product;
}

// The numbers of inputs and outputs of a unit, by the config or the shape of its weights.
std::pair<double, double> fans(const Json& config, const Shape& shape) {
  const auto inputs = fan_of(config, "input_axes", shape);
  const auto outputs = fan_of(config, "output_axes", shape);
  if (inputs && outputs) return {*inputs, *outputs};
  const int64_t rank = shape.rank();
  if (rank == 0) return {1, 1};
  if (rank == 1) return {shape[0], shape[0]};
  const auto field = static_cast<double>(shape.count(0, rank - 2));
  return {static_cast<double>(shape[rank - 2]) * field,
          static_cast<double>(shape[rank - 1]) * field};
}

Tensor scaled(const Json& config, const Shape& shape, DType dtype, uint64_t seed, double scale,
              const std::string& mode, const std::string& distribution) {
  require(scale > 0, "Argument `scale` must be positive float. Received: scale=", scale);
  const auto [in, out] = fans(config, shape);
  const double fan = mode == "fan_in" ? in : mode == "fan_out" ? out : (in + out) / 2;
  const double variance = scale / std::max(1.0, fan);
  Stream stream(seed);
  if (distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return filled(shape, dtype, [&] { return limit * (2 * stream.uniform() - 1); });
  }
  if (distribution == "untruncated_normal")
    return filled(shape, dtype, [&] { return std::sqrt(variance) * stream.normal(); });
  // Cutting at two standard deviations narrows the distribution; this undoes it.
  const double stddev = std::sqrt(variance) / 0.87962566103423978;
  return filled(shape, dtype, [&] { return stddev * stream.truncated_normal(); });
}

// The columns (or rows, whichever are fewer) made orthonormal by Gram and Schmidt, twice each.
Tensor orthogonal(const Shape& shape, DType dtype, uint64_t seed, double gain) {
  require(shape.rank() >= 2,
          "The tensor to initialize must be at least two-dimensional. Received: shape=", shape,
          " of rank ", shape.rank(), ".");
  const int64_t rows = shape.count(0, shape.rank() - 1), cols = shape.back();
  const int64_t longer = std::max(rows, cols), shorter = std::min(rows, cols);
  Stream stream(seed);
  std::vector<std::vector<double>> basis(static_cast<size_t>(shorter));
  for (auto& v : basis) {
    v.resize(static_cast<size_t>(longer));
    for (double& x : v) x = stream.normal();
  }
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  for (size_t i = 0; i < basis.size(); ++i) {
    for (int twice = 0; twice < 2; ++twice)
      for (size_t j = 0; j < i; ++j) {
        const double along = dot(basis[i], basis[j]);
        for (size_t k = 0; k < basis[i].size(); ++k) basis[i][k] -= along * basis[j][k];
      }
    const double length = std::sqrt(dot(basis[i], basis[i]));
    for (double& x : basis[i]) x /= length;
  }
  int64_t at = 0;
  return filled(shape, dtype, [&] {
    const auto row = static_cast<size_t>(at / cols), col = static_cast<size_t>(at % cols);
    ++at;
    return gain * (rows >= cols ? basis[col][row] : basis[row][col]);
  });
}

Tensor identity(const Shape& shape, DType dtype, double gain) {
  require(shape.rank() == 2,
          "Identity matrix initializer can only be used for 2D matrices. Received: shape=", shape,
          " of rank ", shape.rank(), ".");
  int64_t at = 0;
  return filled(shape, dtype, [&] {
    const bool diagonal = at / shape[1] == at % shape[1];
    ++at;
    return diagonal ? gain : 0.0;
  });
}

// The window of a config: the name of one, its values, or null for none.
std::vector<double> window_of(const Json& json, int64_t length, bool periodic) {
  if (json.is_null()) return std::vector<double>(static_cast<size_t>(length), 1.0);
  if (json.is_string()) return signal_window(json.as_string(), length, periodic);
  const Tensor values = tensor_from_json(json, DType::f64);
  require(values.shape() == Shape({length}),
          "The shape of `window` must be equal to [frame_length]. Received: window shape=",
          values.shape());
  return values.to_vector();
}

// kernel[frame, channel, bin] = ±window[frame] · cos or sin(2π frame · bin / fft_length).
Tensor stft(const Shape& shape, DType dtype, const Json& config) {
  require(shape.rank() == 3, "STFT: expected shape [frame, input channels, bins], got ", shape);
  const int64_t frame = shape[0], channels = shape[1], bins = shape[2];
  const int64_t fft_length = (bins - 1) * 2;
  const Json* given = config.find("window");
  const Json* periodic = config.find("periodic");
  std::vector<double> window =
      window_of(given == nullptr ? Json("hann") : *given, frame,
                periodic != nullptr && !periodic->is_null() && periodic->as_bool());
  const Json* scaling = config.find("scaling");
  const std::string how =
      scaling == nullptr || scaling->is_null() ? std::string() : scaling->as_string();
  double factor = 1;
  double sum = 0, squares = 0;
  for (const double w : window) sum += std::fabs(w), squares += w * w;
  const bool windowed = given == nullptr || !given->is_null();
  if (windowed && how == "density") factor = 1 / std::sqrt(squares);
  if (windowed && how == "spectrum") factor = 1 / sum;
  const bool real = word(config, "side", "real") == "real";
  int64_t at = 0;
  return filled(shape, dtype, [&] {
    const int64_t t = at / (bins * channels), k = at % bins;
    ++at;
    const double angle = 2 * std::numbers::pi *
                         static_cast<double>(t * k % std::max<int64_t>(1, fft_length)) /
                         static_cast<double>(std::max<int64_t>(1, fft_length));
    return factor * window[static_cast<size_t>(t)] * (real ? std::cos(angle) : -std::sin(angle));
  });
}

Tensor constant(const Shape& shape, DType dtype, double value) {
  return Tensor::full(dtype, shape, value);
}

// A number, or an array with the last axes of the shape.
Tensor constant(const Shape& shape, DType dtype, const Json& json) {
  const Tensor value = tensor_from_json(json, DType::f64);
  const int64_t extra = shape.rank() - value.shape().rank();
  bool fits = extra >= 0;
  for (int64_t i = 0; fits && i < value.shape().rank(); ++i)
    fits = value.shape()[i] == shape[extra + i];
  require(fits, "Constant: a value of shape ", value.shape(), " does not fit the shape ", shape);
  int64_t at = 0;
  return filled(shape, dtype, [&] { return value.at(at++ % value.count()); });
}

struct Known {
  std::string_view class_name;
  Json defaults;
  Tensor (*make)(const Json&, const Shape&, DType, uint64_t);
};

template <int scale_times_one, bool average, bool uniform>
Tensor scaled_by(const Json& config, const Shape& shape, DType dtype, uint64_t seed) {
  return scaled(config, shape, dtype, seed, scale_times_one, average ? "fan_avg" : "fan_in",
                uniform ? "uniform" : "truncated_normal");
}

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Known>& known_initializers() {
  using O = Json::Object;
  const Json scaling = O{{"seed", nullptr}, {"input_axes", nullptr}, {"output_axes", nullptr}};
  static const std::vector<Known> table = {
      {"Zeros", Json::object(),
       [](const Json&, const Shape& s, DType d, uint64_t) { return constant(s, d, 0); }},
      {"Ones", Json::object(),
       [](const Json&, const Shape& s, DType d, uint64_t) { return constant(s, d, 1); }},
      {"Constant", O{{"value", 0.0}},
       [](const Json& c, const Shape& s, DType d, uint64_t) {
         return constant(s, d, c.at("value"));
       }},
      {"Identity", Json::object(),  // Keras leaves its gain out
       [](const Json& c, const Shape& s, DType d, uint64_t) {
         return identity(s, d, number(c, "gain", 1));
       }},
      {"RandomNormal", O{{"seed", nullptr}, {"mean", 0.0}, {"stddev", 0.05}},
       [](const Json& c, const Shape& s, DType d, uint64_t seed) {
         Stream stream(seed);
         const double mean = number(c, "mean", 0), stddev = number(c, "stddev", 0.05);
         return filled(s, d, [&] { return mean + stddev * stream.normal(); });
       }},
      {"TruncatedNormal", O{{"seed", nullptr}, {"mean", 0.0}, {"stddev", 0.05}},
       [](const Json& c, const Shape& s, DType d, uint64_t seed) {
         Stream stream(seed);
         const double mean = number(c, "mean", 0), stddev = number(c, "stddev", 0.05);
         return filled(s, d, [&] { return mean + stddev * stream.truncated_normal(); });
       }},
      {"RandomUniform", O{{"seed", nullptr}, {"minval", -0.05}, {"maxval", 0.05}},
       [](const Json& c, const Shape& s, DType d, uint64_t seed) {
         Stream stream(seed);
         const double low = number(c, "minval", -0.05), high = number(c, "maxval", 0.05);
         return filled(s, d, [&] { return low + (high - low) * stream.uniform(); });
       }},
      {"VarianceScaling",
       O{{"scale", 1.0},
         {"mode", "fan_in"},
         {"distribution", "truncated_normal"},
         {"seed", nullptr},
         {"input_axes", nullptr},
         {"output_axes", nullptr}},
       [](const Json& c, const Shape& s, DType d, uint64_t seed) {
         std::string distribution = word(c, "distribution", "truncated_normal");
         if (distribution == "normal") distribution = "truncated_normal";  // Keras 2's name
         return scaled(c, s, d, seed, number(c, "scale", 1), word(c, "mode", "fan_in"),
                       distribution);
       }},
      {"GlorotUniform", scaling, scaled_by<1, true, true>},
      {"GlorotNormal", scaling, scaled_by<1, true, false>},
      {"HeUniform", scaling, scaled_by<2, false, true>},
      {"HeNormal", scaling, scaled_by<2, false, false>},
      {"LecunUniform", scaling, scaled_by<1, false, true>},
      {"LecunNormal", scaling, scaled_by<1, false, false>},
      {"Orthogonal", O{{"seed", nullptr}, {"gain", 1.0}},
       [](const Json& c, const Shape& s, DType d, uint64_t seed) {
         return orthogonal(s, d, seed, number(c, "gain", 1));
       }},
      {"STFT", O{{"side", "real"}, {"window", "hann"}, {"scaling", "density"}, {"periodic", false}},
       [](const Json& c, const Shape& s, DType d, uint64_t) { return stft(s, d, c); }},
  };
  return table;
}

// By every name that Keras knows it by.
std::unordered_map<std::string, const Known*> names_of_initializers() {
  std::unordered_map<std::string, const Known*> names;
  for (const Known& known : known_initializers()) {
    names[std::string(known.class_name)] = &known;
    names[snake_case(known.class_name)] = &known;
  }
  names["IdentityInitializer"] = names.at("Identity");
  names["OrthogonalInitializer"] = names.at("Orthogonal");
  names["STFTInitializer"] = names.at("STFT");
  names["normal"] = names.at("RandomNormal");
  names["uniform"] = names.at("RandomUniform");
  names["one"] = names.at("Ones");
  names["zero"] = names.at("Zeros");
  return names;
}

const std::unordered_map<std::string, const Known*>& initializers_by_name() {
  static const auto names = names_of_initializers();
  return names;
}

const Known& find_initializer(const std::string& name) {
  const auto found = initializers_by_name().find(name);
  require(found != initializers_by_name().end(),
          "Could not interpret initializer identifier: ", name);
  return *found->second;
}

Json seeded(const initializers::Seed& seed) { return seed ? Json(*seed) : Json(); }

}  // namespace

struct Initializer::Recipe {
  Named named;
  Function custom = {};
  bool nameless = false;
  Json saved = {};
  std::type_index type = typeid(void);  // of a struct of the user's
  bool operator==(const Recipe& other) const { return named == other.named; }
};

Initializer::Initializer(Named named) {
  const Known& known = find_initializer(named.class_name);
  const auto recipe = [](const Named& given, const Known& of) {
    return Recipe{given.over(std::string(of.class_name), of.defaults)};
  };
  if (!named.config.as_object().empty()) {
    recipe_ = recipe(named, known);
    return;
  }
  // Large models use the same few initializers many times.
  static const auto plain = [&] {
    std::vector<detail::SharedValue<Recipe>> all;
    for (const Known& each : known_initializers()) all.emplace_back(recipe({}, each));
    return all;
  }();
  recipe_ = plain[static_cast<size_t>(&known - known_initializers().data())];
}

Initializer::Initializer(std::string name, Function function)
    : recipe_(Recipe{{std::move(name)}, std::move(function)}) {
  require(!named().class_name.empty(), "Initializer: expected a name, got an empty one");
  require(recipe_->custom != nullptr, "Initializer '", named().class_name,
          "': expected a function, got an empty one");
}

Initializer::Initializer(Function function)
    : recipe_(Recipe{{"custom_initializer"}, std::move(function), /*nameless=*/true}) {}

Initializer::Initializer(detail::ConfiguredFunction<Function> own)
    : recipe_(Recipe{{std::string(own.class_name), std::move(own.config)},
                     std::move(own.function),
                     /*nameless=*/false,
                     {},
                     own.type}) {}

bool Initializer::knows(const std::string& name) { return initializers_by_name().contains(name); }

Initializer Initializer::saved_as(Json json) const {
  Recipe recipe = *recipe_;
  recipe.saved = std::move(json);
  Initializer same = *this;
  same.recipe_ = std::move(recipe);
  return same;
}

Tensor Initializer::operator()(const Shape& shape, DType dtype, uint64_t seed) const {
  if (recipe_->custom) return recipe_->custom(shape, dtype, seed);
  const Json* given = named().config.find("seed");
  if (given != nullptr && given->is_int()) seed = static_cast<uint64_t>(given->as_int());
  return find_initializer(named().class_name).make(named().config, shape, dtype, seed);
}

Json Initializer::to_json() const {
  if (!recipe_->saved.is_null()) return recipe_->saved;
  const std::string& name = named().class_name;
  if (recipe_->type != typeid(void))
    return detail::own_class_json(recipe_->type, name, named().config, knows(name));
  if (recipe_->nameless)
    warn(
        "An initializer without a name is saved as 'custom_initializer'. Give it one, "
        "Initializer(\"my_initializer\", function), by which a file finds it again.");
  if (recipe_->custom) return function_json(name, knows(name));
  return named().to_json("keras.initializers");
}

bool Initializer::operator==(const Initializer& other) const { return recipe_ == other.recipe_; }

Initializer::Initializer(const Json& json) : Initializer(Named::from_json(json)) {}

const Named& Initializer::named() const { return recipe_->named; }

namespace initializers {

using O = Json::Object;

Initializer Zeros() { return Named{"Zeros"}; }
Initializer Ones() { return Named{"Ones"}; }
Initializer Constant(double value) { return Named{"Constant", O{{"value", value}}}; }
Initializer Identity(double gain) {
  return Named{"Identity", gain == 1 ? Json::object() : Json(O{{"gain", gain}})};
}
Initializer RandomNormal(NormalOptions o) {
  return Named{"RandomNormal", O{{"mean", o.mean}, {"stddev", o.stddev}, {"seed", seeded(o.seed)}}};
}
Initializer TruncatedNormal(NormalOptions o) {
  return Named{"TruncatedNormal",
               O{{"mean", o.mean}, {"stddev", o.stddev}, {"seed", seeded(o.seed)}}};
}
Initializer RandomUniform(UniformOptions o) {
  return Named{"RandomUniform",
               O{{"minval", o.minval}, {"maxval", o.maxval}, {"seed", seeded(o.seed)}}};
}
Initializer VarianceScaling(ScalingOptions o) {
  return Named{"VarianceScaling", O{{"scale", o.scale},
                                    {"mode", o.mode},
                                    {"distribution", o.distribution},
                                    {"seed", seeded(o.seed)}}};
}
Initializer GlorotUniform(Seed seed) { return Named{"GlorotUniform", O{{"seed", seeded(seed)}}}; }
Initializer GlorotNormal(Seed seed) { return Named{"GlorotNormal", O{{"seed", seeded(seed)}}}; }
Initializer HeUniform(Seed seed) { return Named{"HeUniform", O{{"seed", seeded(seed)}}}; }
Initializer HeNormal(Seed seed) { return Named{"HeNormal", O{{"seed", seeded(seed)}}}; }
Initializer LecunUniform(Seed seed) { return Named{"LecunUniform", O{{"seed", seeded(seed)}}}; }
Initializer LecunNormal(Seed seed) { return Named{"LecunNormal", O{{"seed", seeded(seed)}}}; }
Initializer Orthogonal(double gain, Seed seed) {
  return Named{"Orthogonal", O{{"gain", gain}, {"seed", seeded(seed)}}};
}
Initializer STFT(const std::string& side, const Json& window, const std::string& scaling,
                 bool periodic) {
  return Named{"STFT",
               O{{"side", side}, {"window", window}, {"scaling", scaling}, {"periodic", periodic}}};
}

}  // namespace initializers

}  // namespace keratin

#pragma once

#include <functional>
#include <optional>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/graph/function_config.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

struct Named;

// Makes the initial value of a weight. Given by name ("glorot_uniform", "GlorotUniform"), by one of
// the functions in `initializers`, or as any callable.
class KERATIN_API Initializer {
 public:
  using Function = std::function<Tensor(const Shape&, DType, uint64_t seed)>;
  using CustomKind = Initializer;
  using CustomFunction = Function;

  Initializer(const char* name) : Initializer(Json(name)) {}         // NOLINT
  Initializer(const std::string& name) : Initializer(Json(name)) {}  // NOLINT
  Initializer(Named named);                                          // NOLINT
  explicit Initializer(const Json& json);
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Initializer(std::string name, Function function);
  // A struct with a config of its own, which files have.
  template <InitializerConfig C>
  Initializer(C config)  // NOLINT(google-explicit-constructor)
      : Initializer(detail::configured(std::move(config))) {}
  explicit Initializer(Function function);  // by the name "custom_initializer", with a warning

  // The seed is used if the config has none.
  Tensor operator()(const Shape& shape, DType dtype, uint64_t seed) const;

  const Named& named() const;
  Json to_json() const;
  static Initializer from_json(const Json& json) { return Initializer(json); }
  static bool knows(const std::string& name);  // whether Keras has one of that name
  // The same, written to files as this JSON instead of `to_json`'s.
  Initializer saved_as(Json json) const;
  bool operator==(const Initializer& other) const;

 private:
  explicit Initializer(detail::ConfiguredFunction<Function> own);

  // Shared by the configs and weights of many layers.
  struct Recipe;
  detail::SharedValue<Recipe> recipe_;
};

namespace initializers {

using Seed = std::optional<int64_t>;

struct NormalOptions {
  double mean = 0;
  double stddev = 0.05;
  Seed seed = {};
};
struct UniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  Seed seed = {};
};
struct ScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                    // or fan_out, fan_avg
  std::string distribution = "truncated_normal";  // or untruncated_normal, uniform
  Seed seed = {};
};

KERATIN_API Initializer Zeros();
KERATIN_API Initializer Ones();
KERATIN_API Initializer Constant(double value = 0);
KERATIN_API Initializer Identity(double gain = 1);
KERATIN_API Initializer RandomNormal(NormalOptions options = {});
KERATIN_API Initializer TruncatedNormal(NormalOptions options = {});
KERATIN_API Initializer RandomUniform(UniformOptions options = {});
KERATIN_API Initializer VarianceScaling(ScalingOptions options = {});
KERATIN_API Initializer GlorotUniform(Seed seed = {});
KERATIN_API Initializer GlorotNormal(Seed seed = {});
KERATIN_API Initializer HeUniform(Seed seed = {});
KERATIN_API Initializer HeNormal(Seed seed = {});
KERATIN_API Initializer LecunUniform(Seed seed = {});
KERATIN_API Initializer LecunNormal(Seed seed = {});
KERATIN_API Initializer Orthogonal(double gain = 1, Seed seed = {});
// The real or imaginary half of a short-time Fourier transform as a convolution kernel.
KERATIN_API Initializer STFT(const std::string& side = "real", const Json& window = "hann",
                             const std::string& scaling = "density", bool periodic = false);

}  // namespace initializers
}  // namespace keratin

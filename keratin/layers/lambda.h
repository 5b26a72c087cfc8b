#pragma once

#include <concepts>
#include <functional>

#include "keratin/base/export.h"
#include "keratin/graph/config.h"
#include "keratin/graph/saved_form.h"

namespace keratin {

using LambdaFunction = std::function<Results(const Call&)>;
using LambdaMask = std::function<Masks(const Call&)>;

struct LambdaConfig {
  LambdaFunction function = {};
  LambdaMask mask = {};             // computes the masks of the outputs; default: no masks
  Json arguments = Json::object();  // bound arguments, which c.argument("scale") returns
  Json saved = Json();              // the config from a file, unchanged
};

// Any C++ function of values. It is traced when it is called, so it has gradients and runs on any
// device. Files hold what its calls computed as a model of Keras's operations or, if no operations
// compute it, its name alone, with a warning.
class KERATIN_API LambdaLayer final : public Layer, public HasSavedForm {
 public:
  using ConfigType = LambdaConfig;
  LambdaLayer(LambdaConfig config, LayerOptions options);
  ~LambdaLayer() override;

  std::string_view class_name() const override { return "Lambda"; }
  Json get_config() const override;
  Json own_config() const override;
  // Files hold no C++, so the function is bound later, by the layer's name.
  static LayerPtr from_config(const Json& config, const ConfigContext& context);
  LayerPtr fresh_copy() const override;
  void bind(LambdaFunction function, LambdaMask mask = {});

  Results call(const Call& c) const override;
  Masks compute_mask(const Call& c, size_t outputs) const override;
  bool supports_masking() const override { return static_cast<bool>(cfg_.mask); }
  bool takes_mask() const override { return true; }
  std::shared_ptr<const Layer> saved_form() const override;

 private:
  void remember(const Call& c) const;

  LambdaConfig cfg_;
  struct Calls;  // the inputs of its calls in models
  std::unique_ptr<Calls> calls_;
};

// A Lambda is a function of the call, of one value, or of all values.
template <class F>
LambdaFunction lambda_function(F function) {
  if constexpr (requires { function.operator bool(); })
    detail::require(static_cast<bool>(function), "Lambda: expected a function, got an empty one");
  if constexpr (std::is_invocable_v<F, const Call&>)
    return [f = std::move(function)](const Call& c) -> Results { return f(c); };
  else if constexpr (std::is_invocable_v<F, Value>)
    return [f = std::move(function)](const Call& c) -> Results { return f(c.input()); };
  else
    return [f = std::move(function)](const Call& c) -> Results { return f(c.inputs()); };
}

struct LambdaOptions {
  LambdaMask mask = {};
  Json arguments = Json::object();
  std::string name = {};
  DTypePolicy dtype = {};
};

class KERATIN_API Lambda : public Shared<LambdaLayer> {
 public:
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, Lambda>) explicit Lambda(
      F function, LambdaOptions options = {})
      : Shared(LambdaConfig{lambda_function(std::move(function)), std::move(options.mask),
                            std::move(options.arguments)},
               LayerOptions{std::move(options.name), true, std::move(options.dtype)}) {}
  template <class F>
  Lambda(F function, const char* name) : Lambda(std::move(function), LambdaOptions{.name = name}) {}
};

}  // namespace keratin

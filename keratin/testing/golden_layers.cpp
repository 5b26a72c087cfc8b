#include "keratin/testing/golden_layers.h"

#include "keratin/base/text.h"
#include "keratin/ops/ops.h"

namespace keratin::testing {
namespace {

// A layer without a config of its own.
template <class Derived>
class Plain : public Layer {
 public:
  explicit Plain(LayerOptions options) : Layer(Derived::keras_name, std::move(options)) {}
  std::string_view class_name() const override { return Derived::keras_name; }
  std::string_view module() const override { return "builtins"; }
  std::string_view registered_name() const override { return registered_; }
  LayerPtr fresh_copy() const override { return std::make_shared<Derived>(options()); }
  static LayerPtr from_config(const Json& config, const ConfigContext&) {
    return std::make_shared<Derived>(detail::read_options(config));
  }

 private:
  std::string registered_ = "golden>" + std::string(Derived::keras_name);
};

struct Swap final : Plain<Swap> {
  using Plain::Plain;
  static constexpr std::string_view keras_name = "Swap";
  Results call(const Call& c) const override {
    const Values x = c.inputs();
    return Values{x[1], x[0]};
  }
};

template <class Derived>
struct ForkOf : Plain<Derived> {
  using Plain<Derived>::Plain;
  Results call(const Call& c) const override { return Values{c.input() + 1.0, c.input() * 2.0}; }
  bool supports_masking() const override { return true; }
};

struct Fork final : ForkOf<Fork> {
  using ForkOf::ForkOf;
  static constexpr std::string_view keras_name = "Fork";
};

struct ForkMasks final : ForkOf<ForkMasks> {
  using ForkOf::ForkOf;
  static constexpr std::string_view keras_name = "ForkMasks";
  Masks compute_mask(const Call& c, size_t) const override { return {c.mask(), std::nullopt}; }
};

Value first_feature_positive(Value x) {
  return ops::squeeze(ops::slice_axis(x, -1, 0, 1), -1) > 0.0;
}

struct MaskMaker final : Plain<MaskMaker> {
  using Plain::Plain;
  static constexpr std::string_view keras_name = "MaskMaker";
  Results call(const Call& c) const override { return c.input() * 1.0; }
  Masks compute_mask(const Call& c, size_t) const override {
    return {first_feature_positive(c.input())};
  }
  bool supports_masking() const override { return true; }
};

struct AddIfThere final : Plain<AddIfThere> {
  using Plain::Plain;
  static constexpr std::string_view keras_name = "AddIfThere";
  Results call(const Call& c) const override {
    const Value y = c.tensor(1, "y");
    return y.defined() ? c.input() + y : c.input() * 1.0;
  }
  std::vector<std::string_view> argument_names() const override { return {"x", "y"}; }
};

struct Scaled final : Plain<Scaled> {
  using Plain::Plain;
  static constexpr std::string_view keras_name = "Scaled";
  Results call(const Call& c) const override {
    const Tree<Traced>& shift = c.argument("shift");
    return c.input() * c.tensor(1, "by") + (shift.is_none() ? 0.0 : shift.constant().as_double());
  }
};

}  // namespace

LambdaFunction golden_function(const std::string& name) {
  if (name == "square") return lambda_function([](Value x) { return x * x; });
  if (name == "twice") return lambda_function([](Value x) { return Values{x, x}; });
  if (name == "plus_one_and_same")
    return lambda_function([](Value x) { return Values{x + 1.0, x}; });
  if (name == "plus_and_minus")
    return lambda_function([](Value x) { return Values{x + 1.0, x - 1.0}; });
  if (name == "sum_and_product")
    return lambda_function([](const Values& x) { return Values{x[0] + x[1], x[0] * x[1]}; });
  if (name == "first_half")
    return lambda_function([](Value x) { return ops::slice_axis(x, 1, 0, x.shape()[1] / 2); });
  if (name == "scale")
    return lambda_function(
        [](const Call& c) { return c.input() * c.argument("by").constant().as_double(); });
  if (name == "add_in_training")
    return lambda_function(
        [](const Call& c) { return c.training() ? c.input() + 1.0 : c.input(); });
  if (name == "zero_masked")
    return lambda_function([](const Call& c) {
      return c.input() * ops::expand_dims(ops::cast(*c.mask(), c.input().dtype()), -1);
    });
  if (name == "same") return lambda_function([](Value x) { return x; });
  fail("golden_function: no twin of '", name, "'");
}

LambdaMask golden_mask(const std::string& name) {
  if (name == "mask_as_it_is" || name == "mask_of_first")
    return [](const Call& c) -> Masks { return {c.mask()}; };
  if (name == "mask_reversed")
    return [](const Call& c) -> Masks { return {ops::flip(*c.mask(), {1})}; };
  if (name == "mask_positive")
    return [](const Call& c) -> Masks { return {first_feature_positive(c.input())}; };
  if (name == "masks_for_both")
    return [](const Call& c) -> Masks { return {c.mask(), !*c.mask()}; };
  fail("golden_mask: no twin of '", name, "'");
}

CustomObjects golden_layers(const Json& lambdas) {
  CustomObjects custom = {{"Swap", Swap::from_config},
                          {"Fork", Fork::from_config},
                          {"ForkMasks", ForkMasks::from_config},
                          {"MaskMaker", MaskMaker::from_config},
                          {"AddIfThere", AddIfThere::from_config},
                          {"Scaled", Scaled::from_config}};
  custom["Lambda"] = [lambdas](const Json& config, const ConfigContext& context) {
    LayerPtr layer = LambdaLayer::from_config(config, context);
    const Json* functions = lambdas.find(layer->name());
    require(functions != nullptr, "golden model: no function is named for Lambda '", layer->name(),
            "'");
    const Json* mask = functions->find("mask");
    dynamic_cast<LambdaLayer&>(*layer).bind(
        golden_function(functions->at("function").as_string()),
        mask == nullptr ? LambdaMask() : golden_mask(mask->as_string()));
    return layer;
  };
  return custom;
}

}  // namespace keratin::testing

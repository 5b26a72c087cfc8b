#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/ops/ops.h"
#include "tests/random/recipe_testing.h"

namespace keratin {
namespace {

uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t roll() { return state_ = scramble(state_); }
  uint64_t below(uint64_t n) { return roll() % n; }

 private:
  uint64_t state_;
};

constexpr int64_t time_steps = 4;

// Functions of Lambdas, by the prefix of the layer's name.
LambdaFunction function_of(const std::string& name) {
  if (name.starts_with("fork"))
    return lambda_function([](Value x) { return Values{x * 2.0, x + 0.5, x}; });
  if (name.starts_with("blend"))
    return lambda_function([](const Values& x) { return Values{x[0] + x[1], x[0] - x[1]}; });
  return lambda_function([](Value x) { return x * 1.5 - 0.25; });
}

class Kitchen {
 public:
  explicit Kitchen(std::string prefix) : prefix_(std::move(prefix)) {}

  Model cook(const Recipe& recipe) {
    Dice dice(recipe.ends);
    std::vector<SymbolicTensor> inputs = {input(2), input(3)};
    if (dice.below(2) == 0) inputs.push_back(ids());
    pool_ = inputs;
    if (inputs.size() > 2) {
      pool_.pop_back();
      pool_.push_back(Embedding({.input_dim = 5, .output_dim = 3, .mask_zero = true},
                                named("embedding"))(inputs[2]));
    }
    for (const Step& step : recipe.steps) apply(step);
    std::vector<SymbolicTensor> outputs;
    const uint64_t count = 1 + dice.below(3);
    for (uint64_t i = 0; i < count; ++i)
      outputs.push_back(
          pool_[pool_.size() - 1 - std::min<size_t>(i * dice.below(3), pool_.size() - 1)]);
    return Model({.inputs = structured(inputs, dice.below(2), "in"),
                  .outputs = structured(outputs, dice.below(3), "out"),
                  .name = prefix_ + "model"});
  }

 private:
  std::string named(const std::string& what) { return prefix_ + text(what, "_", count_++); }

  SymbolicTensor input(int64_t rank) {
    const Shape shape = rank == 2 ? Shape({3}) : Shape({time_steps, 3});
    return Input({.shape = shape, .name = named("input")});
  }
  SymbolicTensor ids() {
    return Input({.shape = {time_steps}, .dtype = DType::i32, .name = named("ids")});
  }

  static Symbols structured(const std::vector<SymbolicTensor>& tensors, uint64_t how,
                            const std::string& key) {
    if (how == 0 && tensors.size() == 1) return tensors[0];
    if (how == 1) {
      Symbols::Dict dict;
      for (size_t i = 0; i < tensors.size(); ++i) dict.emplace(key + std::to_string(i), tensors[i]);
      return dict;
    }
    return tensors;
  }

  std::vector<SymbolicTensor> of_rank(int64_t rank) const {
    std::vector<SymbolicTensor> found;
    for (const SymbolicTensor& t : pool_)
      if (t.rank() == rank) found.push_back(t);
    return found;
  }

  void add(const Symbols& results) {
    results.each([&](const SymbolicTensor& t) { pool_.push_back(t); });
  }

  void apply(const Step& step) {
    const SymbolicTensor x = pool_[step.first % pool_.size()];
    const std::vector<SymbolicTensor> sequences = of_rank(3);
    const SymbolicTensor s = sequences[step.first % sequences.size()];
    const auto units = static_cast<int64_t>(2 + step.size % 3);
    switch (step.kind % 12) {
      case 0:
        return add(Dense({.units = units, .activation = "tanh"}, named("dense"))(x));
      case 1:
        return shared(x);
      case 2:
        return add(Lambda(function_of("affine"), LambdaOptions{.name = named("affine")})(x));
      case 3:
        return add(Lambda(function_of("fork"), LambdaOptions{.name = named("fork")})(x));
      case 4:
        return pair(x, step, "blend");
      case 5:
        return pair(x, step, "add");
      case 6:
        return pair(x, step, "concatenate");
      case 7:
        return add(Masking({}, named("masking"))(s));
      case 8:
        return add(LSTM({.units = units,
                         .return_sequences = step.size % 2 == 0,
                         .return_state = step.size % 5 == 0},
                        named("lstm"))(s));
      case 9:
        return add(GRU({.units = units, .return_sequences = step.size % 2 == 0}, named("gru"))(s));
      case 10:
        return add(GlobalAveragePooling1D({}, named("mean"))(s));
      default:
        return nested(x, step);
    }
  }

  // A layer of the model that fits, or a new one.
  void shared(const SymbolicTensor& x) {
    for (const Dense& dense : dense_)
      if (dense->built_with()[0].back() == x.shape().back()) return add(dense(x));
    dense_.emplace_back(DenseConfig{.units = 3}, named("shared"));
    add(dense_.back()(x));
  }

  void pair(const SymbolicTensor& x, const Step& step, const std::string& how) {
    std::vector<SymbolicTensor> same;
    for (const SymbolicTensor& t : pool_)
      if (t.shape() == x.shape()) same.push_back(t);
    const Symbols both = std::vector{x, same[step.second % same.size()]};
    if (how == "blend")
      return add(Lambda(function_of("blend"), LambdaOptions{.name = named("blend")})(both));
    if (how == "add") return add(Add({}, named("add"))(both));
    add(Concatenate({}, named("concatenate"))(both));
  }

  // A model with one input and two outputs, called once or twice.
  void nested(const SymbolicTensor& x, const Step& step) {
    const std::string name = named("nested");
    const auto input = Input({.shape = Shape(std::span(x.shape().begin() + 1, x.shape().end())),
                              .name = name + "_input"});
    const Symbols y = Dense({.units = x.shape().back()}, name + "_dense")(input);
    const Symbols z =
        step.size % 2 == 0 && x.rank() == 3
            ? LSTM({.units = 2, .return_sequences = true}, name + "_lstm")(y)
            : Lambda(function_of("affine"), LambdaOptions{.name = "affine_" + name})(y);
    const Model model({.inputs = input, .outputs = {y, z}, .name = name});
    const Symbols first = model(x);
    add(first);
    if (step.size % 3 == 0) add(model(first[0]));
  }

  std::string prefix_;
  size_t count_ = 0;
  std::vector<SymbolicTensor> pool_;
  std::vector<Dense> dense_;
};

}  // namespace

Recipe random_recipe(uint64_t seed) {
  Dice dice(seed);
  Recipe recipe{seed, {}, dice.roll()};
  const uint64_t steps = 1 + dice.below(9);
  for (uint64_t i = 0; i < steps; ++i)
    recipe.steps.push_back({dice.roll(), dice.roll(), dice.roll(), dice.roll()});
  return recipe;
}

Model cook(const Recipe& recipe) { return Kitchen("").cook(recipe); }

Tree<Tensor> data_for(const Model& model, uint64_t seed) {
  Dice dice(seed);
  return model.input().map<Tensor>([&](const SymbolicTensor& t) {
    Dims dims = t.shape().dims();
    dims[0] = 2;
    Tensor data(t.dtype(), dims);
    const bool whole = t.dtype() == DType::i32;
    const int64_t features = whole || dims.size() < 3 ? 1 : dims.back();
    for (int64_t i = 0; i < data.count(); i += features) {
      const bool padded = dims.size() == (whole ? 2u : 3u) && dice.below(3) == 0;
      for (int64_t f = 0; f < features; ++f)
        data.set(i + f, padded  ? 0.0
                        : whole ? static_cast<double>(1 + dice.below(4))
                                : static_cast<double>(dice.below(2001)) / 1000.0 - 1.0);
    }
    return data;
  });
}

CustomObjects lambdas_of_recipes() {
  CustomObjects custom;
  custom["Lambda"] = [](const Json& config, const ConfigContext& context) {
    LayerPtr layer = LambdaLayer::from_config(config, context);
    dynamic_cast<LambdaLayer&>(*layer).bind(function_of(layer->name()));
    return layer;
  };
  return custom;
}

}  // namespace keratin

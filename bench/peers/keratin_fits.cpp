#include "bench/peers/keratin_fits.h"

#include "keratin/base/text.h"
#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/ops/ops.h"
#include "keratin/train/callback.h"

namespace keratin::bench {
namespace {

using nlohmann::json;

struct PositionsConfig {
  static constexpr std::string_view keras_name = "Positions";
  static constexpr auto fields = field_list();
};

// Adds a learned vector to each step.
class PositionsLayer final : public LayerOf<PositionsLayer, PositionsConfig> {
 public:
  PositionsLayer(PositionsConfig config, LayerOptions options)
      : LayerOf(std::move(config), std::move(options)) {}
  void build(const Shapes& inputs) override {
    table_ = add_weight("table", {inputs[0][1], inputs[0][2]}, initializers::Zeros());
  }
  Results call(const Call& c) const override { return c.float_input() + c.read(table_); }

 private:
  Variable table_;
};
using Positions = Shared<PositionsLayer>;

struct Learner {
  Model model;
  Loss loss;
};

int64_t attr(const json& spec, const char* name) {
  return spec.at("attrs").at(name).get<int64_t>();
}

Dims shape(const json& spec, const std::string& tensor) {
  return spec.at("tensors").at(tensor).at("shape").get<Dims>();
}

Loss classes_of_logits() { return losses::SparseCategoricalCrossentropy{.from_logits = true}; }

Sequential dense_stack(const json& spec, const std::string& last) {
  Sequential model;
  model.add(Input(Shape{shape(spec, "x")[1]}));
  for (int i = 1; spec.at("tensors").contains(text('d', i, "_b")); ++i) {
    const bool more = spec.at("tensors").contains(text('d', i + 1, "_b"));
    model.add(Dense({.units = shape(spec, text('d', i, "_b"))[0],
                     .activation = more ? Activation("relu") : Activation(last)}));
  }
  return model;
}

Learner mlp(const json& spec) { return {dense_stack(spec, "linear"), classes_of_logits()}; }

Learner convnet(const json& spec) {
  return {Sequential({Conv2D({.filters = 32, .kernel_size = {3, 3}, .activation = "relu"}),
                      MaxPooling2D({.pool_size = {2, 2}}),
                      Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = "relu"}),
                      MaxPooling2D({.pool_size = {2, 2}}), Flatten(),
                      Dropout({.rate = spec.at("attrs").at("dropout").get<double>()}),
                      Dense({.units = 10})}),
          classes_of_logits()};
}

Learner lstm(const json& spec) {
  const Dims table = shape(spec, "embedding");
  return {Sequential({Embedding({.input_dim = table[0], .output_dim = table[1], .mask_zero = true}),
                      LSTM({.units = table[1]}), Dense({.units = 1, .activation = "sigmoid"})}),
          losses::BinaryCrossentropy{}};
}

Learner transformer(const json& spec) {
  const Dims table = shape(spec, "embedding");
  const int64_t width = table[1], heads = attr(spec, "heads");
  const auto normalised = [](const Symbols& x) { return LayerNormalization({.epsilon = 1e-5})(x); };
  const auto tokens = Input({.shape = {shape(spec, "x")[1]}, .dtype = DType::i32});
  SymbolicTensor x = Positions()(Embedding({.input_dim = table[0], .output_dim = width})(tokens));
  for (int64_t i = 0; i < attr(spec, "layers"); ++i) {
    const Symbols attended =
        MultiHeadAttention({.num_heads = heads, .key_dim = width / heads})(x, x);
    x = normalised(Add()({x, attended}));
    const int64_t hidden = shape(spec, text('l', i, "_f1_b"))[0];
    const Symbols wide = Dense({.units = hidden, .activation = "relu"})(x);
    x = normalised(Add()({x, Dense({.units = width})(wide)}));
  }
  const Symbols logits = Dense({.units = attr(spec, "classes")})(GlobalAveragePooling1D()(x));
  return {Model({.inputs = tokens, .outputs = logits}), classes_of_logits()};
}

Learner make_learner(const json& spec) {
  const auto kind = spec.at("attrs").at("model").get<std::string>();
  if (kind == "mlp") return mlp(spec);
  if (kind == "convnet") return convnet(spec);
  if (kind == "lstm") return lstm(spec);
  require(kind == "transformer", "unknown model ", kind);
  return transformer(spec);
}

// The weights of a model are the tensors of the workload, except x, in the driver's order.
void set_weights(const Model& model, const json& spec) {
  std::vector<Tensor> weights;
  for (const auto& name : spec.at("order"))
    if (name != "x") weights.push_back(filled(spec.at("tensors").at(name.get<std::string>())));
  Model(model).set_weights(weights);
}

}  // namespace

Task make_fit(const json& spec, int threads) {
  Learner learner = make_learner(spec);
  Model model = learner.model;
  const Tensor x = filled(spec.at("tensors").at("x"));
  const Tensor y = class_labels(x.shape()[0], attr(spec, "classes"));
  const int64_t batch = attr(spec, "batch");
  const auto& attrs = spec.at("attrs");
  model.compile({.optimizer = Adam({.learning_rate = attrs.at("lr").get<double>(),
                                    .beta_1 = attrs.at("beta1").get<double>(),
                                    .beta_2 = attrs.at("beta2").get<double>(),
                                    .epsilon = attrs.at("epsilon").get<double>()}),
                 .loss = learner.loss,
                 .engine = {.threads = threads}});
  model.evaluate(x, y, {.batch_size = batch, .verbose = 0});  // builds deferred layers
  set_weights(model, spec);
  model.fit(x, y, {.batch_size = batch, .verbose = 0, .shuffle = false});
  const Logs after = model.evaluate(x, y, {.batch_size = batch, .verbose = 0});
  model.optimizer().set_learning_rate(1e-6);
  return {[=]() mutable { model.fit(x, y, {.batch_size = batch, .verbose = 0}); },
          {after.at("loss")},
          [=](int runs) {
            Batch first;
            Dataset::from_tensors(x, y).batch(batch).stream()->next(first);
            return model.trainer().profile(first, runs);
          }};
}

Task make_predict_one(const json& spec, int threads) {
  const Sequential model = dense_stack(spec, "relu");
  set_weights(model, spec);
  const Tensor x = filled(spec.at("tensors").at("x"));
  const auto step = [=] { return model.predict(x, {.engine = {.threads = threads}}); };
  return {[=] { step(); }, {mean_square(step().leaf())}};
}

}  // namespace keratin::bench

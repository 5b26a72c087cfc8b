#include "keratin/graph/initializer.h"
#include "tests/errors/errors_testing.h"

namespace keratin::errors {
namespace {

struct Picky final : Layer {
  explicit Picky(std::vector<InputSpec> specs) : Layer("Dense", {"dense"}) {
    set_input_spec(std::move(specs));
  }
  std::string_view class_name() const override { return "Dense"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Picky>(input_specs()); }
  Results call(const Call& c) const override { return c.input(); }
};
void call_picky(InputSpec spec, const Dims& shape) {
  (*std::make_shared<Picky>(std::vector<InputSpec>{std::move(spec)}))(ones(shape));
}

}  // namespace

std::vector<Case> layer_errors() {
  return {
      // --- Inputs of layers
      {"rank too low", [] { Dense({.units = 3}, "dense")(ones({4})); }},
      {"rank differs",
       [] {
         Conv2D({.filters = 3, .kernel_size = 2}, "conv")(ones({2, 4, 3}));
       }},
      {"rank too high",
       [] {
         GlobalMaxPooling1D({}, "pool")(ones({2, 3, 4, 2}));
       }},
      {"axis differs",
       [] {
         const Dense dense({.units = 3}, "dense");
         dense(ones({2, 4}));
         dense(ones({2, 5}));
       }},
      {"axis differs in a graph",
       [] {
         const Dense dense({.units = 3}, "dense");
         dense(Input({4}));
         dense(Input({5}));
       }},
      {"rank above the limit",
       [] {
         call_picky({.max_ndim = 2}, {2, 5, 3});
       }},
      {"number of inputs differs",
       [] {
         const auto layer =
             std::make_shared<Picky>(std::vector<InputSpec>{{.ndim = 2}, {.ndim = 2}});
         (*layer)(ones({2, 5}));
       },
       Match::substrings,
       {"Layer \"dense\" expects 2 input(s), but it received 1 input tensors"}},
      {"unknown last axis",
       [] { Dense({.units = 3}, "dense")(Input({unknown})); },
       Match::substrings,
       {"dense", "(None, None)"}},
      {"positional argument that is no tensor",
       [] { Dense({.units = 3})("text"); },
       Match::substrings,
       {"dense"}},
      {"Wrapper of no layer",
       [] {
         from_json("Wrapper", O{{"name", "wrapper"}});
       },
       Match::substrings,
       {"Wrapper", "layer"}},
      {"Wrapper is called",
       [] {
         from_json("Wrapper",
                   Json::Object{{"layer", serialize_layer(*LayerPtr(Dense({.units = 2})))}})
             ->
             operator()(ones({2, 3}));
       },
       Match::substrings,
       {"Wrapper", "call()"}},
      // --- Layers
      {"merge: not a list",
       [] {
         Add()(ones({2, 3}));
       },
       Match::beginning},
      {"merge: shapes",
       [] {
         Add()({ones({2, 3}), ones({2, 4})});
       },
       Match::substrings,
       {"Inputs have incompatible shapes", "3", "4"}},
      {"merge: batch sizes",
       [] {
         Add()({ones({2, 3}), ones({4, 3})});
       },
       Match::substrings,
       {"different batch sizes", "(2, 3)", "(4, 3)"}},
      {"subtract: three",
       [] {
         const auto x = ones({2, 3});
         Subtract()({x, x, x});
       },
       Match::substrings,
       {"Subtract", "2 inputs"}},
      {"concatenate: shapes",
       [] {
         Concatenate({.axis = 1})({ones({2, 3, 4}), ones({2, 3, 5})});
       },
       Match::substrings,
       {"Concatenate", "(2, 3, 4)", "(2, 3, 5)"}},
      {"dot: shapes",
       [] {
         Dot({.axes = 1})({ones({2, 3}), ones({2, 4})});
       },
       Match::substrings,
       {"3", "4", "(2, 3)", "(2, 4)"}},
      {"dot: axes",
       [] {
         from_json("Dot", O{{"axes", "x"}});
       },
       Match::substrings,
       {"Dot", "axes"}},
      {"dot: three",
       [] {
         const auto x = ones({2, 3});
         Dot({.axes = 1})({x, x, x});
       },
       Match::substrings,
       {"Dot", "2"}},
      {"dense: units", [] { Dense({.units = -1}); }, Match::substrings, {"units", "-1"}},
      {"reshape: sizes",
       [] {
         Reshape({.target_shape = {3, 5}}, "reshape")(ones({2, 4, 3}));
       },
       Match::substrings,
       {"reshape", "4", "3", "5"}},
      {"reshape: two unknown",
       [] {
         Reshape({.target_shape = {-1, -1}}, "reshape")(ones({2, 4, 3}));
       },
       Match::substrings,
       {"-1"}},
      {"permute: dims",
       [] {
         Permute({.dims = {1, 3}});
       },
       Match::substrings,
       {"Permute", "dims"}},
      {"repeat: no number",
       [] {
         from_json("RepeatVector", O{{"n", 1.5}});
       },
       Match::substrings,
       {"RepeatVector", "'n'"}},
      {"cropping: too much",
       [] {
         from_json("Cropping1D", O{{"cropping", Json::Array{3, 3}}, {"name", "crop"}})
             ->
             operator()(ones({2, 5, 3}));
       },
       Match::substrings,
       {"crop", "5"}},
      {"conv: groups",
       [] { Conv2D({.filters = 3, .kernel_size = 2, .groups = 2}); },
       Match::substrings,
       {"groups", "2", "3"}},
      {"conv: groups and channels",
       [] {
         Conv2D({.filters = 4, .kernel_size = 2, .groups = 2}, "conv")(ones({2, 5, 5, 3}));
       },
       Match::substrings,
       {"groups", "3"}},
      {"conv: strides and dilation",
       [] { Conv2D({.filters = 4, .kernel_size = 2, .strides = 2, .dilation_rate = 2}); },
       Match::substrings,
       {"strides", "dilation_rate"}},
      {"conv: padding",
       [] { Conv2D({.filters = 4, .kernel_size = 2, .padding = "around"}); },
       Match::substrings,
       {"padding", "around"}},
      {"conv: causal in two dimensions",
       [] { Conv2D({.filters = 4, .kernel_size = 2, .padding = "causal"}); },
       Match::substrings,
       {"padding", "causal"}},
      {"conv: kernel over the input",
       [] {
         Conv1D({.filters = 2, .kernel_size = 5}, "conv")(ones({2, 3, 4}));
       },
       Match::beginning},
      {"separable: causal",
       [] { SeparableConv1D({.filters = 2, .kernel_size = 3, .padding = "causal"}); },
       Match::substrings,
       {"padding", "causal"}},
      {"pool: size", [] { MaxPooling2D({.pool_size = 0}); }, Match::substrings, {"pool_size", "0"}},
      {"activation: unknown",
       [] { Dense({.units = 3, .activation = "missing"}); },
       Match::substrings,
       {"missing"}},
      {"relu: threshold",
       [] { ReLU({.threshold = -0.5}); },
       Match::substrings,
       {"threshold", "-0.5"}},
      {"leaky relu: slope",
       [] {
         from_json("LeakyReLU", O{{"negative_slope", Json()}});
       },
       Match::substrings,
       {"negative_slope"}},
      {"initializer: unknown",
       [] { Dense({.units = 3, .kernel_initializer = "missing"}); },
       Match::substrings,
       {"missing"}},
      {"dropout: rate", [] { Dropout({.rate = 1.5}); }, Match::substrings, {"rate", "1.5"}},
      {"dropout: rate is no number",
       [] {
         from_json("Dropout", O{{"rate", "half"}});
       },
       Match::substrings,
       {"Dropout", "'rate'"}},
      {"normalization: axis",
       [] {
         BatchNormalization({.axis = 3}, "norm")(ones({2, 3}));
       },
       Match::substrings,
       {"axis", "3"}},
      {"normalization: axis type",
       [] {
         from_json("LayerNormalization", O{{"axis", "last"}});
       },
       Match::substrings,
       {"LayerNormalization", "'axis'"}},
      {"group normalization: too many groups",
       [] {
         GroupNormalization({.groups = 5}, "norm")(ones({2, 4, 3}));
       },
       Match::substrings,
       {"5", "3"}},
      {"group normalization: does not divide",
       [] {
         GroupNormalization({.groups = 2}, "norm")(ones({2, 4, 3}));
       },
       Match::substrings,
       {"2", "3"}},
      {"recurrent: rank",
       [] {
         LSTM({.units = 3}, "lstm")(ones({2, 3}));
       }},
      {"recurrent: units", [] { LSTM({.units = 0}); }, Match::substrings, {"units", "0"}},
      {"recurrent: number of states",
       [] {
         LSTM({.units = 3}, "lstm")
         (ones({2, 4, 3}), {{"initial_state", Symbols::List{ones({2, 3})}}});
       },
       Match::substrings,
       {"lstm", "2", "1"}},
      {"recurrent: size of a state",
       [] {
         GRU({.units = 3}, "gru")(ones({2, 4, 3}), {{"initial_state", ones({2, 5})}});
       },
       Match::substrings,
       {"gru", "(2, 5)"}},
      {"recurrent: cell without a call", [] { RNN(RNNConfig{}); }, Match::substrings, {"cell"}},
      {"recurrent: stateful of unknown batch",
       [] {
         LSTM({.units = 3, .stateful = true}, "lstm")(Input({4, 3}));
       },
       Match::all},
      {"recurrent: stateful, another batch",
       [] {
         const LSTM layer({.units = 3, .stateful = true}, "lstm");
         layer(ones({2, 4, 3}));
         layer(ones({3, 4, 3}));
       },
       Match::all},
      {"bidirectional: not a layer",
       [] { Bidirectional(BidirectionalConfig{}); },
       Match::substrings,
       {"Bidirectional", "layer"}},
      {"bidirectional: no recurrent layer",
       [] { Bidirectional({Dense({.units = 3})}); },
       Match::substrings,
       {"Bidirectional"}},
      {"bidirectional: merge mode",
       [] { Bidirectional({.layer = LSTM({.units = 3}), .merge_mode = "mix"}); },
       Match::substrings,
       {"mix", "concat"}},
      {"bidirectional: both backwards",
       [] { Bidirectional({.layer = LSTM({.units = 3}), .backward_layer = LSTM({.units = 3})}); },
       Match::substrings,
       {"go_backwards"}},
      {"bidirectional: backward layer differs",
       [] {
         Bidirectional({.layer = LSTM({.units = 3}),
                        .backward_layer =
                            LSTM({.units = 3, .return_sequences = true, .go_backwards = true})});
       },
       Match::substrings,
       {"return_sequences"}},
      {"bidirectional: number of states",
       [] {
         const auto state = ones({2, 3});
         Bidirectional({LSTM({.units = 3})})(ones({2, 4, 3}),
                                             {{"initial_state", Symbols{state, state, state}}});
       },
       Match::substrings,
       {"initial_state", "[*, *, *]"}},
      {"time distributed: rank",
       [] { TimeDistributed({Dense({.units = 2})})(ones({2})); },
       Match::substrings,
       {"TimeDistributed", "(2,)"}},
      {"time distributed: not a layer",
       [] { TimeDistributed(TimeDistributedConfig{}); },
       Match::substrings,
       {"TimeDistributed", "layer"}},
      {"attention: one input",
       [] {
         Attention()(Symbols{ones({2, 3, 4})});
       },
       Match::substrings,
       {"Attention", "2 or 3", "1"}},
      {"attention: not a list",
       [] {
         Attention()(ones({2, 3, 4}));
       },
       Match::substrings,
       {"Attention", "list"}},
      {"attention: score mode",
       [] { Attention({.score_mode = "cosine"}); },
       Match::substrings,
       {"score_mode", "cosine"}},
      {"grouped attention: heads",
       [] {
         GroupQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 3})(
             ones({2, 3, 4}), ones({2, 3, 4}));
       },
       Match::substrings,
       {"num_query_heads", "num_key_value_heads"}},
      {"multi-head attention: sizes",
       [] {
         MultiHeadAttention({.num_heads = 2, .key_dim = 3})(ones({2, 3, 4}), ones({2, 5, 4}),
                                                            ones({2, 6, 4}));
       },
       Match::substrings,
       {"value", "key", "(2, 5, 4)", "(2, 6, 4)"}},
      {"normalization layer: mean alone",
       [] { Normalization({.mean = 1.0}); },
       Match::substrings,
       {"mean", "variance"}},
      {"lambda: not a function", [] { Lambda(LambdaFunction{}); }, Match::substrings, {"Lambda"}},
      // --- Weights, initializers, regularizers and constraints
      {"trainable weights: wrong number",
       [] {
         chain().set_weights({data({3, 3})});
       }},
      {"weights: wrong shape",
       [] {
         chain().set_weights({data({2, 2}), data({4}), data({4, 2}), data({2})});
       },
       Match::substrings,
       {"(3, 4)", "(2, 2)"}},
      {"embedding: rank of weights",
       [] {
         const Embedding layer({.input_dim = 3, .output_dim = 2});
         layer(ones({2, 3}));
         layer->set_weights({data({4, 2})});
       },
       Match::substrings,
       {"embedding", "(3, 2)", "(4, 2)"}},
      {"constraint: unknown",
       [] { Dense({.units = 3, .kernel_constraint = "missing"}); },
       Match::substrings,
       {"missing"}},
      {"regularizer: unknown",
       [] { Dense({.units = 3, .kernel_regularizer = "missing"}); },
       Match::substrings,
       {"missing"}},
      {"regularizer: not a number",
       [] {
         Regularizer::from_json(
             Json::Object{{"class_name", "L2"},
                          {"config", O{{"l2", std::numeric_limits<double>::quiet_NaN()}}}});
       },
       Match::all},
      {"initializer: identity of three axes",
       [] {
         Initializer("identity")({2, 2, 2}, DType::f32, 0);
       },
       Match::substrings,
       {"2"}},
      {"initializer: orthogonal vector",
       [] { Initializer("orthogonal")({3}, DType::f32, 0); },
       Match::substrings,
       {"two"}},
      {"initializer: scale",
       [] {
         const Initializer negative(
             Json::Object{{"class_name", "VarianceScaling"}, {"config", O{{"scale", -1.0}}}});
         negative({2, 2}, DType::f32, 0);
       },
       Match::beginning},
      {"weight: another shape",
       [] {
         const Dense layer({.units = 3});
         layer->ensure_built({{unknown, 4}});
         layer->weights()[0].assign(data({2, 2}));
       },
       Match::substrings,
       {"dense/kernel", "[4,3]", "[2,2]"}},
  };
}

}  // namespace keratin::errors

#include "workload.h"

namespace keratin::bench {

using namespace layers;

namespace {

constexpr int64_t layer_count = 12, width = 768, heads = 12, hidden = 3072, words = 30522,
                  steps = 128;

}  // namespace

// BERT-base with a classification head over the first word: 12 layers, 768 wide, 12 heads, gelu of
// 3072, learned positions, normalisation after each block, dropout 0.1 of what blocks give (not of
// the attention's shares); batch 32 x 128.
Workload bert(const DTypePolicy& policy) {
  const LayerOptions by{.dtype = policy};
  const auto normalised = [&](const Symbols& x) {
    return LayerNormalization({.epsilon = 1e-12}, by)(x);
  };
  const auto dropped = [&](const Symbols& x) { return Dropout({.rate = 0.1}, by)(x); };
  const auto tokens = Input({.shape = {steps}, .dtype = DType::i32});
  const auto positions = Lambda([](Value x) {
    return ops::iota(x.block(), DType::i32, {1, steps}, 1);
  })(tokens);
  SymbolicTensor x = dropped(
      normalised(Add({}, by)({Embedding({.input_dim = words, .output_dim = width}, by)(tokens),
                              Embedding({.input_dim = 512, .output_dim = width}, by)(positions)})));
  for (int64_t i = 0; i < layer_count; ++i) {
    const Symbols attended =
        MultiHeadAttention({.num_heads = heads, .key_dim = width / heads}, by)(x, x);
    x = normalised(Add({}, by)({x, dropped(attended)}));
    const Symbols wide = Dense({.units = hidden, .activation = "gelu"}, by)(x);
    x = normalised(Add({}, by)({x, dropped(Dense({.units = width}, by)(wide))}));
  }
  const auto first = Lambda([](Value v) {
    return ops::reshape(ops::slice_axis(v, 1, 0, 1), {v.shape()[0], width});
  });
  const Symbols pooled = Dense({.units = width, .activation = "tanh"}, by)(first(x));
  const Symbols logits = Dense({.units = 2}, by)(dropped(pooled));
  return {"bert",
          Model({.inputs = tokens, .outputs = logits}),
          classes_of_logits(),
          random(DType::i32, {32, steps}, words),
          random(DType::i32, {32}, 2),
          random(DType::i32, {1, steps}, words),
          100};
}

}  // namespace keratin::bench

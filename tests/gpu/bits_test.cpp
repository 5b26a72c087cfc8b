#include "gpu_testing.h"
#include "keratin/base/text.h"
#include "keratin/keratin.h"
#include "keratin/train/trainer.h"

// The same bits from run to run and from program to program, at sizes where sums are cut into
// parts.
namespace keratin::testing {
namespace {

using namespace keratin::layers;

class BitsOnGpu : public OnGpu {};

// With TF32 and without, in two programs that know nothing of each other.
void expect_same_bits(const Inputs& inputs, const Build& build, const std::string& what) {
  const auto data = data_for(inputs);
  for (const bool tf32 : {true, false}) {
    const EngineOptions gpu{.backend = "cuda", .tf32 = tf32};
    const auto once = run_often(program(inputs, build, gpu), data, what);
    EXPECT_TRUE(run_often(program(inputs, build, gpu), data, what) == once)
        << what << ", made anew";
  }
}

TEST_F(BitsOnGpu, OfProducts) {
  const auto product = [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; };
  expect_same_bits({numbers({4096, 4096}), numbers({4096, 4096})}, product, "a large product");
  expect_same_bits({numbers({48, 200000}), numbers({200000, 40})}, product, "a deep product");
  expect_same_bits({numbers({48, 200000}, DType::bf16), numbers({200000, 40}, DType::bf16)},
                   product, "a deep product of bf16");
}

TEST_F(BitsOnGpu, OfConvolutionsAndTheirGradients) {
  for (DType dtype : {DType::f32, DType::bf16})
    expect_same_bits({numbers({16, 56, 56, 64}, dtype), numbers({3, 3, 64, 64}, dtype)},
                     with_gradients([](const Values& v) {
                       return Values{ops::conv(v[0], v[1], {.padding = "same"})};
                     }),
                     text("a convolution of ", dtype));
}

TEST_F(BitsOnGpu, OfSumsAndScatters) {
  expect_same_bits(
      {numbers({3, 700000}), numbers({700000, 3}), numbers({50, 64}), indices({20000}, 50)},
      [](const Values& v) {
        const Value rows = ops::take(v[2], v[3], 0);
        return Values{ops::sum(v[0], {1}), ops::sum(v[1], {0}),
                      ops::scatter_add(v[2], v[3], ops::tanh(rows), 0)};
      },
      "sums and scatters");
}

// One layer of a transformer, with dropout.
Model transformer() {
  constexpr int64_t width = 128, heads = 4;
  const SymbolicTensor x = keratin::Input({96, width});
  const SymbolicTensor seen = Dropout({.rate = 0.1})(
      MultiHeadAttention({.num_heads = heads, .key_dim = width / heads})(x, x));
  const SymbolicTensor middle = LayerNormalization()(Add()({x, seen}));
  const SymbolicTensor wide = Dense({.units = 4 * width, .activation = "gelu"})(middle);
  const SymbolicTensor y = LayerNormalization()(Add()({middle, Dense({.units = width})(wide)}));
  return Model({.inputs = x, .outputs = Dense({.units = 10})(GlobalAveragePooling1D()(y))});
}

std::vector<Tensor> learnt_weights(bool tf32) {
  set_random_seed(7);
  Model model = transformer();
  model.compile({.optimizer = Adam({.learning_rate = 1e-3}),
                 .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                 .engine = {.backend = "cuda", .tf32 = tf32}});
  const Tensor x = random_tensor({DType::f32, {32, 96, 128}}, -1, 1, 3);
  const Tensor y = random_tensor({DType::i32, {32}}, 0, 10, 4);
  for (int i = 0; i < 6; ++i) model.trainer().train({.x = x, .y = y});
  std::vector<Tensor> weights;
  for (const Tensor& weight : model.get_weights()) weights.push_back(weight.clone());
  return weights;
}

TEST_F(BitsOnGpu, OfATransformerThatLearns) {
  for (const bool tf32 : {true, false}) {
    const auto once = learnt_weights(tf32);
    EXPECT_TRUE(learnt_weights(tf32) == once) << "another model, other bits";
  }
}

}  // namespace
}  // namespace keratin::testing

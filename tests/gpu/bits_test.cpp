#include "gpu_testing.h"
#include "keratin/base/text.h"
#include "keratin/keratin.h"
#include "keratin/train/trainer.h"

// Tests that runs and programs give the same bits, at sizes where sums are split into chunks.
namespace keratin::testing {
namespace {

using namespace keratin::layers;

class BitsOnGpu : public OnGpu {};

// Compares two programs, with TF32 and without.
void expect_same_bits(const Inputs& inputs, const Build& build, const std::string& what) {
  const auto data = data_for(inputs);
  for (const bool tf32 : {true, false}) {
    const EngineOptions gpu{.backend = "cuda", .tf32 = tf32};
    const auto once = run_often(program(inputs, build, gpu), data, what);
    EXPECT_TRUE(run_often(program(inputs, build, gpu), data, what) == once)
        << what << ", compiled again";
  }
}

TEST_F(BitsOnGpu, AreTheSameForMatmuls) {
  const auto matmul = [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; };
  expect_same_bits({numbers({4096, 4096}), numbers({4096, 4096})}, matmul, "a large matmul");
  expect_same_bits({numbers({48, 200000}), numbers({200000, 40})}, matmul, "a deep matmul");
  expect_same_bits({numbers({48, 200000}, DType::bf16), numbers({200000, 40}, DType::bf16)}, matmul,
                   "a deep matmul of bf16");
}

TEST_F(BitsOnGpu, AreTheSameForConvolutionsAndGradients) {
  for (DType dtype : {DType::f32, DType::bf16})
    expect_same_bits({numbers({16, 56, 56, 64}, dtype), numbers({3, 3, 64, 64}, dtype)},
                     with_gradients([](const Values& v) {
                       return Values{ops::conv(v[0], v[1], {.padding = "same"})};
                     }),
                     text("a convolution of ", dtype));
}

TEST_F(BitsOnGpu, AreTheSameForSumsAndScatters) {
  expect_same_bits(
      {numbers({3, 700000}), numbers({700000, 3}), numbers({50, 64}), indices({20000}, 50)},
      [](const Values& v) {
        const Value rows = ops::take(v[2], v[3], 0);
        return Values{ops::sum(v[0], {1}), ops::sum(v[1], {0}),
                      ops::scatter_add(v[2], v[3], ops::tanh(rows), 0)};
      },
      "sums and scatters");
}

// A transformer layer with dropout.
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

TEST_F(BitsOnGpu, AreTheSameForTraining) {
  for (const bool tf32 : {true, false}) {
    const auto once = learnt_weights(tf32);
    EXPECT_TRUE(learnt_weights(tf32) == once) << "two models give different bits";
  }
}

}  // namespace
}  // namespace keratin::testing

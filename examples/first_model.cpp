// README's program: a recurrent network on sentences of different lengths.
#include <keratin/keratin.h>

#include <iostream>
using namespace keratin;

int main() {
  const auto tokens = Input({.shape = {6}, .dtype = DType::i32, .name = "tokens"});
  auto h = Embedding({.input_dim = 50, .output_dim = 8, .mask_zero = true})(tokens);
  h = LSTM({.units = 16})(h);
  Model model({.inputs = tokens, .outputs = Dense({.units = 1, .activation = "sigmoid"})(h)});

  // Sentences of up to six words, padded with 0: does word 7 occur?
  Tensor x = Tensor::zeros(DType::i32, {200, 6}), y(DType::f32, {200, 1});
  for (int64_t row = 0; row < 200; ++row) {
    const int64_t length = 1 + row % 6;
    for (int64_t i = 0; i < length; ++i) x.set(6 * row + i, 1 + (row * 31 + i * 17) % 49);
    if (row % 2 == 0) x.set(6 * row + row % length, 7);
    y.set(row, 0);
    for (int64_t i = 0; i < length; ++i)
      if (x.at(6 * row + i) == 7) y.set(row, 1);
  }

  model.compile({.optimizer = Adam({.learning_rate = 0.02}),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy"}});
  const History history = model.fit(x, y, {.epochs = 15, .verbose = 2});
  std::cout << "learnt: " << history["accuracy"].back() << '\n';
  model.save("words.keras");  // Python opens it, and load_model("words.keras") here
}

// README's program: a recurrent network on sentences of different lengths.
#include <keratin/keratin.h>

#include <iostream>
#include <random>
using namespace keratin;

int main() {
  const auto tokens = Input({.shape = {6}, .dtype = DType::i32, .name = "tokens"});
  auto h = Embedding({.input_dim = 50, .output_dim = 8, .mask_zero = true})(tokens);
  h = LSTM({.units = 16})(h);
  Model model({.inputs = tokens, .outputs = Dense({.units = 1, .activation = "sigmoid"})(h)});

  // Sentences of up to six words, padded with 0: does word 7 occur?
  Tensor x = Tensor::zeros(DType::i32, {200, 6}), y = Tensor::zeros(DType::f32, {200, 1});
  std::mt19937 random(1);
  for (int row = 0; row < 200; ++row) {
    const auto length = 1 + random() % 6;
    for (unsigned word = 0; word < length; ++word) x(row, word) = 8 + random() % 42;
    if (row % 2 == 0) {
      x(row, random() % length) = 7;
      y(row, 0) = 1;
    }
  }

  model.compile({.optimizer = Adam({.learning_rate = 0.02}),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy"}});
  const History history = model.fit(x, y, {.epochs = 15, .verbose = 2});
  std::cout << "learnt: " << history["accuracy"].back() << '\n';

  const Tensor answers = model.predict(Tensor({{12, 7, 30, 0, 0, 0}, {12, 9, 30, 0, 0, 0}}));
  std::cout << answers << '\n';  // two rows: close to 1, and close to 0
  model.save("words.keras");     // Python opens it, and load_model("words.keras") here
}

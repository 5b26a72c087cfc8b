// Lesson 3: sequences of different lengths are padded, and masks say what is padding. They flow
// beside the tensors, into recurrent layers, losses and metrics.
#include <keratin/keratin.h>

#include <iostream>

#include "example.h"

using namespace keratin;

int main() {
  set_random_seed(3);
  constexpr int64_t rows = 256, steps = 8, words = 20;
  // Each word is tagged by whether it is larger than the one before it.
  Tensor x = Tensor::zeros(DType::i32, {rows, steps}), y = Tensor::zeros(DType::i32, {rows, steps});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < 2 + row % (steps - 1); ++i) {
      x.set(steps * row + i,
            static_cast<double>(1 + (row * 7 + i * i * 5 + i * row) % (words - 1)));
      if (i > 0) y.set(steps * row + i, x.at(steps * row + i) > x.at(steps * row + i - 1) ? 1 : 0);
    }

  const auto tokens = Input({.shape = {steps}, .dtype = DType::i32, .name = "tokens"});
  auto h = Embedding({.input_dim = words, .output_dim = 16, .mask_zero = true})(tokens);
  h = GRU({.units = 32, .return_sequences = true})(h);
  Model model({.inputs = tokens, .outputs = Dense({.units = 2, .activation = "softmax"})(h)});
  model.compile({.optimizer = Adam({.learning_rate = 0.01}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const History history = model.fit(x, y, {.epochs = 25, .verbose = 2});
  require(history["accuracy"].back() > 0.9, "the lesson should have been learnt");

  // What stands behind the end changes nothing: the mask of the output says where it is.
  const RunResult result = model.run(x);
  std::cout << "mask of the first sequences: "
            << *model
                    .run(Tensor::of<int>(DType::i32, {2, steps},
                                         {5, 9, 0, 0, 0, 0, 0, 0,  //
                                          1, 2, 3, 4, 5, 6, 0, 0}))
                    .masks[0]
            << '\n';
  require(result.masks[0].has_value(), "the mask reaches the output");
}

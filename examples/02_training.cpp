// Lesson 2: compile says how a model learns, fit lets it learn, evaluate and predict use it.
#include <keratin/keratin.h>

#include <iostream>

#include "example.h"

using namespace keratin;

int main(int argc, char** argv) {
  require(argc == 2, "usage: 02_training digits.csv");
  set_random_seed(7);  // initial weights, dropout and shuffling all follow from it

  // 1797 pictures of 8 × 8 pixels from 0 to 16, and the digit each shows.
  const Tensor table = read_csv(argv[1], {.header = false}).values;
  const int64_t rows = table.shape()[0];
  Tensor images(DType::f32, {rows, 8, 8, 1}), labels(DType::i32, {rows});
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < 64; ++i) images.set(64 * row + i, table.at(65 * row + i) / 16);
    labels.set(row, table.at(65 * row + 64));
  }

  Sequential model({Conv2D({.filters = 16, .kernel_size = {3, 3}, .activation = "relu"}),
                    MaxPooling2D({.pool_size = {2, 2}}), Flatten(), Dropout({.rate = 0.25}),
                    Dense({.units = 10, .activation = "softmax"})});
  model.compile({.optimizer = Adam({.learning_rate = 3e-3}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const History history =
      model.fit(images, labels,
                {.batch_size = 64,
                 .epochs = 25,
                 .callbacks = {EarlyStopping({.patience = 3, .restore_best_weights = true}),
                               ReduceLROnPlateau({.factor = 0.5, .patience = 2})},
                 .validation_split = 0.2});

  const Logs result = model.evaluate(images, labels, {.verbose = 0});
  std::cout << "accuracy on all pictures: " << result.at("accuracy") << '\n';
  const Tensor guess = model.predict(images);
  int64_t best = 0;
  for (int64_t digit = 1; digit < 10; ++digit)
    if (guess.at(digit) > guess.at(best)) best = digit;
  std::cout << "the first picture shows " << labels.at(0) << ", the model says " << best << '\n';
  require(history["val_accuracy"].back() > 0.9, "the lesson should have been learnt");
}

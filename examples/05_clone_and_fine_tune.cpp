// Lesson 5: clone a model, freeze what it knows, and teach the copy something new. The original
// stays as it was.
#include <keratin/keratin.h>

#include <cmath>
#include <iostream>

#include "example.h"

using namespace keratin;

int main() {
  set_random_seed(5);
  Tensor x(DType::f32, {200, 4}), sums(DType::f32, {200, 1}), products(DType::f32, {200, 1});
  for (int64_t row = 0; row < 200; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 4; ++i) {
      x.set(4 * row + i, static_cast<double>((row * 13 + i * 29) % 37) / 18 - 1);
      sum += x.at(4 * row + i);
    }
    sums.set(row, std::sin(sum));
    products.set(row, 2 * std::sin(sum) - 0.5);
  }

  const auto in = Input({.shape = {4}, .name = "in"});
  const auto features = Dense({.units = 32, .activation = "tanh"}, "features")(in);
  Model teacher({.inputs = in, .outputs = Dense({.units = 1}, "head")(features)});
  teacher.compile({.optimizer = Adam({.learning_rate = 0.02}), .loss = "mse"});
  teacher.fit(x, sums, {.epochs = 60, .verbose = 0});
  const std::vector<Tensor> before = teacher.get_weights();

  Model student = clone_model(teacher, {.copy_weights = true, .name = "student"});
  student.get_layer("features")->set_trainable(false);
  student.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
  const double at_first = student.evaluate(x, products, {.verbose = 0}).at("loss");
  student.fit(x, products, {.epochs = 40, .verbose = 0});
  const double at_last = student.evaluate(x, products, {.verbose = 0}).at("loss");

  summary(student);
  std::cout << "loss before and after fine-tuning: " << at_first << ", " << at_last << '\n';
  require(at_last < at_first / 10, "the head should have learnt");
  require(teacher.get_weights() == before, "the teacher stays as it was");
  require(student.get_weights()[0] == before[0], "what is frozen stays as it was");
}

// Lesson 6: layers on devices, and one model on several of them. The devices here are parts of the
// processor that answer to the names of GPUs, because the program says so.
#include <keratin/keratin.h>

#include <cmath>
#include <fstream>
#include <iostream>

#include "example.h"

using namespace keratin;

namespace {

double largest_difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t k = 0; k < a[i].count(); ++k)
      most = std::max(most, std::abs(a[i].at(k) - b[i].at(k)));
  return most;
}

}  // namespace

int main() {
  set_random_seed(6);
  set_logical_devices("gpu", 3);
  Tensor x(DType::f32, {96, 4}), y(DType::f32, {96, 1});
  for (int64_t row = 0; row < 96; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 4; ++i) {
      x.set(4 * row + i, static_cast<double>((row * 13 + i * 29) % 37) / 18 - 1);
      sum += x.at(4 * row + i);
    }
    y.set(row, std::sin(sum));
  }

  // What is made in a scope lives there: the weights of `first` are on gpu:0, and it runs there.
  const auto in = Input({.shape = {4}, .name = "in"});
  SymbolicTensor hidden;
  {
    const auto scope = device_scope("gpu:0");
    hidden = Dense({.units = 16, .activation = "tanh"}, "first")(in);
  }
  const Model model({.inputs = in, .outputs = Dense({.units = 1}, "last")(hidden)});
  model.predict(x);
  for (const Variable& v : model.weights()) std::cout << v.path() << " on " << v.device() << '\n';
  std::cout << "in use on gpu:0: " << memory_use(Device("gpu:0")).used << " bytes\n\n";

  // A batch of 32 becomes slices of 10, 10 and 12 samples. The weights move to cpu:0 and stay the
  // model's: what is trained is the model.
  Model alone = clone_model(model, {.copy_weights = true});
  Model parallel = multi_gpu_model(model, {.gpus = 3, .cpu_relocation = true});
  for (Model* one : {&alone, &parallel}) {
    one->compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
    one->fit(x, y, {.epochs = 20, .verbose = 0, .shuffle = false});
  }
  const double apart = largest_difference(model.get_weights(), alone.get_weights());
  std::cout << "after 60 steps the weights differ from those of one device by " << apart << '\n';
  require(apart < 1e-5, "replicas should learn what one device does");

  const Executable& program = parallel.program(x)->executable();
  std::cout << "\nthe plan of a prediction:\n" << program.describe();
  std::ofstream("06_plan.svg") << plan_to_svg(program);

  // A file of the parallel model is a file of the model.
  parallel.save("06_model.keras");
  require(load_model("06_model.keras").predict(x).leaf() == model.predict(x).leaf(),
          "a file should give the same numbers");
}

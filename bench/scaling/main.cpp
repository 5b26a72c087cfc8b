// keratin_scaling [ROUNDS]: measures how training scales with devices that have one thread each.
//
// Three configurations take turns, so that disturbances affect all of them: one device, several
// devices at a time, and several devices that share one processor, which shows the cost of
// splitting.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "keratin/base/text.h"
#include "keratin/keratin.h"

namespace {

using namespace keratin;

constexpr int64_t batch = 256;

struct Workload {
  const char* name;
  Model (*make)();
  Shape sample;
};

Model mlp() {
  const auto x = Input({784});
  Symbols y = Dense({.units = 512, .activation = "relu"})(x);
  y = Dense({.units = 512, .activation = "relu"})(y);
  return Model({.inputs = x, .outputs = Dense({.units = 10})(y)});
}

Model convnet() {
  const auto x = Input({28, 28, 1});
  Symbols y = Conv2D({.filters = 32, .kernel_size = {3, 3}, .activation = "relu"})(x);
  y = MaxPooling2D({.pool_size = {2, 2}})(y);
  y = Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = "relu"})(y);
  y = MaxPooling2D({.pool_size = {2, 2}})(y);
  y = Dropout({.rate = 0.5})(Flatten()(y));
  return Model({.inputs = x, .outputs = Dense({.units = 10})(y)});
}

Tensor noise(Shape shape, int64_t below) {
  Tensor t = Tensor::zeros(below > 0 ? DType::i32 : DType::f32, shape);
  uint32_t state = 1;
  for (int64_t i = 0; i < t.count(); ++i) {
    state = state * 1664525U + 1013904223U;
    if (below > 0)
      t.data<int32_t>()[i] = static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(below));
    else
      t.data<float>()[i] = static_cast<float>(state >> 8) * 0x1p-24F;
  }
  return t;
}

class Learner {
 public:
  Learner(const Workload& workload, int devices, int threads, bool mirror = false)
      : model_(workload.make()) {
    set_random_seed(1);
    if (devices > 1) {
      std::vector<std::string> names;
      for (int i = 0; i < devices; ++i) names.push_back(text("cpu:", i));
      model_ = distribute::distribute(
          model_, distribute::DataParallel({.devices = names, .mirror_variables = mirror}));
    }
    model_.compile({.optimizer = Adam(),
                    .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                    .engine = {.threads = threads}});
    Dims dims{batch};
    dims.insert(dims.end(), workload.sample.begin(), workload.sample.end());
    x_ = noise(Shape(dims), 0);
    y_ = noise({batch}, 10);
  }

  // The milliseconds of a step: the best of 200 ms.
  double measure() {
    double best = 1e9;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) {
      const auto start = std::chrono::steady_clock::now();
      model_.train_on_batch(x_, y_);
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  }

 private:
  Model model_;
  Tensor x_, y_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  constexpr int devices = 2;
  set_logical_devices("cpu", devices);
  std::printf(
      "Training steps with batches of %ld, in milliseconds. Devices have one thread each. Medians "
      "of"
      " %d rounds.\n\n",
      static_cast<long>(batch), rounds);
  std::printf(
      "| model | variables | one device | two devices | speedup | two on one thread | overhead |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const Workload& workload :
       {Workload{"mlp 784-512-512-10", mlp, {784}}, Workload{"convnet", convnet, {28, 28, 1}}}) {
    for (const bool mirror : {false, true}) {
      Learner one(workload, 1, 1), two(workload, devices, devices, mirror),
          in_turn(workload, devices, 1, mirror);
      std::vector<double> alone, together, on_one, speedup, overhead;
      for (int round = 0; round < rounds + 1; ++round) {
        const double a = one.measure(), b = two.measure(), c = in_turn.measure();
        if (round == 0) continue;  // the first round warms up
        alone.push_back(a);
        together.push_back(b);
        on_one.push_back(c);
        speedup.push_back(a / b);
        overhead.push_back(c / a - 1);
      }
      std::printf("| %s | %s | %.2f | %.2f | %.2fx | %.2f | %.1f %% |\n", workload.name,
                  mirror ? "mirrored" : "one owner", median(alone), median(together),
                  median(speedup), median(on_one), 100 * median(overhead));
    }
  }
}

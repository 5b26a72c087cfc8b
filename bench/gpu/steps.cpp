// keratin_gpu_steps [--plan]: the time of one training step on the GPU, batch and loss included.
//
// A step takes a batch from the host's memory, trains on it and brings the loss back; the median of
// many is printed, one line per model, as JSON. With --plan the steps of each program are listed
// with the time each takes when it runs alone.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>

#include "keratin/keratin.h"
#include "keratin/train/trainer.h"

namespace {

using namespace keratin;
using namespace keratin::layers;

Tensor random(DType dtype, const Shape& shape, int64_t below) {
  Tensor t(dtype, shape);
  uint64_t state = 88172645463325252ULL;
  for (int64_t i = 0; i < t.count(); ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    t.set(i, below > 0 ? static_cast<double>(state % static_cast<uint64_t>(below))
                       : static_cast<double>(state >> 11) * 0x1p-53);
  }
  return t;
}

struct Workload {
  std::string name;
  Model model;
  Tensor x, y;
};

Workload mlp() {
  return {"mlp",
          Sequential({Dense({.units = 512, .activation = "relu"}),
                      Dense({.units = 512, .activation = "relu"}), Dense({.units = 10})}),
          random(DType::f32, {128, 784}, 0), random(DType::i32, {128}, 10)};
}

Workload convnet() {
  return {"convnet",
          Sequential({Conv2D({.filters = 32, .kernel_size = {3, 3}, .activation = "relu"}),
                      MaxPooling2D({.pool_size = {2, 2}}),
                      Conv2D({.filters = 64, .kernel_size = {3, 3}, .activation = "relu"}),
                      MaxPooling2D({.pool_size = {2, 2}}), Flatten(), Dropout({.rate = 0.5}),
                      Dense({.units = 10})}),
          random(DType::f32, {128, 28, 28, 1}, 0), random(DType::i32, {128}, 10)};
}

double median_ms(Trainer& trainer, const Batch& batch, int runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> ms;
  for (int i = 0; i < runs; ++i) {
    const auto before = Clock::now();
    trainer.train(batch);
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  }
  std::nth_element(ms.begin(), ms.begin() + runs / 2, ms.end());
  return ms[static_cast<size_t>(runs) / 2];
}

void measure(Workload w, bool plan) {
  w.model.compile({.optimizer = Adam({.learning_rate = 1e-3}),
                   .loss = losses::SparseCategoricalCrossentropy{.from_logits = true},
                   .engine = {.backend = "cuda"}});
  Trainer& trainer = w.model.trainer();
  const Batch batch{.x = w.x, .y = w.y};
  const auto before = std::chrono::steady_clock::now();
  trainer.train(batch);
  const double first = trainer.logs().at("loss");
  const std::chrono::duration<double> compiled = std::chrono::steady_clock::now() - before;
  median_ms(trainer, batch, 50);
  const double ms = median_ms(trainer, batch, 500);
  std::cout << "{\"model\": \"" << w.name << "\", \"ms\": " << ms
            << ", \"first_step_s\": " << compiled.count() << ", \"loss\": [" << first << ", "
            << trainer.logs().at("loss") << "]}\n";
  if (!plan) return;
  double total = 0;
  for (const auto& step : trainer.profile(batch, 50)) {
    std::cout << "  " << step.ms << " ms  " << step.step << '\n';
    total += step.ms;
  }
  std::cout << "  " << total << " ms in all, each step alone\n";
}

}  // namespace

int main(int count, char** arguments) {
  const bool plan = count > 1 && std::strcmp(arguments[1], "--plan") == 0;
  try {
    for (const Workload& w : {mlp(), convnet()}) measure(w, plan);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

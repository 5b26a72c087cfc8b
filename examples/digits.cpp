// Learns the 8×8 handwritten digits with a small network written directly in ops. One compiled
// program is the whole training step: forward, loss, gradients and Adam.
#include <keratin/keratin.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <random>
#include <sstream>

#include "example.h"

using namespace keratin;

namespace {

constexpr int64_t pixels = 64, classes = 10, batch = 32, epochs = 40;
constexpr size_t held_out = 360;
const Dims layer_sizes = {pixels, 256, 128, classes};

struct Digits {
  std::vector<float> images;  // 64 pixels each, from 0 to 1
  std::vector<int64_t> labels;
  size_t count() const { return labels.size(); }
};

Digits read_digits(const std::string& path) {
  std::ifstream file(path);
  require(file.good(), "digits: cannot open ", path);
  Digits digits;
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string cell;
    for (int64_t i = 0; i < pixels && std::getline(row, cell, ','); ++i)
      digits.images.push_back(std::stof(cell) / 16);
    std::getline(row, cell);
    digits.labels.push_back(std::stoll(cell));
  }
  return digits;
}

// The rows named by `order`, as tensors.
std::pair<Tensor, Tensor> take(const Digits& digits, std::span<const size_t> order) {
  const auto count = static_cast<int64_t>(order.size());
  Tensor images(DType::f32, {count, pixels}), labels(DType::i64, {count});
  for (size_t i = 0; i < order.size(); ++i) {
    std::copy_n(digits.images.begin() + static_cast<int64_t>(order[i]) * pixels, pixels,
                images.data<float>().begin() + static_cast<int64_t>(i) * pixels);
    labels.data<int64_t>()[i] = digits.labels[order[i]];
  }
  return {images, labels};
}

// Weights with Glorot's range and zero biases, one pair per layer.
std::vector<Tensor> initial_parameters(std::mt19937& random) {
  std::vector<Tensor> parameters;
  for (size_t layer = 0; layer + 1 < layer_sizes.size(); ++layer) {
    const int64_t in = layer_sizes[layer], out = layer_sizes[layer + 1];
    Tensor weights(DType::f32, {in, out});
    const double limit = std::sqrt(6.0 / static_cast<double>(in + out));
    for (float& w : weights.data<float>()) w = static_cast<float>((random() * 0x1p-31 - 1) * limit);
    parameters.push_back(weights);
    parameters.push_back(Tensor::zeros(DType::f32, {out}));
  }
  return parameters;
}

Value logits_of(Value x, const Values& parameters) {
  for (size_t i = 0; i < parameters.size(); i += 2) {
    x = ops::matmul(x, parameters[i]) + parameters[i + 1];
    if (i + 2 < parameters.size()) x = ops::relu(x);
  }
  return x;
}

// mean(log Σ exp(logits) - logits[label])
Value cross_entropy(Value logits, Value labels) {
  const Value digit = ops::iota(logits.block(), DType::i64, {1, classes}, 1);
  const Value chosen = ops::cast(ops::equal(digit, ops::expand_dims(labels, 1)), DType::f32);
  return ops::mean(ops::logsumexp(logits, {1}) - ops::sum(logits * chosen, {1}));
}

// One step of Adam for every parameter: m and v follow the gradient and its square.
void adam(Module& module, const Values& parameters, const Values& gradients) {
  const double rate = 2e-3, beta1 = 0.9, beta2 = 0.999;
  const Value count = module.state({DType::f32, {}}, "count");
  const Value next = count + 1.0;
  module.update(count, next);
  const auto power = [&](double beta) { return ops::exp(next * std::log(beta)); };
  const Value scale = ops::sqrt(1.0 - power(beta2)) / (1.0 - power(beta1)) * rate;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Value m = module.state(parameters[i].type(), text("m", i));
    const Value v = module.state(parameters[i].type(), text("v", i));
    const Value new_m = m * beta1 + gradients[i] * (1 - beta1);
    const Value new_v = v * beta2 + ops::square(gradients[i]) * (1 - beta2);
    module.update(m, new_m);
    module.update(v, new_v);
    module.update(parameters[i], parameters[i] - scale * new_m / (ops::sqrt(new_v) + 1e-7));
  }
}

Values declare(Module& module, const std::vector<Tensor>& parameters) {
  Values values;
  for (const Tensor& p : parameters)
    values.push_back(module.state({p.dtype(), p.shape()}, text("p", values.size())));
  return values;
}

Executable training_step(const std::vector<Tensor>& parameters) {
  Module module;
  const Value x = module.input({DType::f32, {batch, pixels}}, "images");
  const Value labels = module.input({DType::i64, {batch}}, "labels");
  const Values p = declare(module, parameters);
  const Value loss = cross_entropy(logits_of(x, p), labels);
  module.output(loss);
  adam(module, p, gradients(loss, p));
  return compile(std::move(module));
}

Executable accuracy_of(const std::vector<Tensor>& parameters) {
  Module module;
  const Value x = module.input({DType::f32, {held_out, pixels}}, "images");
  const Value labels = module.input({DType::i64, {held_out}}, "labels");
  const Value guesses = ops::argmax(logits_of(x, declare(module, parameters)), 1);
  module.output(ops::mean(ops::cast(ops::equal(guesses, labels), DType::f32)));
  return compile(std::move(module));
}

void show_progress(int64_t epoch, double loss, double accuracy, double seconds) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  if (!terminal && epoch % 10 != 0) return;
  const auto done = static_cast<size_t>(30 * epoch / epochs);
  std::cout << (terminal ? "\r" : "") << "Epoch " << std::setw(2) << epoch << '/' << epochs << " ["
            << std::string(done, '=') << std::string(30 - done, '.') << "] " << std::fixed
            << std::setprecision(1) << seconds << "s - loss: " << std::setprecision(4) << loss
            << " - held-out accuracy: " << accuracy
            << (terminal && epoch < epochs ? std::string() : "\n") << std::flush;
}

double train(const Digits& digits) {
  std::mt19937 random(7);
  std::vector<size_t> order(digits.count());
  std::iota(order.begin(), order.end(), 0);
  const auto shuffle = [&](std::span<size_t> range) {
    for (size_t i = range.size(); i > 1; --i) std::swap(range[i - 1], range[random() % i]);
  };
  shuffle(order);
  const std::span<size_t> learnt = std::span(order).subspan(held_out);
  const auto [test_images, test_labels] = take(digits, std::span(order).first(held_out));

  const std::vector<Tensor> parameters = initial_parameters(random);
  const Executable step = training_step(parameters), accuracy = accuracy_of(parameters);
  std::cout << "The compiled step: " << step.steps() << " steps, " << step.arena_bytes()
            << " bytes of working memory, " << std::fixed << std::setprecision(2)
            << step.flops() / 1e6 << " MFLOP\n"
            << step.describe() << '\n';

  // The order of declaration: parameters, count, then m and v of each parameter.
  std::vector<Tensor> state = parameters;
  state.push_back(Tensor::zeros(DType::f32, {}));
  for (const Tensor& p : parameters)
    for (int slot = 0; slot < 2; ++slot) state.push_back(Tensor::zeros(DType::f32, p.shape()));

  const auto with = [](const Tensor& images, const Tensor& labels, std::vector<Tensor> rest) {
    rest.insert(rest.begin(), {images, labels});
    return rest;
  };
  const auto start = std::chrono::steady_clock::now();
  double right = 0;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    shuffle(learnt);
    double loss = 0;
    const size_t steps = learnt.size() / batch;
    for (size_t i = 0; i < steps; ++i) {
      const auto [images, labels] = take(digits, learnt.subspan(i * batch, batch));
      loss += step(with(images, labels, state))[0].at(0) / static_cast<double>(steps);
    }
    right = accuracy(with(test_images, test_labels, parameters))[0].at(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    show_progress(epoch, loss, right, took.count());
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: digits FILE.csv");
    const double right = train(read_digits(argv[1]));
    std::cout << "Held-out accuracy after " << epochs << " epochs: " << std::setprecision(2)
              << 100 * right << " %\n";
    require(right >= 0.97, "digits: expected at least 97 %");
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

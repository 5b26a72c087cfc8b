// How it ended: the model that Keras could not clone is cloned, relocated, replicated, trained, and
// proven equal to one device. Writes model.keras, loss.svg and placed.svg.
#include <keratin/keratin.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <set>
#include <thread>

#include "example.h"

using namespace keratin;

namespace {

constexpr int64_t samples = 512, features = 8;

// Input → Lambda of two outputs → Add, as in the report, between layers that learn.
Model reported() {
  const auto x = Input({.shape = {features}, .name = "x"});
  const auto wide = Dense({.units = 64, .activation = "tanh"}, "wide")(x);
  const auto twice = Lambda([](Value v) -> Values { return {v, v * v}; }, {.name = "two_outputs"});
  const auto [plain, squared] = twice(wide).unpack<2>();
  const auto sum = Add({}, "sum")({plain, squared});
  return Model({.inputs = x, .outputs = Dense({.units = 1}, "score")(sum), .name = "reported"});
}

std::pair<Tensor, Tensor> data() {
  Tensor x(DType::f32, {samples, features}), y(DType::f32, {samples, 1});
  for (int64_t row = 0; row < samples; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < features; ++i) {
      const double value = static_cast<double>((row * 31 + i * 17) % 101) / 50 - 1;
      x.set(row * features + i, value);
      sum += value * static_cast<double>(i % 3 - 1);
    }
    y.set(row, std::sin(sum) + 0.3 * sum * sum);
  }
  return {x, y};
}

double largest_difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t k = 0; k < a[i].count(); ++k)
      most = std::max(most, std::abs(a[i].at(k) - b[i].at(k)));
  return most;
}

// Two curves over the epochs, on a logarithmic scale; equal ones cover each other.
std::string curves_svg(const std::vector<double>& one, const std::vector<double>& many) {
  const double width = 480, height = 280, margin = 40;
  double low = one[0], high = one[0];
  for (const double loss : one) low = std::min(low, loss), high = std::max(high, loss);
  const auto line = [&](const std::vector<double>& losses, const char* style) {
    std::string points;
    for (size_t i = 0; i < losses.size(); ++i)
      points += text(
          margin + (width - 2 * margin) * static_cast<double>(i) /
                       static_cast<double>(losses.size() - 1),
          ',', margin + (height - 2 * margin) * std::log(high / losses[i]) / std::log(high / low),
          ' ');
    return text("<polyline points=\"", points, "\" fill=\"none\" ", style, "/>\n");
  };
  const auto words = [](double x, double y, const std::string& what) {
    return text("<text x=\"", x, "\" y=\"", y, "\">", what, "</text>\n");
  };
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
              "\" font-family=\"sans-serif\" font-size=\"12\">\n",
              "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
              line(one, "stroke=\"#9bc\" stroke-width=\"6\""),
              line(many, "stroke=\"#c33\" stroke-width=\"1.5\""),
              words(margin, 20, "loss by epoch: one device (blue), replicas (red)"),
              words(4, margin + 4, text(std::setprecision(3), high)),
              words(4, height - margin + 4, text(std::setprecision(3), low)), "</svg>\n");
}

// The GPUs of this machine; where there are fewer than two, more names for what there is.
int find_gpus() {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const auto real = static_cast<int>(devices(Device::Kind::gpu).size());
  const int gpus = real >= 2 ? real : std::clamp(cores, 2, 4);
  if (real < 2) set_logical_devices("gpu", gpus);
  std::cout << "Devices:";
  for (const Device device : devices(Device::Kind::gpu)) std::cout << ' ' << device;
  if (real == 0) std::cout << " (no GPUs here: parts of the processor answer to these names)";
  if (real == 1) std::cout << " (one GPU answers to all these names)";
  std::cout << ".\n";
  return gpus;
}

// "gpu:0", or several in a row.
std::string devices_of(const Model& model) {
  std::set<std::string> names;
  for (const Variable& weight : model.weights()) names.insert(text(weight.device()));
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

Model on_first_gpu(const std::function<Model()>& make) {
  const auto scope = device_scope("gpu:0");
  return make();
}

void tell() {
  setenv("KERATIN_TF32", "0", 1);  // GPUs, too, use every bit of a number
  set_random_seed(12202);
  const int gpus = find_gpus();
  const Model source = on_first_gpu(reported);
  const auto clone = [&] { return clone_model(source, {.copy_weights = true}); };
  const Model model = on_first_gpu(clone);
  Model alone = on_first_gpu(clone);
  require(largest_difference(source.get_weights(), model.get_weights()) == 0, "a clone is equal");
  const std::string before = devices_of(model);
  Model parallel = multi_gpu_model(model, {.gpus = gpus, .cpu_relocation = true});
  std::cout << "Cloned; the weights were relocated from " << before << " to " << devices_of(model)
            << " and are shared by " << gpus << " replicas.\n";
  require(before == "gpu:0" && devices_of(model) == "cpu:0", "relocation should move the weights");

  const auto [x, y] = data();
  std::vector<double> losses[2];
  for (Model* one : {&alone, &parallel}) {
    one->compile({.optimizer = SGD({.learning_rate = 0.02, .momentum = 0.9}), .loss = "mse"});
    losses[one == &parallel ? 1 : 0] =
        one->fit(x, y, {.batch_size = 64, .epochs = 40, .verbose = 0, .shuffle = false})["loss"];
  }
  std::cout << "Trained for " << losses[1].size() << " epochs: loss " << losses[1].front() << " to "
            << losses[1].back() << "; one device, trained alike: " << losses[0].front() << " to "
            << losses[0].back() << ".\n";
  require(losses[1].back() < losses[1].front() / 10, "it should learn");

  const double weights = largest_difference(model.get_weights(), alone.get_weights());
  const double answers = largest_difference(parallel.predict(x).flat(), alone.predict(x).flat());
  std::cout << "Largest difference between replicas and one device: " << weights << " in a weight, "
            << answers << " in an answer.\n";
  require(weights < 1e-5, "replicas should learn what one device does");
  require(answers < 1e-5, "replicas should answer as one device does");

  parallel.save("model.keras");
  const Model again = on_first_gpu([] { return load_model("model.keras"); });
  const double read = largest_difference(again.predict(x).flat(), model.predict(x).flat());
  std::cout << "Saved model.keras, which opens as the plain model; its answers differ by " << read
            << ".\n";
  require(read < 1e-6, "a file should give the same numbers");
  std::ofstream("loss.svg") << curves_svg(losses[0], losses[1]);
  std::ofstream("placed.svg") << plan_to_svg(parallel.program(x)->executable());
  std::cout << "Drawn: loss.svg, placed.svg.\n";
}

}  // namespace

int main() {
  try {
    tell();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

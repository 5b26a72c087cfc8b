// keratin_shapes [REQUESTS [NAME...]]: measures models whose inputs change their shape from request
// to request. All times are processor time of one thread, which other programs disturb least.
//
// For each model it prints the time of all requests, in their random order, over the sum of the
// best times that the same requests have when their program is there: 1.3 means that changing
// shapes cost 30 %.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <string_view>

#include "keratin/keratin.h"
#include "keratin/model/program.h"

namespace {

using namespace keratin;

using Random = std::mt19937;
using Sizes = std::vector<int64_t>;

struct Workload {
  const char* name;
  const char* sizes;
  Model (*make)();
  Sizes (*draw)(Random&);           // the open sizes of a request
  Tensor (*request)(const Sizes&);  // one with these sizes
};

int64_t between(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}
Sizes length(Random& random) { return {between(random, 1, 512)}; }
Sizes image_size(Random& random) { return {between(random, 32, 128), between(random, 32, 128)}; }
Sizes batch_size(Random& random) { return {between(random, 1, 64)}; }

Tensor tokens(const Sizes& size) {
  Tensor t(DType::i32, {1, size[0]});
  // The last quarter is padding.
  for (int64_t i = 0; i < t.count(); ++i)
    t.data<int32_t>()[i] = 4 * i < 3 * size[0] ? static_cast<int32_t>(1 + i * 7919 % 4000) : 0;
  return t;
}
Tensor noise(const Shape& shape) {
  Tensor t(DType::f32, shape);
  uint32_t state = 1;
  for (int64_t i = 0; i < t.count(); ++i) {
    state = state * 1664525U + 1013904223U;
    t.data<float>()[i] = static_cast<float>(state >> 8) * 0x1p-24F;
  }
  return t;
}

// Two layers of 64 units in each direction.
Model tagger() {
  const auto in = Input({.shape = {unknown}, .dtype = DType::i32});
  Symbols x = Embedding({.input_dim = 4001, .output_dim = 64, .mask_zero = true})(in);
  for (int i = 0; i < 2; ++i)
    x = Bidirectional({.layer = LSTM({.units = 64, .return_sequences = true})})(x);
  return Model({.inputs = in, .outputs = Dense({.units = 17, .activation = "softmax"})(x)});
}

// Four blocks as in BERT, 128 wide.
Model encoder() {
  const auto in = Input({.shape = {unknown}, .dtype = DType::i32});
  Symbols x = Embedding({.input_dim = 4001, .output_dim = 128, .mask_zero = true})(in);
  for (int i = 0; i < 4; ++i) {
    Symbols h = MultiHeadAttention({.num_heads = 4, .key_dim = 32})(x, x);
    x = LayerNormalization()(Add()({x, h}));
    h = Dense({.units = 512, .activation = "gelu"})(x);
    x = LayerNormalization()(Add()({x, Dense({.units = 128})(h)}));
  }
  return Model({.inputs = in, .outputs = Dense({.units = 17})(x)});
}

Model convnet_1d() {
  const auto in = Input({unknown, 16});
  Symbols x = in;
  for (const int64_t filters : {32, 64, 128}) {
    x = Conv1D({.filters = filters, .kernel_size = {5}, .padding = "same", .activation = "relu"})(
        x);
    x = BatchNormalization()(x);
  }
  x = GlobalAveragePooling1D()(x);
  return Model({.inputs = in, .outputs = Dense({.units = 10, .activation = "softmax"})(x)});
}

// Scores every pixel of an image of any size.
Model image_net() {
  const auto in = Input({unknown, unknown, 3});
  Symbols x = in;
  for (const int64_t filters : {16, 32, 32}) {
    x = Conv2D({.filters = filters, .kernel_size = {3, 3}, .padding = "same"})(x);
    x = ReLU()(BatchNormalization()(x));
  }
  x = MaxPooling2D({.pool_size = {2, 2}, .padding = "same"})(x);
  x = Conv2D({.filters = 64, .kernel_size = {3, 3}, .padding = "same", .activation = "relu"})(x);
  return Model({.inputs = in, .outputs = Conv2D({.filters = 5, .kernel_size = {1, 1}})(x)});
}

Model mlp() {
  const auto in = Input({64});
  Symbols x = in;
  for (const int64_t units : {128, 128, 64}) x = Dense({.units = units, .activation = "relu"})(x);
  return Model({.inputs = in, .outputs = Dense({.units = 10})(x)});
}

const Workload workloads[] = {
    {"BiLSTM tagger, masked", "length 1-512", tagger, length, tokens},
    {"transformer encoder, masked", "length 1-512", encoder, length, tokens},
    {"convnet over time", "length 1-512", convnet_1d, length,
     [](const Sizes& size) {
       return noise({1, size[0], 16});
     }},
    {"convolutional image model", "32-128 x 32-128", image_net, image_size,
     [](const Sizes& size) {
       return noise({1, size[0], size[1], 3});
     }},
    {"MLP", "batch 1-64", mlp, batch_size,
     [](const Sizes& size) {
       return noise({size[0], 64});
     }},
};

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double timed(const std::function<void()>& work) {
  const double start = processor_ms();
  work();
  return processor_ms() - start;
}

// The best of some runs with a program that is there.
double best_time(const Model& model, const Tensor& x, const PredictOptions& options) {
  model.predict_on_batch(x, options);
  double best = 1e9, sum = 0;
  for (int i = 0; i < 4 || (sum < 0.5 && i < 20); ++i) {
    best = std::min(best, timed([&] { model.predict_on_batch(x, options); }));
    sum += best;
  }
  return best;
}

void measure(const Workload& workload, int requests) {
  const PredictOptions options{.batch_size = 64, .engine = {.threads = 1}};
  Random random(7);
  std::map<Sizes, double> best;
  std::vector<Sizes> drawn;
  for (int i = 0; i < requests; ++i) best[drawn.emplace_back(workload.draw(random))] = 0;

  const Model model = workload.make();
  model.predict_on_batch(workload.request(drawn[0]), options);  // builds the layers
  double time = 0, again = 0, slowest = 0;
  for (const Sizes& sizes : drawn) {
    const Tensor x = workload.request(sizes);
    const double ms = timed([&] { model.predict_on_batch(x, options); });
    time += ms;
    again += timed([&] { model.predict_on_batch(x, options); });
    slowest = std::max(slowest, ms);
  }
  const ProgramCacheInfo cache = model.program_cache();
  double sum = 0;
  for (auto& [sizes, ms] : best) ms = best_time(model, workload.request(sizes), options);
  for (const Sizes& sizes : drawn) sum += best[sizes];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto count = static_cast<double>(requests);
  std::printf("| %s | %s | %zu | %.3f | %.3f | %.3f | **%.2f** | %.2f | %lu | %zu | %.1f | %ld |\n",
              workload.name, workload.sizes, best.size(), sum / count, again / count, time / count,
              time / sum, slowest, static_cast<unsigned long>(cache.misses), cache.entries,
              static_cast<double>(cache.bytes) / 0x1p20, usage.ru_maxrss >> 10);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 10000;
  std::printf(
      "%d requests of random shape, one thread, milliseconds of processor time per request.\n\n"
      "| model | shapes | different | best | again | measured | ratio | slowest | compiled | "
      "cached "
      "| cache MiB | peak MiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      requests);
  for (const Workload& workload : workloads) {
    const auto is_named = [&](const char* name) {
      return std::string_view(workload.name).find(name) != std::string_view::npos;
    };
    if (argc < 3 || std::any_of(argv + 2, argv + argc, is_named)) measure(workload, requests);
  }
}

#include "bench/peers/keratin_workloads.h"

#include <chrono>
#include <cmath>
#include <map>

#include "bench/peers/keratin_fits.h"
#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/ir/node.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/ops.h"

namespace keratin::bench {

using nlohmann::json;

namespace {

// A hash of 24 bits for each index.
uint32_t mixed(uint32_t index, uint32_t seed) {
  uint32_t h = index + seed * 0x9E3779B9u;
  h ^= h >> 16;
  h *= 0x7FEB352Du;
  h ^= h >> 15;
  h *= 0x846CA68Bu;
  h ^= h >> 16;
  return h >> 8;
}

// Rows of tokens with different lengths, padded with zeros.
Tensor filled_tokens(const json& spec) {
  Tensor tokens = Tensor::zeros(DType::i32, Shape(spec.at("shape").get<Dims>()));
  const auto seed = spec.at("seed").get<uint32_t>();
  const auto vocabulary = spec.at("vocabulary").get<int64_t>();
  const auto shortest = spec.at("shortest").get<int64_t>();
  const int64_t rows = tokens.shape()[0], longest = tokens.shape()[1];
  const auto data = tokens.data<int32_t>();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = shortest + row * 37 % (longest - shortest + 1);
    for (int64_t i = row * longest; i < row * longest + length; ++i)
      data[static_cast<size_t>(i)] = static_cast<int32_t>(
          1 + (int64_t{mixed(static_cast<uint32_t>(i), seed)} * (vocabulary - 1) >> 24));
  }
  return tokens;
}

}  // namespace

Tensor filled(const json& spec) {
  if (spec.contains("vocabulary")) return filled_tokens(spec);
  Tensor tensor(DType::f32, Shape(spec.at("shape").get<Dims>()));
  const auto seed = spec.at("seed").get<uint32_t>();
  const auto scale = spec.at("scale").get<float>();
  uint32_t i = 0;
  for (float& value : tensor.data<float>())
    value = (static_cast<float>(mixed(i++, seed)) * 0x1p-23f - 1) * scale;
  return tensor;
}

double mean_square(const Tensor& tensor) {
  double total = 0;
  for (float value : tensor.data<float>()) total += static_cast<double>(value) * value;
  return total / static_cast<double>(tensor.count());
}

Tensor class_labels(int64_t count, int64_t classes) {
  Tensor labels(DType::i64, {count});
  for (int64_t i = 0; i < count; ++i) labels.set(i, static_cast<double>(i % classes));
  return labels;
}

namespace {

// A program under construction, with the data of its parameters in order.
struct Draft {
  using Clock = std::chrono::steady_clock;

  const json& spec;
  Clock::time_point begun = Clock::now();
  Module module{};
  std::vector<Tensor> data{};

  Tensor tensor(const std::string& name) const { return filled(spec.at("tensors").at(name)); }
  double attr(const std::string& name) const { return spec.at("attrs").at(name).get<double>(); }

  Value input(const std::string& name) {
    data.push_back(tensor(name));
    return module.input({data.back().dtype(), data.back().shape()}, name);
  }
  Value constant(const std::string& name) { return ops::constant(module.block(), tensor(name)); }
  Value state(Tensor initial, const std::string& name) {
    data.push_back(std::move(initial));
    return module.state({data.back().dtype(), data.back().shape()}, name);
  }
};

Job finish(Draft draft, int threads) {
  Values results = draft.module.block().results;
  std::vector<Tensor> outputs;
  for (const Value& result : results) outputs.emplace_back(result.dtype(), result.shape());
  Executable program = compile(std::move(draft.module), {.threads = threads});
  const std::chrono::duration<double, std::milli> took = Draft::Clock::now() - draft.begun;
  return {std::move(program), std::move(draft.data), std::move(outputs), {}, took.count()};
}

// Runs once and checks the mean square of each output.
Job checked_by_outputs(Draft draft, int threads) {
  Job job = finish(std::move(draft), threads);
  job.run();
  for (const Tensor& output : job.outputs) job.check.push_back(mean_square(output));
  return job;
}

// y, then the gradients of y·dy with respect to the named inputs.
void output_with_gradients(Draft& draft, Value y, const Values& wrt) {
  draft.module.output(y);
  const Value dy = draft.input("dy");
  for (const Value& gradient : gradients(y, wrt, dy)) draft.module.output(gradient);
}

Job matmul(Draft draft, int threads) {
  draft.module.output(ops::matmul(draft.input("x"), draft.constant("w")));
  return checked_by_outputs(std::move(draft), threads);
}

Job pointwise(Draft draft, int threads) {
  const Value z = draft.input("x") * draft.input("w") + draft.input("b");
  const Value inner = (z + z * z * z * 0.044715) * 0.7978845608028654;
  draft.module.output(z * 0.5 * (ops::tanh(inner) + 1.0) * draft.input("mask"));
  return checked_by_outputs(std::move(draft), threads);
}

struct AdamOptions {
  double beta1, beta2, epsilon;
};

// Adam for some parameters; the learning rate is an input, so that one program serves all rates.
void adam(Draft& draft, const Values& parameters, const Values& gradients, Value rate,
          const AdamOptions& o) {
  const Value count = draft.state(Tensor::zeros(DType::f32, {}), "count");
  const Value next = count + 1.0;
  draft.module.update(count, next);
  const auto power = [&](double beta) { return ops::exp(next * std::log(beta)); };
  const Value scale = rate * ops::sqrt(1.0 - power(o.beta2)) / (1.0 - power(o.beta1));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto slot = [&](const char* name) {
      return draft.state(Tensor::zeros(DType::f32, parameters[i].shape()), text(name, i));
    };
    const Value m = slot("m"), v = slot("v"), g = gradients[i];
    const Value new_m = m * o.beta1 + g * (1 - o.beta1);
    const Value new_v = v * o.beta2 + g * g * (1 - o.beta2);
    draft.module.update(m, new_m);
    draft.module.update(v, new_v);
    draft.module.update(parameters[i],
                        parameters[i] - scale * new_m / (ops::sqrt(new_v) + o.epsilon));
  }
}

AdamOptions adam_options(const Draft& draft) {
  return {draft.attr("beta1"), draft.attr("beta2"), draft.attr("epsilon")};
}

Job adam_alone(Draft draft, int threads) {
  const Value g = draft.input("g");
  draft.data.push_back(Tensor::scalar(DType::f32, draft.attr("lr")));
  const Value rate = draft.module.input({DType::f32, {}}, "rate");
  const Value p = draft.state(Tensor::zeros(DType::f32, g.shape()), "p");
  adam(draft, {p}, {g}, rate, adam_options(draft));
  Job job = finish(std::move(draft), threads);
  job.run();
  job.check = {mean_square(job.inputs[2])};
  return job;
}

Value dense(Value x, Value w, Value b) { return ops::matmul(x, w) + b; }

Job tiny_mlp(Draft draft, int threads) {
  Value x = draft.input("x");
  for (int layer = 1; layer <= static_cast<int>(draft.attr("layers")); ++layer)
    x = ops::relu(
        dense(x, draft.constant(text('d', layer, "_w")), draft.constant(text('d', layer, "_b"))));
  draft.module.output(x);
  return checked_by_outputs(std::move(draft), threads);
}

Value mean_cross_entropy(Value logits, Value labels) {
  return ops::mean(ops::sparse_softmax_cross_entropy(logits, labels));
}

// The logits of a model; `training` switches dropout on.
using Logits = std::function<Value(Draft&, Value x, const Values& parameters, bool training)>;

// A training step, and a program for the loss alone. After the check the rate becomes tiny.
Job training(Draft draft, int threads, const std::vector<std::string>& names,
             const Logits& logits) {
  const auto declare = [&](Draft& d) {
    const Value x = d.input("x");
    d.data.push_back(class_labels(x.shape()[0], static_cast<int64_t>(d.attr("classes"))));
    const Value labels = d.module.input({DType::i64, d.data.back().shape()}, "labels");
    Values parameters;
    for (const auto& name : names) parameters.push_back(d.state(d.tensor(name), name));
    return std::tuple(x, labels, parameters);
  };
  Draft loss_only{draft.spec};
  {
    const auto [x, labels, parameters] = declare(loss_only);
    loss_only.module.output(mean_cross_entropy(logits(loss_only, x, parameters, false), labels));
  }
  draft.begun = Draft::Clock::now();
  const auto [x, labels, parameters] = declare(draft);
  const Value loss = mean_cross_entropy(logits(draft, x, parameters, true), labels);
  draft.module.output(loss);
  const size_t rate_position = draft.data.size();
  draft.data.push_back(Tensor::scalar(DType::f32, draft.attr("lr")));
  const Value rate = draft.module.input({DType::f32, {}}, "rate");
  const int check_steps = static_cast<int>(draft.attr("check_steps"));
  adam(draft, parameters, gradients(loss, parameters), rate, adam_options(draft));

  Job job = finish(std::move(draft), threads);
  for (int step = 0; step < check_steps; ++step) job.run();
  Job check = finish(std::move(loss_only), threads);
  for (size_t i = 0; i < names.size(); ++i) check.inputs[2 + i] = job.inputs[2 + i];
  check.run();
  job.check = {check.outputs[0].at(0)};
  job.inputs[rate_position] = Tensor::scalar(DType::f32, 1e-6);
  return job;
}

Job mlp_train(Draft draft, int threads) {
  return training(std::move(draft), threads, {"d1_w", "d1_b", "d2_w", "d2_b", "d3_w", "d3_b"},
                  [](Draft&, Value x, const Values& p, bool) {
                    const Value h1 = ops::relu(dense(x, p[0], p[1]));
                    const Value h2 = ops::relu(dense(h1, p[2], p[3]));
                    return dense(h2, p[4], p[5]);
                  });
}

Job convnet_train(Draft draft, int threads) {
  return training(
      std::move(draft), threads, {"c1_w", "c1_b", "c2_w", "c2_b", "d1_w", "d1_b"},
      [](Draft& d, Value x, const Values& p, bool training) {
        const ops::PoolAttrs pool{.window = {2, 2}};
        Value h = ops::max_pool(ops::relu(ops::conv(x, p[0]) + p[1]), pool);
        h = ops::max_pool(ops::relu(ops::conv(h, p[2]) + p[3]), pool);
        h = ops::reshape(h, {h.shape()[0], ops::infer_size});
        if (training) {
          const Value key = d.state(Tensor::of<int64_t>(DType::i64, {2}, {7, 0}), "key");
          h = ops::dropout(h, key, d.attr("dropout"));
          d.module.update(key, ops::advance(key, h.shape().count()));
        }
        return dense(h, p[4], p[5]);
      });
}

ops::ConvAttrs conv_attrs(const Draft& draft) {
  const auto stride = static_cast<int64_t>(draft.attr("stride"));
  return {.strides = {stride, stride},
          .padding = draft.spec.at("attrs").at("padding").get<std::string>()};
}

Value convolve(const Draft& draft, Value x, Value w) {
  return draft.spec.at("attrs").at("depthwise").get<bool>()
             ? ops::depthwise_conv(x, w, conv_attrs(draft))
             : ops::conv(x, w, conv_attrs(draft));
}

Job conv(Draft draft, int threads) {
  draft.module.output(convolve(draft, draft.input("x"), draft.constant("w")));
  return checked_by_outputs(std::move(draft), threads);
}

Job conv_grad(Draft draft, int threads) {
  const Value x = draft.input("x"), w = draft.input("w");
  output_with_gradients(draft, convolve(draft, x, w), {x, w});
  return checked_by_outputs(std::move(draft), threads);
}

Job lstm(Draft draft, int threads) {
  const Value x = draft.input("x");
  draft.module.output(ops::lstm({.x = x,
                                 .kernel = draft.constant("w"),
                                 .recurrent = draft.constant("u"),
                                 .bias = draft.constant("b")})
                          .ys);
  return checked_by_outputs(std::move(draft), threads);
}

Job lstm_grad(Draft draft, int threads) {
  const Value x = draft.input("x"), w = draft.input("w"), u = draft.input("u"),
              b = draft.input("b");
  const Value y = ops::lstm({.x = x, .kernel = w, .recurrent = u, .bias = b}).ys;
  output_with_gradients(draft, y, {x, w, u, b});
  return checked_by_outputs(std::move(draft), threads);
}

Job softmax(Draft draft, int threads) {
  draft.module.output(ops::softmax(draft.input("x"), -1));
  return checked_by_outputs(std::move(draft), threads);
}

Value normalise(Value x, Value gamma, Value beta) {
  return ops::layer_norm(x, gamma, beta, {-1}, 1e-5);
}

Job layernorm(Draft draft, int threads) {
  const Value x = draft.input("x");
  draft.module.output(normalise(x, draft.input("gamma"), draft.input("beta")));
  return checked_by_outputs(std::move(draft), threads);
}

Job layernorm_grad(Draft draft, int threads) {
  const Value x = draft.input("x"), gamma = draft.input("gamma"), beta = draft.input("beta");
  output_with_gradients(draft, normalise(x, gamma, beta), {x, gamma, beta});
  return checked_by_outputs(std::move(draft), threads);
}

using Builder = Job (*)(Draft, int threads);

const std::map<std::string, Builder>& builders() {
  static const std::map<std::string, Builder> table = {
      {"matmul", matmul},
      {"conv", conv},
      {"conv_grad", conv_grad},
      {"lstm", lstm},
      {"lstm_grad", lstm_grad},
      {"pointwise", pointwise},
      {"softmax", softmax},
      {"layernorm", layernorm},
      {"layernorm_grad", layernorm_grad},
      {"adam", adam_alone},
      {"tiny_mlp", tiny_mlp},
      {"mlp_train", mlp_train},
      {"convnet_train", convnet_train},
  };
  return table;
}

}  // namespace

std::vector<std::string> known_kinds() {
  std::vector<std::string> kinds = {"fit", "predict_one"};
  for (const auto& [name, builder] : builders()) kinds.push_back(name);
  return kinds;
}

Task make_task(const json& spec, int threads) {
  if (spec.at("kind") == "fit") return make_fit(spec, threads);
  if (spec.at("kind") == "predict_one") return make_predict_one(spec, threads);
  auto job = std::make_shared<Job>(make_job(spec, threads));
  return {[job] { job->run(); }, job->check,
          [job](int runs) { return job->program.profile(job->inputs, job->outputs, runs); },
          job->compile_ms};
}

Job make_job(const json& spec, int threads) {
  const auto found = builders().find(spec.at("kind").get<std::string>());
  require(found != builders().end(), "keratin_peer_worker: unknown kind ", spec.at("kind").dump());
  return found->second(Draft{spec}, threads);
}

}  // namespace keratin::bench

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "keratin/engine/compile.h"
#include "keratin/model/program.h"
#include "keratin/ops/ops.h"
#include "keratin/plan/plan.h"
#include "keratin/testing/check_op.h"

namespace keratin {
namespace {

constexpr int callers = 8;

// Calls the executable many times from many threads, each with inputs of its own.
void call_at_once(const Executable& executable, const std::vector<std::vector<Tensor>>& inputs,
                  std::vector<std::vector<Tensor>>& results) {
  std::barrier start(callers);
  std::vector<std::jthread> threads;
  for (int i = 0; i < callers; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      for (int round = 0; round < 20; ++round)
        results[static_cast<size_t>(i)] = executable(inputs[static_cast<size_t>(i)]);
    });
}

void check(const Module& module, const EngineOptions& options) {
  const Executable executable = compile(module.clone(), options);
  std::vector<std::vector<Tensor>> inputs(callers), results(callers);
  for (size_t i = 0; i < callers; ++i)
    for (const auto& parameter : module.block().parameters())
      inputs[i].push_back(
          testing::random_tensor(parameter->type(), -1, 1, 100 * i + inputs[i].size()));
  call_at_once(executable, inputs, results);
  for (size_t i = 0; i < callers; ++i)
    EXPECT_EQ(results[i], executable(inputs[i])) << "caller " << i << " got something else";
}

Module network() {
  Module m;
  const Value x = m.input({DType::f32, {6, 8}}, "x");
  const Value w = m.input({DType::f32, {8, 8}}, "w");
  Value y = x;
  for (int i = 0; i < 3; ++i) y = ops::tanh(ops::matmul(y, w) + ops::mean(y, {1}, true));
  m.output(ops::logsumexp(y, {1}));
  m.output(y);
  return m;
}

TEST(ExecutableThreads, ManyThreadsMayCallOneExecutable) {
  for (int threads : {1, 2}) check(network(), {.threads = threads});
}

TEST(ExecutableThreads, ManyThreadsMayCallTheReferenceBackend) {
  check(network(), {.backend = "reference"});
}

TEST(ExecutableThreads, LoopsHaveTheirOwnSessionInEachCall) {
  Module m;
  const Value h = m.input({DType::f32, {4}}, "h"), x = m.input({DType::f32, {9, 4}}, "x");
  const auto scanned = ops::scan({h}, {x}, [](const Values& carries, const Values& slices) {
    const Value next = ops::tanh(carries[0] + slices[0]);
    return ops::Scanned{{next}, {next * next}};
  });
  m.output(scanned.carries[0]);
  m.output(scanned.ys[0]);
  check(m, {.threads = 1});
}

// Each caller trains its own state with the same program.
TEST(ExecutableThreads, StateBelongsToTheCaller) {
  Module m;
  const Value x = m.input({DType::f32, {16}}, "x"), s = m.state({DType::f32, {16}}, "s");
  m.update(s, s + x);
  m.output(ops::sum(s));
  const Executable executable = compile(std::move(m), {.threads = 1});
  std::vector<Tensor> states;
  for (int i = 0; i < callers; ++i) states.push_back(Tensor::zeros(DType::f32, {16}));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&, i] {
        const Tensor x = Tensor::full(DType::f32, {16}, i), sum(DType::f32, {});
        const std::vector<Tensor> inputs = {x, states[static_cast<size_t>(i)]}, outputs = {sum};
        for (int round = 0; round < 50; ++round) executable.run(inputs, outputs);
      });
  }
  for (int i = 0; i < callers; ++i)
    EXPECT_EQ(states[static_cast<size_t>(i)], Tensor::full(DType::f32, {16}, 50 * i));
}

}  // namespace
}  // namespace keratin

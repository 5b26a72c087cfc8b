#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/plan/value_store.h"
#include "keratin/testing/check_op.h"

namespace keratin {
namespace {

using testing::random_tensor;

Executable scaled_product(int64_t rows) {
  Module m;
  const Value x = m.input({DType::f32, {rows, 24}}), w = m.state({DType::f32, {24, 40}}),
              s = m.state({DType::f32, {40}});
  m.output(ops::matmul(x, w * s));
  return compile(std::move(m), {.threads = 2, .state_stays = true});
}

// Programs of several sizes begin together, and again whenever they have released their values.
TEST(KeptValuesThreads, ManyCallersShareThemAndReleaseThem) {
  const Tensor w = random_tensor({DType::f32, {24, 40}}, -1, 1, 2),
               s = random_tensor({DType::f32, {40}}, -1, 1, 3);
  const std::vector<Executable> programs{scaled_product(40), scaled_product(60)};
  const std::vector<Tensor> x{random_tensor({DType::f32, {40, 24}}, -1, 1, 1),
                              random_tensor({DType::f32, {60, 24}}, -1, 1, 1)};
  const std::vector<Tensor> expected{programs[0]({x[0], w, s})[0], programs[1]({x[1], w, s})[0]};
  constexpr int callers = 4;
  std::barrier start(callers);
  std::vector<std::jthread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      start.arrive_and_wait();
      for (int i = 0; i < 50; ++i) {
        const auto which = static_cast<size_t>((i + caller) % 2);
        EXPECT_EQ(programs[which]({x[which], w, s})[0], expected[which]);
        if (i % 7 == caller) programs[which].release_memory();
      }
    });
}

}  // namespace
}  // namespace keratin

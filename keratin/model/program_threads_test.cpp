#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "keratin/graph/input.h"
#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/model/program.h"
#include "keratin/testing/check_op.h"

namespace keratin {
namespace {

// Many threads ask for many shapes of one small cache: programs are made, found and dropped while
// others run.
TEST(ProgramCacheThreads, ManyCallersOfASmallCacheGetTheirOwnResults) {
  const auto x = Input({unknown, 3});
  Model model({.inputs = x, .outputs = Dense({.units = 2})(x)});
  model.set_program_limits({.entries = 2});
  std::vector<Tensor> inputs, expected;
  for (int64_t length = 1; length <= 5; ++length) {
    inputs.push_back(testing::random_tensor({DType::f32, {1, length, 3}}, -1, 1, 11));
    expected.push_back(model.predict(inputs.back(), {.engine = {.threads = 1}}));
  }
  constexpr int callers = 4;
  std::barrier start(callers);
  {
    std::vector<std::jthread> threads;
    for (int caller = 0; caller < callers; ++caller)
      threads.emplace_back([&, caller] {
        start.arrive_and_wait();
        for (int i = 0; i < 40; ++i) {
          const auto which = static_cast<size_t>((i * (caller + 1)) % 5);
          EXPECT_EQ(model.predict(inputs[which], {.engine = {.threads = 1}}).leaf(),
                    expected[which]);
        }
      });
  }
  EXPECT_LE(model.program_cache().entries, 2u);
}

}  // namespace
}  // namespace keratin

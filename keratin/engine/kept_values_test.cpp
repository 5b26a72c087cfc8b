#include "keratin/plan/kept_values.h"

#include <gtest/gtest.h>

#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/plan/session.h"
#include "keratin/plan/value_store.h"
#include "keratin/testing/check_op.h"

namespace keratin {
namespace {

using testing::random_tensor;

// y = relu(x · (w · s)): the scaled matrix is kept, and packed.
Module scaled_product(int64_t rows) {
  Module m;
  const Value x = m.input({DType::f32, {rows, 24}}), w = m.state({DType::f32, {24, 40}}),
              s = m.state({DType::f32, {40}});
  m.output(ops::relu(ops::matmul(x, w * s)));
  return m;
}

class KeptValuesOfPrograms : public ::testing::Test {
 protected:
  static Executable program(Module m) { return compile(std::move(m), {.state_stays = true}); }
  Tensor run(const Executable& program, int64_t rows) const {
    return program({random_tensor({DType::f32, {rows, 24}}, -1, 1, 1), w, s})[0];
  }
  // What the program gives that keeps nothing.
  Tensor expected(int64_t rows) const {
    return compile(scaled_product(rows))(
        {random_tensor({DType::f32, {rows, 24}}, -1, 1, 1), w, s})[0];
  }

  Tensor w = random_tensor({DType::f32, {24, 40}}, -1, 1, 2);
  Tensor s = random_tensor({DType::f32, {40}}, -1, 1, 3);
};

TEST_F(KeptValuesOfPrograms, HaveTheBitsThatAreComputedEachTime) {
  const Executable kept = program(scaled_product(100));
  EXPECT_EQ(kept.plan().stable_steps, 2U) << kept.describe();  // the product and its packing
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(kept, 100), expected(100));
}

TEST_F(KeptValuesOfPrograms, AreSharedAndFreed) {
  const size_t before = stored_value_bytes();
  {
    const Executable first = program(scaled_product(100)), second = program(scaled_product(57));
    run(first, 100);
    const size_t kept = stored_value_bytes() - before;
    EXPECT_EQ(kept, 24U * 48 * 4);  // the packed matrix alone, in strips of whole vectors
    run(second, 57);
    EXPECT_EQ(stored_value_bytes() - before, kept);
    first.release_memory();
    EXPECT_EQ(stored_value_bytes() - before, kept);
    second.release_memory();
    EXPECT_EQ(stored_value_bytes(), before);
    EXPECT_EQ(run(first, 100), expected(100));
  }
  EXPECT_EQ(stored_value_bytes(), before);
}

TEST_F(KeptValuesOfPrograms, AreNotSharedByDifferentState) {
  const Executable first = program(scaled_product(100));
  run(first, 100);
  const Executable second = program(scaled_product(100));
  w = w.clone();
  w.set(0, 5);
  EXPECT_EQ(run(second, 100), expected(100));
  EXPECT_EQ(run(first, 100), expected(100));  // with other tensors than before
}

TEST_F(KeptValuesOfPrograms, FollowWrites) {
  const Executable kept = program(scaled_product(100)), other = program(scaled_product(57));
  for (int i = 0; i < 4; ++i) {
    (i % 2 == 0 ? w : s).set(i, i);
    state_written((i % 2 == 0 ? w : s).raw());
    EXPECT_EQ(run(kept, 100), expected(100)) << i;
    EXPECT_EQ(run(other, 57), expected(57)) << i;
    EXPECT_EQ(run(kept, 100), expected(100)) << i;
  }
}

TEST_F(KeptValuesOfPrograms, FollowProgramsThatUpdateState) {
  Module training;
  const Value state = training.state({DType::f32, {40}});
  training.update(state, state * 0.5);
  for (const bool stays : {false, true}) {
    const Executable kept = program(scaled_product(100));
    const Executable step = compile(training.clone(), {.state_stays = stays});
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(run(kept, 100), expected(100)) << i;
      step({s});
    }
  }
}

// So programs may share the memory that they work in.
TEST_F(KeptValuesOfPrograms, AreInNoArena) {
  const Executable kept = program(scaled_product(100));
  EXPECT_GT(kept.plan().stable_steps, 0U);
  EXPECT_TRUE(Session::may_borrow_arena(kept.plan()));
}

// A matmul of weights is stable with its epilogue, and reads a packed matrix itself.
TEST_F(KeptValuesOfPrograms, MayBeMatmulsWithPreparations) {
  const auto module = [] {
    Module m;
    const Value x = m.input({DType::f32, {50, 40}}), a = m.state({DType::f32, {40, 24}}),
                b = m.state({DType::f32, {24, 40}}), w = m.state({DType::f32, {40, 40}});
    m.output(ops::matmul(x, ops::matmul(a, b) + w));
    return m;
  };
  const std::vector<Tensor> inputs{random_tensor({DType::f32, {50, 40}}, -1, 1, 1),
                                   random_tensor({DType::f32, {40, 24}}, -1, 1, 2), w,
                                   random_tensor({DType::f32, {40, 40}}, -1, 1, 3)};
  const Executable kept = program(module());
  EXPECT_EQ(kept.plan().stable_steps, 3U) << kept.describe();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(kept(inputs)[0], compile(module())(inputs)[0]);
}

// State that is passed as any tensor may change unnoticed.
TEST_F(KeptValuesOfPrograms, AreNotKeptUnlessStateStays) {
  EXPECT_EQ(compile(scaled_product(100)).plan().stable_steps, 0U);
}

}  // namespace
}  // namespace keratin

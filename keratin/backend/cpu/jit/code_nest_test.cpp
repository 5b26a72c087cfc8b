#include "keratin/backend/cpu/jit/code_nest.h"

#include <gtest/gtest.h>

#include "keratin/backend/cpu/jit/generate.h"
#include "keratin/backend/cpu/jit/loop_testing.h"

namespace keratin::cpu {
namespace {

// y = tanh(x) * c + b, in rows that are `apart` elements apart in x.
LoopNest rows(int64_t count, int64_t length, int64_t apart, double c = 2) {
  LoopProgram p{.rank = 2, .dims = {count, length}};
  const int32_t x = p.add_input(DType::f32, {apart, 1});
  const int32_t b = p.add_input(DType::f32, {0, 1});
  p.store(p.add(ScalarOp::add,
                p.add(ScalarOp::mul, p.add(ScalarOp::tanh, x), p.add_constant(DType::f32, c)), b));
  return make_nest(p, true);
}

const void* code_of(const LoopNest& nest) {
  return reinterpret_cast<const void*>(generate(nest, best_loop_isa(), false).function());
}

TEST(CodeNest, IsTheSameForLongRowsOfAnySize) {
  const LoopNest first = rows(3, 100, 100);
  for (const LoopNest& other : {rows(3, 1001, 1001), rows(70, 100, 100), rows(3, 100, 4096)}) {
    EXPECT_EQ(code_nest(first, best_loop_isa(), false), code_nest(other, best_loop_isa(), false));
    EXPECT_EQ(code_of(first), code_of(other));
  }
}

TEST(CodeNest, DiffersWhereTheCodeDoes) {
  const LoopNest first = rows(3, 100, 100);
  // Short rows are written out, a single row has no next one, and 0 is not -0.
  for (const LoopNest& other : {rows(3, 40, 40), rows(1, 100, 100), rows(3, 100, 100, 3)}) {
    EXPECT_FALSE(code_nest(first, best_loop_isa(), false) ==
                 code_nest(other, best_loop_isa(), false));
  }
  EXPECT_FALSE(code_nest(rows(3, 40, 40), best_loop_isa(), false) ==
               code_nest(rows(3, 41, 41), best_loop_isa(), false));
  EXPECT_FALSE(code_nest(rows(3, 100, 100, 0.0), best_loop_isa(), false) ==
               code_nest(rows(3, 100, 100, -0.0), best_loop_isa(), false));
  EXPECT_FALSE(code_nest(first, best_loop_isa(), true) == code_nest(first, best_loop_isa(), false));
}

TEST(CodeNest, FindsANaNAgain) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_nest(rows(3, 100, 100, nan), best_loop_isa(), false),
            code_nest(rows(4, 200, 200, nan), best_loop_isa(), false));
}

}  // namespace
}  // namespace keratin::cpu

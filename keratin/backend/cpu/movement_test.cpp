#include "keratin/ops/movement.h"
#include "keratin/ir/node.h"

#include <gtest/gtest.h>

#include "keratin/ops/constant.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/slicing.h"
#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

using testing::check_op;

const DType some_dtypes[] = {DType::f32, DType::f64, DType::bf16, DType::i8, DType::i32};

// One input of each of several types; the op does not look at the elements.
void check_move(const std::string& name, Shape shape, std::function<Value(Value)> build) {
  for (const DType dtype : some_dtypes) {
    check_op({.name = name,
              .inputs = {{dtype, shape}},
              .build = [&](const Values& in) -> Values { return {build(in[0])}; },
              .unknown_sizes = false,
              .gradient = is_float(dtype)});
  }
}

TEST(Movement, Transposes) {
  check_move("transpose", {5, 37}, [](Value x) { return ops::transpose(x, {1, 0}); });
  check_move("transpose", {2, 3, 4, 5}, [](Value x) { return ops::transpose(x, {2, 0, 3, 1}); });
  check_move("transpose", {3, 0, 2}, [](Value x) { return ops::transpose(x, {2, 1, 0}); });
}

TEST(Movement, Broadcasts) {
  check_move("broadcast_to", {5, 1, 7}, [](Value x) { return ops::broadcast_to(x, {3, 5, 4, 7}); });
  check_move("broadcast_to", {}, [](Value x) { return ops::broadcast_to(x, {6, 3}); });
  check_move("broadcast_to", {4, 1}, [](Value x) { return ops::broadcast_to(x, {4, 0}); });
}

TEST(Movement, SlicesAndReverses) {
  check_move("slice", {9, 11}, [](Value x) { return ops::slice(x, {1, 2}, {8, 11}, {2, 3}); });
  check_move("slice", {9, 11}, [](Value x) { return ops::slice(x, {4, 2}, {4, 11}, {1, 1}); });
  check_move("reverse", {9, 11, 2}, [](Value x) { return ops::flip(x, {0, 2}); });
  check_move("reverse", {3, 0}, [](Value x) { return ops::flip(x, {0, 1}); });
}

TEST(Movement, PadsAndConcatenates) {
  check_move("pad", {4, 5}, [](Value x) {
    return ops::pad(x, {.lo = {1, 2}, .hi = {0, 3}, .interior = {2, 0}, .value = 7});
  });
  check_move("pad", {0, 5}, [](Value x) { return ops::pad(x, {.lo = {2, 1}, .hi = {0, 0}}); });
  check_move("concat", {3, 4, 5}, [](Value x) {
    return ops::concatenate({x, ops::slice_axis(x, 1, 0, 2), x}, 1);
  });
}

TEST(Movement, CopiesDynamicWindows) {
  for (const DType dtype : {DType::i32, DType::i64}) {
    for (const double at : {0.0, 1.0, 3.0, -2.0, 90.0}) {
      const auto start = [=](Value x) { return ops::full(x.block(), dtype, {2}, at); };
      check_move("dynamic_slice", {6, 7}, [&](Value x) {
        return ops::dynamic_slice(x, start(x), {3, 4});
      });
      check_move("dynamic_update_slice", {6, 7}, [&](Value x) {
        return ops::dynamic_update_slice(x, ops::slice(x, {0, 0}, {2, 3}), start(x));
      });
    }
  }
}

}  // namespace
}  // namespace keratin::cpu

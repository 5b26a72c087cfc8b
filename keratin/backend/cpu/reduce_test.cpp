#include "keratin/ops/reduce.h"

#include <gtest/gtest.h>

#include "keratin/testing/check_op.h"

namespace keratin::cpu {
namespace {

using testing::check_op;
using Op = Value (*)(Value, const Dims&, bool);

void check_reduce(const std::string& name, Op op, DType dtype, Shape shape, const Dims& axes,
                  bool smooth) {
  check_op({.name = name,
            .inputs = {{dtype, shape}},
            .build = [&](const Values& in) -> Values { return {op(in[0], axes, false)}; },
            .unknown_sizes = false,
            .gradient = smooth && is_float(dtype)});
}

struct Axes {
  Shape shape;
  Dims axes;
};
const Axes all_axes[] = {{{7}, {}},           {{5, 33}, {1}},         {{5, 33}, {0}},
                         {{4, 5, 6}, {1}},    {{3, 4, 5, 6}, {0, 2}}, {{3, 4, 5, 6}, {0, 1, 2}},
                         {{3, 1, 5, 6}, {1}}, {{3, 4, 5, 6}, {1, 3}}, {{2, 3, 2, 3, 2}, {0, 2, 4}},
                         {{300, 40}, {0}},    {{3, 0, 2}, {0}}};

TEST(Reduce, AgreesWithTheReferenceOverAnyAxes) {
  for (const auto& [shape, axes] : all_axes) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32}) {
      check_reduce("sum", ops::sum, dtype, shape, axes, true);
      check_reduce("max", ops::max, dtype, shape, axes, false);
      check_reduce("min", ops::min, dtype, shape, axes, false);
    }
    check_reduce("prod", ops::prod, DType::f32, shape, axes, false);
    check_reduce("any", ops::any, DType::boolean, shape, axes, false);
    check_reduce("all", ops::all, DType::boolean, shape, axes, false);
  }
}

TEST(Reduce, FindsPositionsOfExtremes) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i32}) {
    for (const int64_t axis : {0, 1, 2}) {
      check_op({.name = "argmax",
                .inputs = {{dtype, {4, 9, 5}}},
                .build = [&](const Values& in) -> Values {
                  return {ops::argmax(in[0], axis), ops::argmin(in[0], axis)};
                },
                .unknown_sizes = false,
                .gradient = false});
    }
  }
}

}  // namespace
}  // namespace keratin::cpu

#include "keratin/ops/fill.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_values;

using enum DType;

TEST(Fill, HasTheShapeOfItsInput) {
  for (DType dtype : {f32, i32, DType::boolean})
    check_op({.name = text("fill_like ", dtype),
              .inputs = {{f32, {2, 3}}},
              .build = [=](const Values& in) { return Values{fill_like(in[0], 1, dtype)}; },
              .gradient = false});
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 0, 3}, Shape{}})
    expect_values([](const Values& in) { return Values{fill_like(in[0], 7, i32)}; },
                  {Tensor::zeros(f32, shape)}, {Tensor::full(i32, shape, 7)});
}

}  // namespace
}  // namespace keratin::ops

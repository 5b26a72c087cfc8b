#include "keratin/ops/sort.h"

#include <limits>

#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;
using testing::inf;
using testing::nan;

using enum DType;

TEST(Sort, AnyAxis) {
  for (int64_t axis : {0, 1, -1})
    for (bool descending : {false, true}) {
      check_op({.name = text("sort ", axis),
                .inputs = {{f32, {3, 4, 5}}},
                .build =
                    [=](const Values& in) {
                      return Values{sort(in[0], {axis, descending})};
                    },
                .second_order = true});
      check_op({.name = text("argsort ", axis),
                .inputs = {{f32, {3, 4, 5}}},
                .build =
                    [=](const Values& in) {
                      return Values{argsort(in[0], {axis, descending})};
                    },
                .gradient = false});
    }
}

TEST(Sort, SizesAndDTypes) {
  const auto build = [](const Values& in) {
    return Values{sort(in[0], {.axis = -1}), argsort(in[0], {.axis = -1, .descending = true})};
  };
  for (const Shape& shape : {Shape{0}, {2, 0}, {0, 3}, {1}, {2}, {3, 100}})
    check_op({.name = text("sort ", shape),
              .inputs = {{f32, shape}},
              .build = build,
              .gradient = false});
  // Many equal elements: the order of equals shows.
  for (DType dtype : all_dtypes)
    check_op({.name = text("sort ", dtype),
              .inputs = {{dtype, {3, 40}}},
              .build = build,
              .low = -4,
              .high = 4,
              .gradient = false});
}

TEST(Sort, LongLines) {
  for (DType dtype : all_dtypes)
    for (const Shape& shape : {Shape{3000}, {2, 300, 3}})
      for (bool descending : {false, true})
        check_op({.name = text("argsort ", dtype, shape, descending),
                  .inputs = {{dtype, shape}},
                  .build =
                      [=](const Values& in) {
                        const int64_t axis = shape.rank() == 1 ? 0 : 1;
                        return Values{argsort(in[0], {axis, descending})};
                      },
                  .low = -40,
                  .high = 40,
                  .gradient = false});
}

TEST(Sort, NanLastAndEqualsInOrder) {
  // np.sort, np.argsort(kind="stable")
  const Tensor x =
      Tensor::of<double>(f32, {3, 4}, {3, 1, 2, 3, 5, 5, nan, -1, nan, inf, -inf, nan});
  expect_values(
      [](const Values& in) {
        return Values{sort(in[0], {.axis = 1}), argsort(in[0], {.axis = 1}),
                      sort(in[0], {.axis = 1, .descending = true}),
                      argsort(in[0], {.axis = 1, .descending = true})};
      },
      {x},
      {Tensor::of<double>(f32, {3, 4}, {1, 2, 3, 3, -1, 5, 5, nan, -inf, inf, nan, nan}),
       Tensor::of<double>(i64, {3, 4}, {1, 2, 0, 3, 3, 0, 1, 2, 2, 1, 0, 3}),
       Tensor::of<double>(f32, {3, 4}, {3, 3, 2, 1, 5, 5, -1, nan, inf, -inf, nan, nan}),
       Tensor::of<double>(i64, {3, 4}, {0, 3, 2, 1, 0, 1, 3, 2, 1, 2, 0, 3})});
}

TEST(TopK, LargestFirst) {
  for (int64_t k : {0, 1, 3, 6})
    check_op({.name = text("top_k ", k),
              .inputs = {{f32, {2, 3, 6}}},
              .build =
                  [=](const Values& in) {
                    const auto [values, indices] = top_k(in[0], k);
                    return Values{values, indices};
                  },
              .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("top_k ", dtype),
              .inputs = {{dtype, {3, 40}}},
              .build =
                  [](const Values& in) {
                    const auto [values, indices] = top_k(in[0], 7);
                    return Values{values, indices};
                  },
              .low = -4,
              .high = 4,
              .gradient = false});
  // keras.ops.top_k([[3, 1, 2, 3]], 3)
  expect_values(
      [](const Values& in) {
        const auto [values, indices] = top_k(in[0], 3);
        return Values{values, indices};
      },
      {Tensor::of<double>(f32, {1, 4}, {3, 1, 2, 3})},
      {Tensor::of<double>(f32, {1, 3}, {3, 3, 2}), Tensor::of<double>(i32, {1, 3}, {0, 3, 2})});
}

TEST(Sort, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), scalar = m.input({f32, {}});
  expect_user_error([&] { sort(x, {.axis = 2}); }, {"sort", "axis", "got 2"});
  expect_user_error([&] { argsort(scalar, {}); }, {"argsort", "axis", "rank 0"});
  expect_user_error([&] { top_k(x, 4); }, {"top_k", "[0, 3]", "f32[2,3]", "got 4"});
  expect_user_error([&] { top_k(x, -1); }, {"top_k", "got -1"});
  expect_user_error([&] { top_k(scalar, 1); }, {"top_k", "rank 1"});
  expect_user_error([&] { top_k(m.input({f32, {unknown}}), -1); }, {"top_k", "got -1"});
}

}  // namespace
}  // namespace keratin::ops

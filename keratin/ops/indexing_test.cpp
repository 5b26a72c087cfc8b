#include "keratin/ops/indexing.h"

#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counting;
using testing::evaluate;
using testing::expect_user_error;
using testing::expect_values;
using testing::ints;

using enum DType;

TEST(Gather, AnyAxisAndIndices) {
  for (int64_t axis : {0, 1, -1})
    for (const Shape& indices : {Shape{}, {1}, {5}, {2, 3}, {0}, {2, 0}})
      for (DType index : {i32, i64})
        check_op({.name = text("gather ", axis, indices, index),
                  .inputs = {{f32, {3, 3, 4}}, {index, indices}},
                  .build = [=](const Values& in) { return Values{take(in[0], in[1], axis)}; },
                  .low = -3,
                  .high = 3,
                  .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("gather ", dtype),
              .inputs = {{dtype, {7, 5}}, {i32, {6}}},
              .build = [](const Values& in) { return Values{take(in[0], in[1], 0)}; },
              .low = 0,
              .high = 7,
              .gradient = false});
}

TEST(Gather, ValuesOfNumPy) {
  // np.take(x, i, axis), with negative indices
  const Tensor x = counting(i32, {3, 4});
  expect_values([](const Values& in) { return Values{take(in[0], in[1], 1)}; },
                {x, ints({2, 2}, {2, -1, 0, 2})},
                {ints({3, 2, 2}, {2, 3, 0, 2, 6, 7, 4, 6, 10, 11, 8, 10})});
  expect_values([](const Values& in) { return Values{embedding(in[0], in[1])}; },
                {x, ints({2}, {1, -3}, i64)}, {ints({2, 4}, {4, 5, 6, 7, 0, 1, 2, 3})});
}

TEST(ScatterAdd, AnyAxisAndIndices) {
  for (int64_t axis : {0, 1, -1})
    for (const Shape& indices : {Shape{}, {1}, {7}, {2, 3}, {0}}) {
      Dims updates = {3, 3, 3};
      const auto at = updates.begin() + (axis < 0 ? axis + 3 : axis);
      updates.insert(updates.erase(at), indices.begin(), indices.end());
      check_op(
          {.name = text("scatter_add ", axis, indices),
           .inputs = {{f32, {3, 3, 3}}, {i64, indices}, {f32, Shape(updates)}},
           .build =
               [=](const Values& in) { return Values{scatter_add(in[0], in[1], in[2], axis)}; },
           .low = -3,
           .high = 3,
           .second_order = true});
    }
  for (DType dtype : all_dtypes)
    if (dtype != boolean)
      check_op(
          {.name = text("scatter_add ", dtype),
           .inputs = {{dtype, {7, 5}}, {i32, {6}}, {dtype, {6, 5}}},
           .build = [](const Values& in) { return Values{scatter_add(in[0], in[1], in[2], 0)}; },
           .low = 0,
           .high = 7,
           .gradient = false});
}

// Some targets get hundreds of updates, most get none.
TEST(ScatterAdd, ManyUpdates) {
  for (const auto& [targets, count] :
       std::vector<std::pair<int64_t, int64_t>>{{3, 1000}, {1000, 5000}, {70000, 130}})
    for (DType dtype : {f32, i64})
      check_op(
          {.name = text("scatter_add ", count, " to ", targets, " of ", dtype),
           .inputs = {{dtype, {2, targets, 3}}, {i32, {count}}, {dtype, {2, count, 3}}},
           .build = [](const Values& in) { return Values{scatter_add(in[0], in[1], in[2], 1)}; },
           .low = -3,
           .high = 3,
           .gradient = false,
           .tolerance = dtype == f32 ? 1e-4 : 0});
  check_op(
      {.name = "scatter_add_along_axis, many",
       .inputs = {{f32, {3, 9, 5}}, {i64, {3, 300, 5}}, {f32, {3, 300, 5}}},
       .build =
           [](const Values& in) { return Values{scatter_add_along_axis(in[0], in[1], in[2], 1)}; },
       .low = -9,
       .high = 9,
       .gradient = false,
       .tolerance = 1e-4});
}

TEST(ScatterAdd, ValuesOfNumPy) {
  // np.add.at(x, [1, 1, -1], 10)
  expect_values([](const Values& in) { return Values{scatter_add(in[0], in[1], in[2], 0)}; },
                {counting(i32, {3, 4}), ints({3}, {1, 1, -1}), Tensor::full(i32, {3, 4}, 10)},
                {ints({3, 4}, {0, 1, 2, 3, 24, 25, 26, 27, 18, 19, 20, 21})});
}

TEST(TakeAlongAxis, GathersAndScatters) {
  for (int64_t axis : {0, 1, -1})
    for (int64_t count : {0, 1, 3, 8}) {
      Dims dims = {3, 3, 3};
      dims[static_cast<size_t>(axis < 0 ? axis + 3 : axis)] = count;
      check_op(
          {.name = text("take_along_axis ", axis, ' ', count),
           .inputs = {{f32, {3, 3, 3}}, {i64, Shape(dims)}},
           .build = [=](const Values& in) { return Values{take_along_axis(in[0], in[1], axis)}; },
           .low = -3,
           .high = 3,
           .second_order = true});
      check_op({.name = text("scatter_add_along_axis ", axis, ' ', count),
                .inputs = {{f32, {3, 3, 3}}, {i32, Shape(dims)}, {f32, Shape(dims)}},
                .build =
                    [=](const Values& in) {
                      return Values{scatter_add_along_axis(in[0], in[1], in[2], axis)};
                    },
                .low = -3,
                .high = 3,
                .second_order = true});
    }
  for (DType dtype : all_dtypes)
    check_op({.name = text("take_along_axis ", dtype),
              .inputs = {{dtype, {4, 5}}, {i64, {4, 3}}},
              .build = [](const Values& in) { return Values{take_along_axis(in[0], in[1], 1)}; },
              .low = 0,
              .high = 5,
              .gradient = false});
  expect_values([](const Values& in) { return Values{take_along_axis(in[0], in[1], 1)}; },
                {counting(i32, {3, 4}), ints({3, 3}, {3, 0, -1, 3, 0, -1, 3, 0, -1}, i64)},
                {ints({3, 3}, {3, 0, 3, 7, 4, 7, 11, 8, 11})});
}

TEST(OneHot, CountsTheIndex) {
  for (int64_t axis : {-1, 0, 1})
    for (DType dtype : {f32, i32, boolean})
      check_op({.name = text("one_hot ", axis, dtype),
                .inputs = {{i32, {2, 3}}},
                .build = [=](const Values& in) { return Values{one_hot(in[0], 4, dtype, axis)}; },
                .low = -1,
                .high = 6});
  // keras.ops.one_hot([1, 3, -1, 2], 3)
  expect_values([](const Values& in) { return Values{one_hot(in[0], 3)}; },
                {ints({4}, {1, 3, -1, 2}, i64)},
                {Tensor::of<double>(f32, {4, 3}, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})});
}

TEST(Gather, OutsideIsAnErrorWhenItRuns) {
  const Tensor x = counting(f32, {2, 3}), u = counting(f32, {2, 1});
  for (const char* backend : {"reference", "cpu"})
    for (int64_t bad : {int64_t{3}, int64_t{-4}, int64_t{1} << 40}) {
      const std::string index = text("index ", bad);
      const Tensor at = ints({1}, {bad}, i64), along = ints({2, 1}, {0, bad}, i64);
      expect_user_error(
          [&] {
            evaluate([](const Values& in) { return Values{take(in[0], in[1], 1)}; }, {x, at},
                     backend);
          },
          {"gather", index, "axis 1", "size 3"});
      expect_user_error(
          [&] {
            evaluate([](const Values& in) { return Values{scatter_add(in[0], in[1], in[2], 1)}; },
                     {x, at, u}, backend);
          },
          {"scatter_add", index, "axis 1", "size 3"});
      expect_user_error(
          [&] {
            evaluate([](const Values& in) { return Values{take_along_axis(in[0], in[1], 1)}; },
                     {x, along}, backend);
          },
          {"take_along_axis", index, "axis 1", "size 3"});
      expect_user_error(
          [&] {
            evaluate(
                [](const Values& in) {
                  return Values{scatter_add_along_axis(in[0], in[1], in[2], 1)};
                },
                {x, along, u}, backend);
          },
          {"scatter_add_along_axis", index, "axis 1", "size 3"});
    }
  expect_user_error(
      [&] {
        evaluate([](const Values& in) { return Values{take(in[0], in[1], 0)}; },
                 {Tensor(f32, {0, 3}), ints({1}, {0})});
      },
      {"gather", "index 0", "size 0"});
}

TEST(Gather, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {4, 6}}), i = m.input({i64, {2}}), b = m.input({boolean, {4, 6}});
  const Value real = m.input({f32, {2}}), wide = m.input({i64, {3, 6}});
  expect_user_error([&] { take(x, real, 0); }, {"gather", "i32 or i64", "f32[2]"});
  expect_user_error([&] { take(x, i, 2); }, {"gather", "axis", "got 2"});
  expect_user_error(
      [&] {
        take(x, m.input({i64, {1, 1, 1, 1, 1, 1, 1, 1}}), 0);
      },
      {"gather", "more than 8 axes"});
  expect_user_error([&] { scatter_add(x, i, x, 0); },
                    {"scatter_add", "updates", "f32[2,6]", "f32[4,6]"});
  expect_user_error([&] { scatter_add(b, i, b, 0); }, {"scatter_add", "numbers", "bool[4,6]"});
  expect_user_error([&] { take_along_axis(x, i, 0); },
                    {"take_along_axis", "f32[4,6]", "[?,6]", "i64[2]"});
  expect_user_error([&] { take_along_axis(x, wide, 1); }, {"[4,?]", "i64[3,6]"});
  expect_user_error([&] { scatter_add_along_axis(x, wide, x, 0); },
                    {"scatter_add_along_axis", "f32[3,6]", "f32[4,6]"});
  expect_user_error([&] { one_hot(real, 3); }, {"one_hot", "i32 or i64", "f32[2]"});
  expect_user_error([&] { one_hot(i, -1); }, {"one_hot", "depth", "-1"});
  expect_user_error([&] { one_hot(i, 3, f32, 2); }, {"one_hot", "axis", "got 2"});
}

}  // namespace
}  // namespace keratin::ops

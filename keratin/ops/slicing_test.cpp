#include "keratin/ops/slicing.h"

#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counting;
using testing::expect_user_error;
using testing::expect_values;
using testing::ints;

using enum DType;

TEST(Slice, Windows) {
  const SliceAttrs cases[] = {
      {{0, 0, 0}, {2, 3, 7}, {1, 1, 1}},      // everything
      {{1, 0, 2}, {2, 2, 6}, {1, 1, 1}},      // a box
      {{0, 0, 1}, {2, 3, 7}, {1, 2, 3}},      // steps
      {{0, -2, -4}, {2, -1, -1}, {1, 1, 2}},  // from the end
      {{0, 1, 0}, {2, 1, 7}, {1, 1, 1}},      // nothing
      {{0, 2, 5}, {9, 1, 9}, {1, 1, 1}},      // the limit before the start, and outside
      {{0, 0, -99}, {to_end, 2, to_end}, {5, 1, 6}},
  };
  for (const SliceAttrs& c : cases)
    check_op(
        {.name = text("slice ", c.start[2], ":", c.limit[2]),
         .inputs = {{f32, {2, 3, 7}}},
         .build = [&](const Values& in) { return Values{slice(in[0], c.start, c.limit, c.step)}; },
         .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("slice ", dtype),
              .inputs = {{dtype, {5, 9}}},
              .build =
                  [](const Values& in) {
                    return Values{slice(in[0], {1, 2}, {5, 8}, {2, 1})};
                  },
              .gradient = false});
  check_op({.name = "slice of a scalar", .inputs = {{f32, {}}}, .build = [](const Values& in) {
              return Values{slice(in[0], Dims(), Dims())};
            }});
  check_op({.name = "slice of nothing", .inputs = {{f32, {0, 4}}}, .build = [](const Values& in) {
              return Values{slice(in[0], {0, 1}, {3, 3})};
            }});
}

TEST(Slice, OneAxis) {
  for (int64_t axis : {0, 1, -1})
    check_op(
        {.name = text("slice_axis ", axis),
         .inputs = {{f32, {4, 5, 6}}},
         .build = [=](const Values& in) { return Values{slice_axis(in[0], axis, 1, -1, 2)}; }});
}

TEST(Slice, AsInPython) {
  // NumPy: x = np.arange(24).reshape(4, 6), then x[1:4:2, -5:-1:3] and so on.
  expect_values(
      [](const Values& in) {
        return Values{strided_slice(in[0], {{1, 4, 2}, {-5, -1, 3}}),
                      strided_slice(in[0], {{.step = -2}, {4, 0, -3}}),
                      strided_slice(in[0], {{.start = -1}, {.start = 10}}),
                      strided_slice(in[0], {{.limit = -9, .step = -1}, {.start = -3}}),
                      strided_slice(in[0], {{5, 1, -1}, {.limit = 1}}),
                      strided_slice(in[0], {})};
      },
      {counting(i32, {4, 6})},
      {ints({2, 2}, {7, 10, 19, 22}), ints({2, 2}, {22, 19, 10, 7}), ints({1, 0}, {}),
       ints({4, 3}, {21, 22, 23, 15, 16, 17, 9, 10, 11, 3, 4, 5}), ints({2, 1}, {18, 12}),
       counting(i32, {4, 6})});
  check_op({.name = "strided_slice", .inputs = {{f32, {4, 6}}}, .build = [](const Values& in) {
              return Values{strided_slice(in[0], {{.start = -1, .step = -2}, {.start = 1}})};
            }});
}

TEST(Slice, OfUnknownSizes) {
  Module m;
  const Value x = m.input({f32, {unknown, 4}});
  EXPECT_EQ(text(slice(x, {0, 1}, {to_end, 3}).shape()), "[?,2]");
  EXPECT_EQ(slice(x, {0, 0}, {to_end, 4}), x);
  EXPECT_EQ(text(slice(x, {3, 0}, {3, 4}).shape()), "[0,4]");
  EXPECT_EQ(text(slice(x, {-1, 0}, {to_end, 4}).shape()), "[?,4]");
}

TEST(Slice, Split) {
  check_op({.name = "split", .inputs = {{f32, {6, 4}}}, .build = [](const Values& in) {
              return split(in[0], 3, 0);
            }});
  check_op({.name = "split between", .inputs = {{f32, {2, 6, 3}}}, .build = [](const Values& in) {
              return split(in[0], 2, 1);
            }});
  expect_values(
      [](const Values& in) {
        return split_sizes(in[0], {1, -1, 2}, -1);
      },
      {counting(i32, {2, 4})},
      {ints({2, 1}, {0, 4}), ints({2, 1}, {1, 5}), ints({2, 2}, {2, 3, 6, 7})});
}

TEST(Slice, SplitOfAnUnknownSize) {
  Module m;
  const Value x = m.input({f32, {unknown, 6, unknown}});
  for (const Value part : split(x, 2, 0)) EXPECT_EQ(text(part.shape()), "[?,6,?]");
  EXPECT_EQ(text(split(x, 3, 1)[2].shape()), "[?,2,?]");
  expect_user_error([&] { split(x, 4, 1); }, {"split", "axis 1", "4 equal pieces"});
  expect_user_error([&] { split(x, 0, 0); }, {"split", "axis 0", "0 equal pieces"});
}

TEST(Slice, Reverse) {
  for (const Dims& axes : {Dims{}, {0}, {1}, {-1}, {0, 2}})
    check_op({.name = "reverse",
              .inputs = {{f32, {3, 4, 5}}},
              .build = [&](const Values& in) { return Values{flip(in[0], axes)}; },
              .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("reverse ", dtype),
              .inputs = {{dtype, {3, 7}}},
              .build = [](const Values& in) { return Values{flip(in[0], {1})}; },
              .gradient = false});
  expect_values(
      [](const Values& in) {
        return Values{flip(in[0], {1}), flip(in[0])};
      },
      {counting(i32, {2, 3})},
      {ints({2, 3}, {2, 1, 0, 5, 4, 3}), ints({2, 3}, {5, 4, 3, 2, 1, 0})});
}

TEST(DynamicSlice, MovesTheWindowInside) {
  const auto build = [](const Values& in) { return Values{dynamic_slice(in[0], in[1], {2, 3})}; };
  const Tensor x = counting(i32, {3, 5});
  const auto at = [](DType dtype, int64_t a, int64_t b) {
    return Tensor::of<int64_t>(dtype, {2}, {a, b});
  };
  expect_values(build, {x, at(i64, 1, 1)}, {ints({2, 3}, {6, 7, 8, 11, 12, 13})});
  expect_values(build, {x, at(i32, -4, 4)}, {ints({2, 3}, {2, 3, 4, 7, 8, 9})});
  expect_values(build, {x, at(i64, int64_t{1} << 62, -1)}, {ints({2, 3}, {5, 6, 7, 10, 11, 12})});
}

TEST(DynamicSlice, ShapesGradientsDTypes) {
  for (DType index : {i32, i64})
    for (const Dims& sizes : {Dims{2, 3}, {-1, 1}, {3, 5}, {0, 2}})
      check_op(
          {.name = text("dynamic_slice ", index),
           .inputs = {{f32, {3, 5}}, {index, {2}}},
           .build = [&](const Values& in) { return Values{dynamic_slice(in[0], in[1], sizes)}; },
           .low = -1,
           .high = 3});
  for (DType dtype : all_dtypes) {
    check_op({.name = text("dynamic_slice ", dtype),
              .inputs = {{dtype, {6}}, {i64, {1}}},
              .build = [](const Values& in) { return Values{dynamic_slice(in[0], in[1], {4})}; },
              .high = 4,
              .gradient = false});
    check_op(
        {.name = text("dynamic_update_slice ", dtype),
         .inputs = {{dtype, {6}}, {dtype, {4}}, {i64, {1}}},
         .build =
             [](const Values& in) { return Values{dynamic_update_slice(in[0], in[1], in[2])}; },
         .high = 4,
         .gradient = false});
  }
  check_op({.name = "scalar starts",
            .inputs = {{f32, {4, 5}}, {i32, {}}, {i32, {}}},
            .build =
                [](const Values& in) {
                  return Values{dynamic_slice(in[0], Values{in[1], in[2]}, {2, 2})};
                },
            .low = 0});
}

TEST(DynamicSlice, Update) {
  check_op(
      {.name = "dynamic_update_slice",
       .inputs = {{f32, {4, 5}}, {f32, {2, 3}}, {i64, {2}}},
       .build = [](const Values& in) { return Values{dynamic_update_slice(in[0], in[1], in[2])}; },
       .low = -2,
       .high = 4,
       .second_order = true});
  expect_values(
      [](const Values& in) {
        return Values{dynamic_update_slice(in[0], in[1], Values{in[2], in[3]})};
      },
      {counting(i32, {2, 4}), Tensor::full(i32, {1, 2}, -1), Tensor::scalar(i64, 1),
       Tensor::scalar(i64, 3)},
      {ints({2, 4}, {0, 1, 2, 3, 4, 5, -1, -1})});
}

TEST(Slice, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {4, 6}}), start = m.input({i64, {2}}), real = m.input({f32, {2}});
  expect_user_error([&] { slice(x, {0}, {1}); }, {"slice", "each axis", "[4,6]", "[0]"});
  expect_user_error([&] { slice(x, {0, 0}, {1, 1}, {1, 0}); }, {"slice", "positive", "got 0"});
  expect_user_error([&] { slice_axis(x, 2, 0, 1); }, {"slice", "axis", "got 2"});
  expect_user_error([&] { strided_slice(x, {{}, {}, {}}); }, {"strided_slice", "3 ranges"});
  expect_user_error([&] { strided_slice(x, {{.step = 0}}); }, {"strided_slice", "0"});
  expect_user_error([&] { flip(x, {0, 0}); }, {"reverse", "twice"});
  expect_user_error([&] { split(x, 5, 1); }, {"split", "axis 1", "[4,6]", "5 equal"});
  expect_user_error([&] { split(x, 0, 1); }, {"split", "0 equal"});
  expect_user_error([&] { split_sizes(x, {1, 2}, 0); }, {"split", "[1,2]", "add up"});
  expect_user_error([&] { split_sizes(x, {-1, -1}, 0); }, {"split", "[-1,-1]", "infer"});
  expect_user_error([&] { split_sizes(x, {-1, 5}, 0); }, {"split", "[-1,5]", "infer"});
  expect_user_error(
      [&] {
        dynamic_slice(x, start, {5, 1});
      },
      {"dynamic_slice", "[5,1]", "does not fit", "[4,6]"});
  expect_user_error([&] { dynamic_slice(x, start, {1}); }, {"dynamic_slice", "one size per axis"});
  expect_user_error(
      [&] {
        dynamic_slice(x, real, {1, 1});
      },
      {"dynamic_slice", "i32 or i64", "f32[2]"});
  expect_user_error([&] { dynamic_slice(x, Values{start}, {1, 1}); }, {"dynamic_slice", "scalar"});
  expect_user_error([&] { dynamic_update_slice(x, real, start); },
                    {"dynamic_update_slice", "f32[4,6]", "f32[2]"});
  expect_user_error(
      [&] {
        dynamic_update_slice(x, m.input({f32, {1, 7}}), start);
      },
      {"dynamic_update_slice", "[1,7]", "does not fit", "[4,6]"});
}

}  // namespace
}  // namespace keratin::ops

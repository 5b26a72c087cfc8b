#include "keratin/ops/joining.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"
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
constexpr int64_t huge = int64_t{1} << 45;

TEST(Pad, WithAValue) {
  const PadAttrs cases[] = {{.lo = {1, 0}, .hi = {0, 2}},
                            {.lo = {}, .hi = {1, 1}, .interior = {2, 1}, .value = -1.5},
                            {.interior = {0, 3}},
                            {}};
  for (const PadAttrs& attrs : cases)
    for (const Shape& shape : {Shape{2, 3}, {1, 1}, {0, 3}})
      check_op({.name = text("pad ", shape),
                .inputs = {{f32, shape}},
                .build = [&](const Values& in) { return Values{pad(in[0], attrs)}; },
                .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("pad ", dtype),
              .inputs = {{dtype, {3, 7}}},
              .build =
                  [](const Values& in) {
                    return Values{pad(in[0], {.lo = {1, 2}, .hi = {0, 1}, .value = 1})};
                  },
              .gradient = false});
  expect_values(
      [](const Values& in) {
        return Values{pad(in[0], {.lo = {0, 1}, .hi = {1, 0}, .interior = {0, 1}, .value = 9})};
      },
      {counting(i32, {2, 2})}, {ints({3, 4}, {9, 0, 9, 1, 9, 2, 9, 3, 9, 9, 9, 9})});
}

TEST(Pad, Mirrored) {
  // NumPy: np.pad(np.arange(6).reshape(2, 3), ((1, 0), (2, 1)), mode="reflect"), …
  expect_values(
      [](const Values& in) {
        return Values{pad_reflect(in[0], {1, 0}, {0, 1}), pad_reflect(in[0], {1, 2}, {1, 1}),
                      pad_symmetric(in[0], {1, 0}, {2, 3})};
      },
      {counting(i32, {2, 3})},
      {ints({3, 4}, {3, 4, 5, 4, 0, 1, 2, 1, 3, 4, 5, 4}),
       ints({4, 6}, {5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1}),
       ints({5, 6}, {0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 3, 4, 5,
                     5, 4, 3, 3, 4, 5, 5, 4, 3, 0, 1, 2, 2, 1, 0})});
  for (auto op : {pad_reflect, pad_symmetric})
    check_op({.name = "mirrored",
              .inputs = {{f32, {2, 4, 3}}},
              .build =
                  [op](const Values& in) {
                    return Values{op(in[0], {0, 3, 1}, {0, 1, 2})};
                  },
              .second_order = true});
}

TEST(Concat, AlongAnyAxis) {
  for (int64_t axis : {0, 1, -1}) {
    Dims dims = {2, 3, 4};
    Types inputs;
    for (int64_t size : {1, 3, 0, 2}) {
      dims[static_cast<size_t>(axis < 0 ? axis + 3 : axis)] = size;
      inputs.push_back({f32, Shape(dims)});
    }
    check_op({.name = text("concat ", axis),
              .inputs = inputs,
              .build = [=](const Values& in) { return Values{concatenate(in, axis)}; },
              .second_order = true});
  }
  for (DType dtype : all_dtypes)
    check_op({.name = text("concat ", dtype),
              .inputs = {{dtype, {3, 2}}, {dtype, {3, 5}}},
              .build = [](const Values& in) { return Values{concatenate(in, 1)}; },
              .gradient = false});
  check_op({.name = "twice the same", .inputs = {{f32, {2}}}, .build = [](const Values& in) {
              return Values{concatenate({in[0], in[0]}, 0)};
            }});
  Module m;
  const Value a = m.input({f32, {unknown, 3}}), b = m.input({f32, {2, unknown}});
  EXPECT_EQ(text(concatenate({a, b}, 0).shape()), "[?,3]");
  EXPECT_EQ(text(concatenate({a, b}, 1).shape()), "[2,?]");
  EXPECT_EQ(concatenate({a}, 0), a);
}

TEST(Concat, Stack) {
  for (int64_t axis : {0, 1, 2, -1})
    check_op({.name = text("stack ", axis),
              .inputs = {{f32, {2, 3}}, {f32, {2, 3}}},
              .build = [=](const Values& in) { return Values{stack(in, axis)}; }});
  expect_values(
      [](const Values& in) {
        return Values{stack({in[0], in[1]}, 1)};
      },
      {ints({3}, {0, 1, 2}), ints({3}, {3, 4, 5})}, {ints({3, 2}, {0, 3, 1, 4, 2, 5})});
}

TEST(Joining, Roll) {
  for (int64_t shift : {0, 1, -1, 2, 5, -7, 300})
    check_op(
        {.name = text("roll ", shift), .inputs = {{f32, {3, 4}}}, .build = [=](const Values& in) {
           return Values{roll(in[0], shift, 0), roll(in[0], shift, -1)};
         }});
  check_op({.name = "roll of nothing", .inputs = {{f32, {0, 2}}}, .build = [](const Values& in) {
              return Values{roll(in[0], 3, 0)};
            }});
  expect_values(
      [](const Values& in) {
        return Values{roll(in[0], 2, 1), roll(in[0], -1, 0)};
      },
      {counting(i32, {2, 3})},
      {ints({2, 3}, {1, 2, 0, 4, 5, 3}), ints({2, 3}, {3, 4, 5, 0, 1, 2})});
}

TEST(Joining, TileAndRepeat) {
  for (const Dims& repeats : {Dims{1, 1}, {2, 1}, {1, 3}, {3, 2}, {0, 2}})
    check_op({.name = text("tile ", repeats[0], ' ', repeats[1]),
              .inputs = {{f32, {2, 3}}},
              .build = [&](const Values& in) { return Values{tile(in[0], repeats)}; },
              .second_order = true});
  check_op({.name = "tile of rank 6",
            .inputs = {{f32, {1, 2, 1, 2, 1, 2}}},
            .build =
                [](const Values& in) {
                  return Values{tile(in[0], {2, 2, 2, 2, 2, 2})};
                },
            .gradient = false});
  for (int64_t count : {0, 1, 3})
    for (int64_t axis : {0, 1, -1})
      check_op({.name = text("repeat ", count, ' ', axis),
                .inputs = {{f32, {2, 3, 2}}},
                .build = [=](const Values& in) { return Values{repeat(in[0], count, axis)}; }});
  expect_values(
      [](const Values& in) {
        return Values{tile(in[0], {2, 2}), repeat(in[0], 2, 1), repeat(in[0], 2, 0)};
      },
      {counting(i32, {2, 3})},
      {ints({4, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}),
       ints({2, 6}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}),
       ints({4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5})});
}

TEST(Joining, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), y = m.input({f32, {3, 2}}), i = m.input({i32, {2, 3}});
  expect_user_error([&] { pad(x, PadAttrs{.lo = {1}}); }, {"pad", "'lo'", "[2,3]", "[1]"});
  expect_user_error([&] { pad(x, {.hi = {0, -1}}); }, {"pad", "'hi'", "negative", "[0,-1]"});
  expect_user_error([&] { pad(x, {.interior = {huge, huge}}); }, {"pad", "too many elements"});
  expect_user_error([&] { pad(x, {.lo = {huge * 9, 0}}); }, {"pad", "2^48"});
  expect_user_error(
      [&] {
        pad_reflect(x, {0, 3}, {0, 0});
      },
      {"reflect_pad", "axis 1", "[2,3]", "at most 2", "got 3"});
  expect_user_error([&] { pad_symmetric(x, {0, 0}, {3, 0}); }, {"at most 2", "got 0 and 3"});
  expect_user_error([&] { concatenate({}, 0); }, {"concat", "at least one"});
  expect_user_error([&] { concatenate({x, y}, 0); }, {"concat", "f32[2,3]", "f32[3,2]", "axis 0"});
  expect_user_error([&] { concatenate({x, i}, 0); }, {"concat", "f32[2,3]", "i32[2,3]"});
  expect_user_error([&] { concatenate({x, m.input({f32, {2}})}, 0); }, {"concat", "f32[2]"});
  expect_user_error([&] { concatenate({x, x}, 2); }, {"concat", "axis", "got 2"});
  expect_user_error([&] { stack({x, y}, 0); }, {"stack", "one shape", "[2,3]", "[3,2]"});
  expect_user_error([&] { roll(x, 1, 2); }, {"roll", "axis", "got 2"});
  expect_user_error([&] { emit(tile_op, {x}, TileAttrs{{2}}); },
                    {"tile", "each axis", "[2,3]", "[2]"});
  expect_user_error([&] { tile(x, {-1, 1}); }, {"tile", "negative", "[-1,1]"});
  expect_user_error([&] { tile(x, {huge, huge}); }, {"tile", "too many elements"});
  expect_user_error([&] { repeat(x, -1, 0); }, {"repeat", "negative"});
  expect_user_error([&] { repeat(x, huge * 8, 0); }, {"repeat", "too many elements"});
}

}  // namespace
}  // namespace keratin::ops

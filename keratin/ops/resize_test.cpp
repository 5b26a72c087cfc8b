#include "keratin/ops/image.h"

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counting;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

TEST(Resize, LargerAndSmaller) {
  for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"})
    for (const Dims& size : {Dims{5, 7}, {2, 2}, {6, 3}, {1, 9}, {3, 4}, {6, 8}})
      check_op({.name = text(method, ' ', size[0], 'x', size[1]),
                .inputs = {{f32, {2, 3, 4, 2}}},
                .build =
                    [&](const Values& in) {
                      return Values{resize(in[0], {size, method}),
                                    resize(in[0], {size, method}, "channels_first")};
                    },
                .second_order = true});
  check_op({.name = "one pixel", .inputs = {{f32, {1, 1, 1, 3}}}, .build = [](const Values& in) {
              return Values{resize(in[0], {{2, 3}, "bilinear"})};
            }});
  check_op({.name = "no images", .inputs = {{f32, {0, 2, 2, 3}}}, .build = [](const Values& in) {
              return Values{resize(in[0], {{4, 4}, "bilinear"})};
            }});
  for (DType dtype : all_dtypes)
    check_op({.name = text("nearest ", dtype),
              .inputs = {{dtype, {1, 3, 3, 2}}},
              .build =
                  [](const Values& in) {
                    return Values{resize(in[0], {{4, 5}, "nearest"})};
                  },
              .gradient = false});
  for (DType dtype : {DType::f64, DType::f16, DType::bf16})
    check_op({.name = text("bilinear ", dtype),
              .inputs = {{dtype, {1, 3, 3, 2}}},
              .build =
                  [](const Values& in) {
                    return Values{resize(in[0], {{4, 5}, "bilinear"})};
                  },
              .gradient = false});
}

// keras.ops.image.resize(x, size, interpolation=method), Keras 3.15.
TEST(Resize, ValuesOfKeras) {
  const Tensor x = Tensor::of<double>(f32, {1, 3, 4, 1}, {0, 1, 4, 9, 2, 7, 5, 3, 8, 6, 10, 12});
  expect_values(
      [](const Values& in) {
        return Values{
            resize(in[0], {{5, 7}, "nearest"}), resize(in[0], {{5, 7}, "bilinear"}),
            resize(in[0], {{2, 2}, "nearest"}), resize(in[0], {{2, 2}, "bilinear"}),
            resize(in[0], {{6, 3}, "nearest"}), resize(in[0], {{6, 3}, "bilinear"}),
        };
      },
      {x},
      {Tensor::of<double>(f32, {1, 5, 7, 1},
                          {0, 0, 1, 4, 4, 9, 9,  0,  0,  1,  4, 4, 9, 9,  2,  2,  7, 5,
                           5, 3, 3, 8, 8, 6, 10, 10, 12, 12, 8, 8, 6, 10, 10, 12, 12}),
       Tensor::of<double>(f32, {1, 5, 7, 1},
                          {0,   0.3571429, 0.9285715, 2.5, 4.357144, 7.214287, 9,
                           0.8, 1.728572,  3.214286,  3.9, 4.557143, 5.814286, 6.6,
                           2,   3.785715,  6.642858,  6,   4.857142, 3.714285, 3,
                           5.6, 5.885715,  6.342857,  7.2, 8.028572, 8.257144, 8.400002,
                           8,   7.285714,  6.142857,  8,   10.14286, 11.28572, 12}),
       Tensor::of<double>(f32, {1, 2, 2, 1}, {1, 9, 6, 12}),
       Tensor::of<double>(f32, {1, 2, 2, 1}, {1.5, 5.875, 6.375, 9.25}),
       Tensor::of<double>(f32, {1, 6, 3, 1},
                          {0, 4, 9, 0, 4, 9, 2, 5, 3, 2, 5, 3, 8, 10, 12, 8, 10, 12}),
       Tensor::of<double>(
           f32, {1, 6, 3, 1},
           {0.1666667, 2.5, 8.166668, 0.8333334, 3.375, 6.958334, 2.166667, 5.125, 4.541667,
            4.041667, 6.5, 5.416667, 6.458333, 7.5, 9.583334, 7.666667, 8, 11.66667})});
  expect_values(
      [](const Values& in) {
        return Values{resize(in[0], {{3, 4}, "bilinear"}, "channels_first")};
      },
      {counting(f32, {1, 2, 2, 2})},
      {Tensor::of<double>(f32, {1, 2, 3, 4},
                          {0, 0.25, 0.75, 1, 1, 1.25, 1.75, 2, 2, 2.25, 2.75, 3,
                           4, 4.25, 4.75, 5, 5, 5.25, 5.75, 6, 6, 6.25, 6.75, 7})});
}

TEST(Resize, OfUnknownSizes) {
  Module m;
  const Value x = m.input({f32, {unknown, unknown, 5, unknown}});
  EXPECT_EQ(text(resize(x, {{3, 4}, "nearest"}).shape()), "[?,3,4,?]");
}

TEST(Resize, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {1, 2, 3, 4}}), flat = m.input({f32, {2, 3, 4}});
  const Value i = m.input({i32, {1, 2, 3, 4}}), none = m.input({f32, {1, 0, 3, 4}});
  expect_user_error([&] { resize(flat, {{2, 2}}); }, {"resize", "[batch, height", "f32[2,3,4]"});
  expect_user_error([&] { resize(flat, {{2, 2}}, "channels_first"); }, {"resize", "f32[2,3,4]"});
  expect_user_error([&] { resize(x, {{2}}); }, {"resize", "height and width", "[2]"});
  expect_user_error([&] { resize(x, {{0, 2}}); }, {"resize", "positive", "[0,2]"});
  expect_user_error([&] { resize(x, {{2, 2}, "cubic"}); }, {"resize", "'cubic'"});
  expect_user_error([&] { resize(x, {{2, 2}}, "NHWC"); }, {"resize", "'NHWC'"});
  expect_user_error([&] { resize(i, {{2, 2}}); }, {"resize", "bilinear", "float", "i32[1,2,3,4]"});
  expect_user_error([&] { resize(none, {{2, 2}}); }, {"resize", "nothing", "f32[1,0,3,4]"});
}

}  // namespace
}  // namespace keratin::ops

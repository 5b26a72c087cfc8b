#include "keratin/ops/matmul.h"

#include "keratin/base/text.h"
#include "keratin/ops/emit.h"
#include "keratin/ops/records.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

// The last two axes swapped, if `swap` says so.
Shape swapped(const Shape& shape, bool swap) {
  Dims dims = shape.dims();
  if (swap) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return Shape(dims);
}

// a·b for inputs of these shapes, before any transpose.
void check_matmul(DType dtype, const Shape& a, const Shape& b, bool gradient = true) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      check_op({.name = text("matmul ", dtype, a, b, ta ? " aT" : "", tb ? " bT" : ""),
                .inputs = {{dtype, swapped(a, ta)}, {dtype, swapped(b, tb)}},
                .build =
                    [=](const Values& in) {
                      return Values{matmul(in[0], in[1], {ta, tb})};
                    },
                .gradient = gradient,
                .second_order = gradient && a.rank() == 2});
}

TEST(Matmul, Matrices) {
  check_matmul(f32, {3, 4}, {4, 5});
  check_matmul(f32, {1, 7}, {7, 1});
  check_matmul(f32, {1, 1}, {1, 6});
  check_matmul(f32, {17, 33}, {33, 9}, false);
  check_matmul(f32, {5, 130}, {130, 66}, false);
}

TEST(Matmul, VectorsCountAsOneRowOrColumn) {
  struct Shapes {
    Shape a, b, y;
  };
  for (const auto& [a, b, y] : {Shapes{{4}, {4, 5}, {5}}, Shapes{{3, 4}, {4}, {3}},
                                Shapes{{4}, {4}, {}}, Shapes{{2, 3, 4}, {4}, {2, 3}}}) {
    Module m;
    EXPECT_EQ(matmul(m.input({f32, a}), m.input({f32, b})).shape(), y);
    check_op({.name = text("matmul ", a, b),
              .inputs = {{f32, a}, {f32, b}},
              .build = [](const Values& in) { return Values{matmul(in[0], in[1])}; }});
  }
}

TEST(Matmul, Batches) {
  check_matmul(f32, {2, 3, 4}, {2, 4, 5});
  check_matmul(f32, {2, 3, 2, 4}, {2, 3, 4, 2});
}

TEST(Matmul, BatchesBroadcast) {
  check_matmul(f32, {3, 2, 4}, {4, 5});
  check_matmul(f32, {2, 4}, {3, 4, 5});
  check_matmul(f32, {3, 1, 2, 4}, {5, 4, 2});
  check_matmul(f32, {1, 2, 3}, {4, 3, 2});
}

TEST(Matmul, EveryDType) {
  for (DType dtype : {f64, f16, bf16}) {
    check_matmul(dtype, {4, 6}, {6, 3}, false);
    check_matmul(dtype, {2, 5, 9}, {9, 8}, false);
  }
  for (DType dtype : {i8, u8, i32, i64})
    check_op({.name = text("matmul ", dtype),
              .inputs = {{dtype, {2, 3, 8}}, {dtype, {8, 5}}},
              .build = [](const Values& in) { return Values{matmul(in[0], in[1])}; },
              .low = -100,
              .high = 100});
}

TEST(Matmul, OfNothing) {
  check_matmul(f32, {0, 3}, {3, 2});
  check_matmul(f32, {2, 0}, {0, 3});
  check_matmul(f32, {2, 3}, {3, 0});
  check_matmul(f32, {0, 2, 3}, {3, 4});
  expect_values([](const Values& in) { return Values{matmul(in[0], in[1])}; },
                {Tensor(f32, {2, 0}), Tensor(f32, {0, 2})}, {Tensor::zeros(f32, {2, 2})});
}

TEST(Matmul, ValuesOfNumPy) {
  const Tensor a = Tensor::of<double>(f32, {2, 3}, {1, 2, 3, -4, 5, 0.5});
  const Tensor b = Tensor::of<double>(f32, {3, 2}, {0.25, 1, -2, 3, 7, -1});
  expect_values([](const Values& in) { return Values{matmul(in[0], in[1])}; }, {a, b},
                {Tensor::of<double>(f32, {2, 2}, {17.25, 4, -7.5, 10.5})});
  expect_values(
      [](const Values& in) {
        return Values{matmul(in[0], in[1], {.transpose_a = true, .transpose_b = true})};
      },
      {a, b}, {Tensor::of<double>(f32, {3, 3}, {-3.75, -14, 11, 5.5, 11, 9, 1.25, -4.5, 20.5})});
}

TEST(Matmul, IntegersWrap) {
  expect_values([](const Values& in) { return Values{matmul(in[0], in[1])}; },
                {Tensor::of<double>(i8, {1, 2}, {100, 1}), Tensor::of<double>(i8, {2, 1}, {3, 1})},
                {Tensor::of<double>(i8, {1, 1}, {45})});
}

TEST(Matmul, UnknownSizes) {
  Module m;
  const auto shape = [&](const Shape& a, const Shape& b) {
    return text(matmul(m.input({f32, a}), m.input({f32, b})).shape());
  };
  EXPECT_EQ(shape({unknown, 3}, {3, 4}), "[?,4]");
  EXPECT_EQ(shape({2, unknown}, {3, 4}), "[2,4]");
  EXPECT_EQ(shape({unknown, 2, 3}, {1, 3, 4}), "[?,2,4]");
  EXPECT_EQ(shape({unknown, 2, 3}, {5, 3, unknown}), "[5,2,?]");
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), y = m.input({f32, {4, 2}}), v = m.input({f32, {3}});
  const Value i = m.input({i32, {3, 2}}), b = m.input({boolean, {3, 3}});
  expect_user_error([&] { matmul(x, y); }, {"matmul", "[2,3]", "[4,2]", "3 and 4"});
  expect_user_error([&] { matmul(x, y, {.transpose_b = true}); },
                    {"[4,2] (transposed)", "3 and 2"});
  expect_user_error([&] { emit(matmul_op, {x, v}, MatmulAttrs{}); }, {"matmul", "rank 2", "[3]"});
  expect_user_error([&] { matmul(x, i); }, {"matmul", "one dtype", "f32[2,3]", "i32[3,2]"});
  expect_user_error([&] { matmul(b, b); }, {"matmul", "numbers", "bool[3,3]"});
  const Value p = m.input({f32, {2, 1, 3}}), q = m.input({f32, {3, 3, 1}});
  expect_user_error([&] { matmul(p, q); }, {"matmul", "broadcast"});
  const Value tall = m.input({f32, {int64_t{1} << 30, 1}});
  expect_user_error([&] { matmul(tall, tall, {.transpose_b = true}); },
                    {"matmul", "too many elements"});
}

}  // namespace
}  // namespace keratin::ops

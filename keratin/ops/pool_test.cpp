#include "keratin/ops/pool.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counted;
using testing::evaluate;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

struct PoolCase {
  const char* name;
  Shape x;
  PoolAttrs attrs;
};

const PoolCase pool_cases[] = {
    {"1d", {2, 7, 3}, {.window = {2}}},
    {"2d", {2, 4, 6, 3}, {.window = {2}}},
    {"2d same", {2, 5, 4, 2}, {.window = {2}, .padding = "same"}},
    {"2d overlapping", {1, 6, 5, 2}, {.window = {3, 2}, .strides = {2, 1}}},
    {"2d same overlapping", {1, 6, 5, 2}, {.window = {3}, .strides = {2}, .padding = "same"}},
    {"2d with gaps", {1, 7, 7, 1}, {.window = {2}, .strides = {3}, .padding = "same"}},
    {"2d large window", {1, 18, 17, 1}, {.window = {17}, .strides = {1}}},
    {"3d", {1, 4, 3, 5, 2}, {.window = {2, 3, 2}, .padding = "same"}},
    {"no samples", {0, 4, 4, 1}, {.window = {2}}},
};

TEST(Pool, BehavesAsAnOp) {
  for (const PoolCase& c : pool_cases) {
    check_op({.name = text("max ", c.name),
              .inputs = {{f32, c.x}},
              .build =
                  [&](const Values& in) {
                    const MaxPool pool = max_pool_where(in[0], c.attrs);
                    return Values{pool.y, pool.where};
                  },
              .second_order = true});
    check_op({.name = text("average ", c.name),
              .inputs = {{f32, c.x}},
              .build = [&](const Values& in) { return Values{avg_pool(in[0], c.attrs)}; },
              .second_order = true});
  }
  for (DType dtype : {f64, f16, bf16, i32, DType::i8})
    check_op({.name = text("max ", dtype),
              .inputs = {{dtype, {2, 4, 5, 3}}},
              .build =
                  [](const Values& in) {
                    return Values{max_pool(in[0], {.window = {2}, .padding = "same"})};
                  },
              .low = -9,
              .high = 9,
              .gradient = false});
}

TEST(Pool, GradientOpsBehaveAsOps) {
  for (const PoolCase& c : pool_cases) {
    Module m;
    const MaxPool pool = max_pool_where(m.input({f32, c.x}), c.attrs);
    PoolAttrs back = c.attrs;
    back.sizes = Dims(c.x.begin() + 1, c.x.end() - 1);
    // Positions that are inside the input whatever the padding is.
    const Tensor where =
        evaluate([&](const Values& in) { return Values{max_pool_where(in[0], c.attrs).where}; },
                 {testing::random_tensor({f32, c.x}, -1, 1, 3)})[0];
    const Tensor dy = testing::random_tensor(pool.y.type(), -1, 1, 4);
    const Tensor x = testing::random_tensor({f32, c.x}, -1, 1, 5);
    check_op({.name = text("max_unpool ", c.name),
              .inputs = {pool.y.type(), pool.where.type()},
              .build = [&](const Values& in) { return Values{max_unpool(in[0], in[1], back)}; },
              .data = {dy, where}});
    check_op({.name = text("max_repool ", c.name),
              .inputs = {{f32, c.x}, pool.where.type()},
              .build = [&](const Values& in) { return Values{max_repool(in[0], in[1], c.attrs)}; },
              .data = {x, where}});
    check_op({.name = text("avg_pool_grad ", c.name),
              .inputs = {pool.y.type()},
              .build = [&](const Values& in) { return Values{avg_pool_grad(in[0], back)}; },
              .second_order = true});
  }
}

TEST(Pool, ChannelsFirstAndGlobal) {
  const std::pair<const char*, std::function<Value(Value)>> cases[] = {
      {"max first", [](Value x) { return max_pool(x, {.window = {2}}, "channels_first"); }},
      {"average first", [](Value x) { return avg_pool(x, {.window = {2}}, "channels_first"); }},
      {"global max", [](Value x) { return global_max_pool(x); }},
      {"global max first", [](Value x) { return global_max_pool(x, true, "channels_first"); }},
      {"global average", [](Value x) { return global_avg_pool(x, true); }},
      {"global average first", [](Value x) { return global_avg_pool(x, false, "channels_first"); }},
  };
  for (const auto& [name, build] : cases)
    check_op({.name = name,
              .inputs = {{f32, {2, 3, 4, 5}}},
              .build = [build = build](const Values& in) { return Values{build(in[0])}; }});
  Module m;
  const Value x = m.input({f32, {2, 3, 4, 5}});
  EXPECT_EQ(global_avg_pool(x).shape(), (Shape{2, 5}));
  EXPECT_EQ(global_avg_pool(x, true, "channels_first").shape(), (Shape{2, 3, 1, 1}));
  EXPECT_EQ(max_pool(x, {.window = {2}}, "channels_first").shape(), (Shape{2, 3, 2, 2}));
}

// The numbers below are those of Keras 3.15 on JAX.
TEST(Pool, GivesKerasNumbers) {
  const auto x = [](const Shape& shape) { return std::vector{counted(shape, 7, 11, 5)}; };
  expect_values(
      x({1, 5, 5, 1}),
      [](const Values& in) { return max_pool(in[0], {.window = {2}, .padding = "same"}); },
      {1, 3, 3, 1}, {4, 5, 3, 1, 4, 5, 3, 2, -2});
  const PoolAttrs overlapping{.window = {3}, .strides = {2}, .padding = "same"};
  expect_values(x({1, 5, 4, 1}), [&](const Values& in) { return max_pool(in[0], overlapping); },
                {1, 3, 2, 1}, {4, 5, 5, 5, 5, 5});
  expect_values(x({1, 5, 4, 1}), [&](const Values& in) { return avg_pool(in[0], overlapping); },
                {1, 3, 2, 1}, {-0.5, 1.75, 0.5555556, 0.6666667, 1, 0.5});
  expect_values(x({1, 7, 2}),
                [](const Values& in) { return avg_pool(in[0], {.window = {3}, .strides = {2}}); },
                {1, 3, 2}, {-2, 1.3333333, 0.3333333, 0, -1, -1.3333333});
}

TEST(Pool, GivesThePositionOfTheLargest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = Tensor::of<double>(f32, {1, 2, 6, 1},
                                      {1, 5, 2, 2, 0, nan,  //
                                       5, 4, 2, 2, nan, 7});
  const auto build = [](const Values& in) {
    const MaxPool pool = max_pool_where(in[0], {.window = {2}});
    return Values{pool.y, pool.where};
  };
  const auto out = evaluate(build, {x});
  EXPECT_EQ(out[1].dtype(), u8);
  EXPECT_EQ(out[1].to_vector(), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(out[0].at(0), 5);
  EXPECT_TRUE(std::isnan(out[0].at(2)));
  Module m;
  const Value big = m.input({f32, {1, 300, 300, 1}});
  EXPECT_EQ(max_pool_where(big, {.window = {16}}).where.dtype(), u8);
  EXPECT_EQ(max_pool_where(big, {.window = {16, 17}}).where.dtype(), i32);
}

TEST(Pool, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {1, 5, 5, 4}}), flat = m.input({f32, {5, 4}});
  const Value bits = m.input({DType::boolean, {1, 5, 4}}), ints = m.input({i32, {1, 5, 4}});
  const MaxPool pool = max_pool_where(x, {.window = {2}});
  expect_user_error([&] { max_pool(flat, {.window = {2}}); }, {"max_pool", "spatial", "[5,4]"});
  expect_user_error([&] { max_pool(x, {}); }, {"max_pool", "window", "got 0"});
  expect_user_error([&] { max_pool(x, {.window = {2, 2, 2}}); }, {"max_pool", "window", "got 3"});
  expect_user_error([&] { max_pool(x, {.window = {0}}); }, {"max_pool", "window", "got 0"});
  expect_user_error([&] { max_pool(x, {.window = {6}}); }, {"max_pool", "does not fit"});
  expect_user_error([&] { max_pool(x, {.window = {2}, .strides = {-1}}); }, {"strides", "-1"});
  expect_user_error([&] { max_pool(x, {.window = {2}, .padding = "causal"}); }, {"'causal'"});
  expect_user_error([&] { max_pool(bits, {.window = {2}}); }, {"max_pool", "numbers", "bool"});
  expect_user_error([&] { avg_pool(ints, {.window = {2}}); }, {"avg_pool", "float", "i32"});
  expect_user_error(
      [&] {
        max_unpool(x, pool.where, {.window = {2}, .sizes = {5, 5}});
      },
      {"max_unpool", "[1,2,2,4]", "[1,5,5,4]"});
  expect_user_error(
      [&] {
        max_unpool(pool.y, pool.y, {.window = {2}, .sizes = {5, 5}});
      },
      {"max_unpool", "u8", "f32"});
  expect_user_error([&] { avg_pool_grad(pool.y, {.window = {2}, .sizes = {5}}); },
                    {"avg_pool_grad", "sizes"});
  expect_user_error([&] { global_max_pool(flat); }, {"global_max_pool", "[5,4]"});
}

// The sum over the window is larger than any number of float16.
TEST(Pool, MeansOfHalvesDoNotOverflow) {
  const Tensor x = Tensor::full(f16, {1, 129, 128, 2}, 6);
  testing::expect_values(
      {x}, [](const Values& in) { return avg_pool(in[0], {.window = {128}, .strides = {1}}); },
      {1, 2, 1, 2}, {6, 6, 6, 6});
}

}  // namespace
}  // namespace keratin::ops

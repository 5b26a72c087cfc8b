#include "keratin/ops/movement.h"

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

// The shape a reshape of a value of shape `from` gets, printed.
std::string reshaped(const Shape& from, const Dims& to) {
  Module m;
  return text(reshape(m.input({f32, from}), to).shape());
}

TEST(Movement, Reshape) {
  for (const Dims& shape : {Dims{24},
                            {4, 6},
                            {infer_size, 6},
                            {keep_size, infer_size},
                            {infer_size, keep_size, 4},
                            {1, 24, 1},
                            {keep_size, keep_size, keep_size},
                            {2, 2, 2, infer_size}})
    check_op({.name = "reshape",
              .inputs = {{f32, {2, 3, 4}}},
              .build = [&](const Values& in) { return Values{reshape(in[0], shape)}; },
              .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("reshape ", dtype),
              .inputs = {{dtype, {6, 2}}},
              .build = [](const Values& in) {
                return Values{reshape(in[0], {3, 4})};
              }});
  check_op({.name = "scalar", .inputs = {{f32, {}}}, .build = [](const Values& in) {
              return Values{reshape(in[0], {1, 1})};
            }});
  check_op({.name = "nothing", .inputs = {{f32, {0, 3}}}, .build = [](const Values& in) {
              return Values{reshape(in[0], {5, infer_size})};
            }});
}

TEST(Movement, ReshapeFillsInSizes) {
  EXPECT_EQ(reshaped({2, 3, 4}, {infer_size, keep_size, 2}), "[4,3,2]");
  EXPECT_EQ(reshaped({2, 3, 4}, {keep_size, infer_size}), "[2,12]");
  EXPECT_EQ(reshaped({unknown, 3, 4}, {keep_size, 12}), "[?,12]");
  EXPECT_EQ(reshaped({unknown, 3, 4}, {infer_size, 12}), "[?,12]");
  EXPECT_EQ(reshaped({unknown, 3, 4}, {keep_size, infer_size}), "[?,12]");
  EXPECT_EQ(reshaped({unknown, unknown, 4}, {keep_size, keep_size, 2, infer_size}), "[?,?,2,2]");
  EXPECT_EQ(reshaped({unknown, 3}, {3, infer_size}), "[3,?]");
  EXPECT_EQ(reshaped({0, 3}, {infer_size, 7}), "[0,7]");
  EXPECT_EQ(reshaped({unknown, 0}, {infer_size, 7}), "[?,7]");
}

TEST(Movement, Transpose) {
  for (const Dims& permutation :
       {Dims{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {-1, 0, -2}})
    check_op({.name = "transpose",
              .inputs = {{f32, {2, 3, 5}}},
              .build = [&](const Values& in) { return Values{transpose(in[0], permutation)}; },
              .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("transpose ", dtype),
              .inputs = {{dtype, {17, 33}}},
              .build =
                  [](const Values& in) {
                    return Values{transpose(in[0], {1, 0})};
                  },
              .gradient = false});
  for (const Shape& shape : {Shape{0, 3, 2}, {1, 1, 4}, {40, 1, 3}, {7, 16, 64}})
    check_op({.name = text("transpose ", shape),
              .inputs = {{f32, shape}},
              .build = [](const Values& in) {
                return Values{transpose(in[0], {2, 0, 1})};
              }});
  check_op({.name = "transpose of rank 6",
            .inputs = {{f32, {2, 1, 3, 2, 2, 3}}},
            .build = [](const Values& in) {
              return Values{transpose(in[0], {5, 3, 0, 1, 4, 2})};
            }});
  // NumPy: np.arange(6).reshape(1, 2, 3).transpose(2, 0, 1)
  expect_values(
      [](const Values& in) {
        return Values{transpose(in[0], {2, 0, 1})};
      },
      {counting(i32, {1, 2, 3})}, {Tensor::of<double>(i32, {3, 1, 2}, {0, 3, 1, 4, 2, 5})});
}

TEST(Movement, BroadcastTo) {
  const std::pair<Shape, Dims> cases[] = {
      {{}, {2, 3}},      {{3}, {2, 3}},    {{2, 1}, {2, 3}},
      {{2, 1}, {-1, 4}}, {{1, 1}, {2, 3}}, {{3, 1, 2}, {2, 3, 4, 2}},
      {{2, 3}, {2, 3}},  {{1, 3}, {0, 3}}, {{4, 1}, {3, -1, -1}}};
  for (const auto& [from, to] : cases)
    check_op({.name = text("broadcast ", from),
              .inputs = {{f32, from}},
              .build = [to = to](const Values& in) { return Values{broadcast_to(in[0], to)}; },
              .second_order = true});
  for (DType dtype : all_dtypes)
    check_op({.name = text("broadcast ", dtype),
              .inputs = {{dtype, {3, 1}}},
              .build =
                  [](const Values& in) {
                    return Values{broadcast_to(in[0], {2, 3, 5})};
                  },
              .gradient = false});
  expect_values(
      [](const Values& in) {
        return Values{broadcast_to(in[0], {2, 2, 2})};
      },
      {counting(i32, {2, 1})}, {Tensor::of<double>(i32, {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1})});
}

TEST(Movement, AxesOfSizeOne) {
  for (int64_t axis : {0, 1, 2, -1, -3})
    check_op({.name = text("expand_dims ", axis),
              .inputs = {{f32, {2, 3}}},
              .build = [=](const Values& in) { return Values{expand_dims(in[0], axis)}; }});
  for (int64_t axis : {0, 2, -1, -3})
    check_op({.name = text("squeeze ", axis),
              .inputs = {{f32, {1, 3, 1}}},
              .build = [=](const Values& in) { return Values{squeeze(in[0], axis)}; }});
  Module m;
  const Value x = m.input({f32, {unknown, unknown}});
  EXPECT_EQ(text(expand_dims(x, -1).shape()), "[?,?,1]");
  EXPECT_EQ(text(squeeze(x, 0).shape()), "[?]");
}

TEST(Movement, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), open = m.input({f32, {unknown, 3}});
  expect_user_error([&] { reshape(x, {5}); }, {"reshape", "[2,3]", "6 elements", "[5]"});
  expect_user_error([&] { reshape(x, {4, infer_size}); }, {"reshape", "[2,3]", "6 elements"});
  expect_user_error([&] { reshape(x, {0, infer_size}); }, {"reshape", "[2,3]"});
  expect_user_error([&] { reshape(x, {infer_size, infer_size}); }, {"reshape", "only one size"});
  expect_user_error([&] { reshape(x, {6, 1, keep_size}); }, {"reshape", "axis 2", "kept", "[2,3]"});
  expect_user_error([&] { reshape(x, {-3, 2}); }, {"reshape", "negative", "-3"});
  expect_user_error(
      [&] {
        reshape(open, {int64_t{1} << 40, int64_t{1} << 40});
      },
      {"reshape", "too many elements"});
  expect_user_error([&] { transpose(x, {0}); }, {"transpose", "2 axes", "[2,3]", "got 1"});
  expect_user_error([&] { transpose(x, {0, 0}); }, {"transpose", "permutation"});
  expect_user_error([&] { transpose(x, {0, 2}); }, {"transpose", "axis", "got 2"});
  expect_user_error([&] { broadcast_to(x, {3}); }, {"broadcast_to", "[2,3]", "more axes"});
  expect_user_error([&] { broadcast_to(x, {4, 3}); }, {"broadcast_to", "[2,3]", "[4,3]"});
  expect_user_error([&] { broadcast_to(x, {-1, 2, 3}); }, {"broadcast_to", "[2,3]", "new axis"});
  expect_user_error([&] { broadcast_to(x, {-5, 3}); }, {"broadcast_to", "-5"});
  expect_user_error(
      [&] {
        broadcast_to(x, {int64_t{1} << 60, 2, 3});
      },
      {"broadcast_to", "too many elements"});
  expect_user_error([&] { expand_dims(x, 3); }, {"expand_dims", "axis", "got 3"});
  expect_user_error([&] { squeeze(x, 1); }, {"squeeze", "axis 1", "[2,3]", "size 1"});
  Value deep = x;
  while (deep.rank() < 8) deep = expand_dims(deep, 0);
  expect_user_error([&] { expand_dims(deep, 0); }, {"at most 8 dimensions"});
}

}  // namespace
}  // namespace keratin::ops

#include "keratin/ops/cumulative.h"

#include "keratin/base/text.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

using Cumulate = Value (*)(Value, CumulativeAttrs);
constexpr std::pair<const char*, Cumulate> both[] = {{"cumsum", cumsum}, {"cumprod", cumprod}};

TEST(Cumulative, AnyAxisAndDirection) {
  for (const auto& [name, op] : both)
    for (int64_t axis : {0, 1, -1})
      for (bool exclusive : {false, true})
        for (bool reverse : {false, true})
          check_op(
              {.name = text(name, axis, exclusive ? " exclusive" : "", reverse ? " reverse" : ""),
               .inputs = {{f32, {3, 5, 2}}},
               .build =
                   [=, op = op](const Values& in) {
                     return Values{op(in[0], {axis, exclusive, reverse})};
                   },
               .second_order = true});
}

TEST(Cumulative, SizesAndDTypes) {
  for (const auto& [name, op] : both) {
    const auto build = [op = op](const Values& in) {
      return Values{op(in[0], {.axis = 0}), op(in[0], {.axis = 0, .exclusive = true})};
    };
    for (int64_t size : {0, 1, 2, 17, 70})
      check_op({.name = text(name, size),
                .inputs = {{f32, {size}}},
                .build = build,
                .low = 0.9,
                .high = 1.1});
    for (DType dtype : all_dtypes)
      if (dtype != DType::boolean)
        check_op({.name = text(name, dtype),
                  .inputs = {{dtype, {6, 3}}},
                  .build = build,
                  .low = -3,
                  .high = 3,
                  .gradient = false});
  }
}

TEST(Cumulative, ProductGradientsWithZeros) {
  for (const std::vector<double>& x :
       {std::vector<double>{2, 0, 3, -1}, {0, 5, 0, 2}, {0, 0, 0, 0}})
    for (bool reverse : {false, true})
      check_op({.name = "cumprod with zeros",
                .inputs = {{f64, {4}}},
                .build =
                    [=](const Values& in) {
                      return Values{cumprod(in[0], {.axis = 0, .reverse = reverse})};
                    },
                .data = {Tensor::of(f64, {4}, x)},
                .second_order = true});
}

TEST(Cumulative, ValuesOfNumPy) {
  // np.cumsum([[1, 2, 3], [4, 5, 6]], 1), np.cumprod(…, 0)
  const auto of = [](std::vector<int64_t> v) { return Tensor::of(i32, {2, 3}, v); };
  expect_values(
      [](const Values& in) {
        return Values{cumsum(in[0], {.axis = 1}), cumprod(in[0], {.axis = 0}),
                      cumsum(in[0], {.axis = -1, .exclusive = true, .reverse = true})};
      },
      {of({1, 2, 3, 4, 5, 6})},
      {of({1, 3, 6, 4, 9, 15}), of({1, 2, 3, 4, 10, 18}), of({5, 3, 0, 11, 6, 0})});
  expect_values(
      [](const Values& in) {
        return Values{cumsum(in[0], {}), cumprod(in[0], {})};
      },
      {Tensor::of<int64_t>(i8, {3}, {100, 100, 3})},
      {Tensor::of<int64_t>(i8, {3}, {100, -56, -53}), Tensor::of<int64_t>(i8, {3}, {100, 16, 48})});
}

TEST(Cumulative, RefusesWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {2, 3}}), b = m.input({DType::boolean, {3}});
  expect_user_error([&] { cumsum(x, {.axis = 2}); }, {"cumsum", "axis", "got 2"});
  expect_user_error([&] { cumprod(b, CumulativeAttrs{}); }, {"cumprod", "numbers", "bool[3]"});
}

}  // namespace
}  // namespace keratin::ops

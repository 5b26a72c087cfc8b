#include "keratin/ops/cond.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;

using enum DType;

TEST(Cond, IsAnOp) {
  for (double condition : {0.0, 1.0})
    check_op({.name = text("condition ", condition),
              .inputs = {{boolean, {}}, {f32, {2, 3}}, {f32, {3}}},
              .build = [](const Values& in) -> Values {
                // One branch ignores an input, gives another back, and uses it from outside.
                return cond(
                    in[0], {in[1]},
                    [](const Values& x) -> Values {
                      return {sin(x[0]), x[0]};
                    },
                    [&](const Values& x) -> Values {
                      return {x[0] * in[2], square(x[0])};
                    });
              },
              .data = {Tensor::scalar(boolean, condition),
                       testing::random_tensor({f32, {2, 3}}, -1, 1, 1),
                       testing::random_tensor({f32, {3}}, -1, 1, 2)},
              .second_order = true});
}

TEST(Cond, TakesEveryDtype) {
  for (DType dtype : all_dtypes)
    check_op({.name = text(dtype),
              .inputs = {{boolean, {}}, {dtype, {5}}, {dtype, {5}}},
              .build = [](const Values& in) -> Values {
                return cond(
                    in[0], {in[1], in[2]},
                    [](const Values& v) -> Values { return {where(v[0] < v[1], v[0], v[1])}; },
                    [](const Values& v) -> Values { return {v[1]}; });
              },
              .gradient = dtype == DType::f64});
}

TEST(Cond, InALoop) {
  check_op(
      {.name = "cond in scan",
       .inputs = {{f32, {3}}, {f32, {5}}},
       .build = [](const Values& in) -> Values {
         const Scanned r = scan({in[0]}, {in[1]}, [](const Values& c, const Values& x) -> Scanned {
           const Value big = sum(c[0]) > 1.5;
           return {cond(
                       big, {c[0], x[0]}, [](const Values& v) -> Values { return {v[0] * 0.5}; },
                       [](const Values& v) -> Values { return {v[0] * 1.7 + v[1]}; }),
                   {}};
         });
         return {r.carries[0]};
       },
       .low = 0.1,
       .high = 0.9,
       .second_order = true});
  check_op({.name = "scan in cond",
            .inputs = {{boolean, {}}, {f32, {4, 3}}},
            .build = [](const Values& in) -> Values {
              return cond(
                  in[0], {in[1]},
                  [](const Values& v) -> Values {
                    return scan({zeros_like(sum(v[0], {0}))}, {v[0]},
                                [](const Values& c, const Values& x) -> Scanned {
                                  return {{c[0] * x[0] + x[0]}, {}};
                                })
                        .carries;
                  },
                  [](const Values& v) -> Values { return {sum(v[0], {0})}; });
            },
            .data = {Tensor::scalar(boolean, 1), testing::random_tensor({f32, {4, 3}}, -1, 1, 1)},
            .unknown_sizes = false});
}

TEST(Cond, ComputesOneBranch) {
  Module m;
  const Value condition = m.input({boolean, {}}), x = m.input({i32, {}});
  for (const Value& result : cond(
           condition, {x},
           [](const Values& v) -> Values {
             return {v[0] + 1, v[0]};
           },
           [](const Values& v) -> Values {
             return {v[0] * 10, v[0] - 1};
           }))
    m.output(result);
  const Executable run = compile(std::move(m));
  const auto yes = run({Tensor::scalar(boolean, 1), Tensor::scalar(i32, 5)});
  EXPECT_EQ(yes[0].at(0), 6);
  EXPECT_EQ(yes[1].at(0), 5);
  const auto no = run({Tensor::scalar(boolean, 0), Tensor::scalar(i32, 5)});
  EXPECT_EQ(no[0].at(0), 50);
  EXPECT_EQ(no[1].at(0), 4);
}

TEST(Cond, SkipsUnusedResults) {
  Module m;
  const Value condition = m.input({boolean, {}}), x = m.input({i32, {3}});
  m.output(cond(
      condition, {x},
      [](const Values& v) -> Values {
        return {v[0] + 1, v[0] + 2};
      },
      [](const Values& v) -> Values {
        return {v[0] * 10, v[0] * 20};
      })[1]);
  EXPECT_EQ(compile(std::move(m))({Tensor::scalar(boolean, 0), Tensor::full(i32, {3}, 2)})[0].at(2),
            40);
}

TEST(Cond, RefusesWhatDoesNotFit) {
  Module m;
  const Value yes = m.input({boolean, {}}), many = m.input({boolean, {2}}), x = m.input({f32, {3}});
  const auto keep = [](const Values& v) -> Values { return v; };
  const auto total = [](const Values& v) -> Values { return {sum(v[0])}; };
  const auto nothing = [](const Values&) -> Values { return {}; };
  const auto broken = [](const Values&) -> Values { return {Value()}; };
  expect_user_error([&] { cond(many, {x}, keep, keep); }, {"cond", "one bool", "bool[2]"});
  expect_user_error([&] { cond(x, {x}, keep, keep); }, {"cond", "one bool", "f32[3]"});
  expect_user_error([&] { cond(yes, {x}, keep, total); }, {"cond", "result 0", "f32[3]", "f32[]"});
  expect_user_error([&] { cond(yes, {x}, keep, nothing); }, {"cond", "gives 1", "other 0"});
  expect_user_error([&] { cond(yes, {x}, keep, broken); }, {"cond", "undefined"});
  expect_user_error([&] { cond(yes, {Value()}, keep, keep); }, {"cond", "undefined"});
}

}  // namespace
}  // namespace keratin::ops

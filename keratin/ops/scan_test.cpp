#include "keratin/ops/scan.h"

#include <cmath>
#include "keratin/graph/layer.h"

#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/registry.h"
#include "keratin/plan/plan.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;

using enum DType;

// h = tanh(h · w + x), y = h²: w is captured.
Values small_rnn(const Values& in, ScanOptions options) {
  const Value w = in[2];
  const Scanned result = scan(
      {in[0]}, {in[1]},
      [&](const Values& carries, const Values& xs) -> Scanned {
        const Value h = tanh(matmul(carries[0], w) + xs[0]);
        return {{h}, {square(h)}};
      },
      options);
  return {result.carries[0], result.ys[0]};
}

// Each step adds its x; ys are the sums so far.
Scanned running_sum(const Values& init, const Values& xs, ScanOptions options = {}) {
  return scan(
      init, xs,
      [](const Values& c, const Values& x) -> Scanned {
        const Value total = c[0] + x[0];
        return {{total}, {total}};
      },
      options);
}

std::vector<Tensor> run(const Module& module, const std::vector<Tensor>& inputs) {
  return compile(module.clone())(inputs);
}

TEST(Scan, IsAnOp) {
  for (bool reverse : {false, true})
    check_op({.name = text("rnn, reverse ", reverse),
              .inputs = {{f32, {2, 3}}, {f32, {4, 2, 3}}, {f32, {3, 3}}},
              .build = [&](const Values& in) { return small_rnn(in, {.reverse = reverse}); },
              .low = -1,
              .high = 1,
              .second_order = true});
  for (int64_t length : {0, 1})
    check_op({.name = text("rnn, length ", length),
              .inputs = {{f32, {2, 3}}, {f32, {length, 2, 3}}, {f32, {3, 3}}},
              .build = [&](const Values& in) { return small_rnn(in, {}); }});
  for (DType dtype : {f64, DType::f16, bf16})
    check_op({.name = text(dtype),
              .inputs = {{dtype, {2, 3}}, {dtype, {4, 2, 3}}, {dtype, {3, 3}}},
              .build = [](const Values& in) { return small_rnn(in, {}); },
              .low = -1,
              .high = 1});
  for (DType dtype : all_dtypes)
    check_op({.name = text("the largest so far, ", dtype),
              .inputs = {{dtype, {3}}, {dtype, {5, 3}}},
              .build = [](const Values& in) -> Values {
                const Scanned r = scan({in[0]}, {in[1]}, [](const Values& c, const Values& x) {
                  const Value larger = where(c[0] < x[0], x[0], c[0]);
                  return Scanned{{larger}, {larger}};
                });
                return {r.carries[0], r.ys[0]};
              },
              .gradient = dtype == f64});
  check_op(
      {.name = "integers are carried beside floats",
       .inputs = {{f32, {3}}, {i32, {}}, {f32, {5, 3}}},
       .build = [](const Values& in) -> Values {
         const Scanned r =
             scan({in[0], in[1]}, {in[2]}, [](const Values& c, const Values& x) -> Scanned {
               const Value count = c[1] + 1;
               return {{c[0] * sin(x[0]) + x[0], count}, {cast(count, c[0].dtype()) * c[0], count}};
             });
         return {r.carries[0], r.carries[1], r.ys[0], r.ys[1]};
       },
       .second_order = true});
  check_op({.name = "no xs, several carries that change places",
            .inputs = {{f32, {4}}, {f32, {4}}},
            .build = [](const Values& in) -> Values {
              const Scanned r = scan({in[0], in[1]}, {},
                                     [](const Values& c, const Values&) -> Scanned {
                                       return {{c[1], c[0] * 0.5}, {c[0] * c[1]}};
                                     },
                                     {.length = 5});
              return {r.carries[0], r.carries[1], r.ys[0]};
            },
            .second_order = true});
  check_op({.name = "no carries",
            .inputs = {{f32, {3, 2}}, {f32, {2}}},
            .build = [](const Values& in) -> Values {
              return scan({}, {in[0]},
                          [&](const Values&, const Values& x) -> Scanned {
                            return {{}, {exp(x[0]) * in[1], x[0], in[1]}};
                          })
                  .ys;
            },
            .second_order = true});
}

TEST(Scan, AddsUpForwardsAndBackwards) {
  for (bool reverse : {false, true}) {
    Module m;
    const Value start = m.input({f32, {}}), x = m.input({f32, {4}});
    const Scanned r = running_sum({start}, {x}, {.reverse = reverse});
    m.output(r.carries[0]);
    m.output(r.ys[0]);
    const auto out =
        run(m, {Tensor::scalar(f32, 10), Tensor::of(f32, {4}, std::vector{1, 2, 3, 4})});
    EXPECT_EQ(out[0].at(0), 20);
    EXPECT_EQ(out[1].to_vector(), reverse ? std::vector<double>({20, 19, 17, 14})
                                          : std::vector<double>({11, 13, 16, 20}));
  }
}

TEST(Scan, WithoutStepsReturnsItsInit) {
  Module m;
  const Value start = m.input({f32, {2}}), x = m.input({f32, {0, 2}});
  const Scanned r = running_sum({start}, {x});
  m.output(r.carries[0]);
  m.output(r.ys[0]);
  const auto out = run(m, {Tensor::of(f32, {2}, std::vector{5, 7}), Tensor(f32, {0, 2})});
  EXPECT_EQ(out[0].to_vector(), std::vector<double>({5, 7}));
  EXPECT_EQ(out[1].shape(), Shape({0, 2}));
}

TEST(Scan, NestsLoops) {
  // y[i] = Σ_j tanh(x[i, j] · w + y[i - 1]), and the innermost body uses values of all levels.
  check_op({.name = "two levels",
            .inputs = {{f32, {3, 4, 2}}, {f32, {2}}, {f32, {2}}},
            .build = [](const Values& in) -> Values {
              const Value w = in[1];
              const Scanned outer =
                  scan({in[2]}, {in[0]}, [&](const Values& c, const Values& x) -> Scanned {
                    // Starts from values of the outermost block only.
                    const Scanned inner =
                        scan({in[2]}, {x[0]}, [&](const Values& sum, const Values& row) -> Scanned {
                          return {{sum[0] + tanh(row[0] * w + c[0])}, {sum[0] * row[0]}};
                        });
                    return {{inner.carries[0]}, {inner.ys[0]}};
                  });
              return {outer.carries[0], outer.ys[0]};
            },
            .second_order = true});
  check_op(
      {.name = "the inner loop sees the outer only by capture",
       .inputs = {{f32, {3, 2}}, {f32, {5, 2}}},
       .build = [](const Values& in) -> Values {
         return scan({}, {in[0]},
                     [&](const Values&, const Values& x) -> Scanned {
                       return {{},
                               {scan({}, {in[1]}, [&](const Values&, const Values& row) -> Scanned {
                                  return {{}, {row[0] * x[0]}};
                                }).ys[0]}};
                     })
             .ys;
       }});
}

Value nested_loops(Value x, int depth) {
  if (depth == 0) return x * 2.0;
  return scan({x}, {},
              [&](const Values& c, const Values&) -> Scanned {
                return {{nested_loops(c[0], depth - 1)}, {}};
              },
              {.length = 2})
      .carries[0];
}

TEST(Scan, NestsDeeply) {
  Module m;
  m.output(nested_loops(m.input({f64, {}}), 8));
  EXPECT_EQ(text(parse(text(m))), text(m));
  EXPECT_EQ(run(m, {Tensor::scalar(f64, 1)})[0].at(0), std::ldexp(1.0, 256));
}

TEST(Scan, RunsManySteps) {
  Module m;
  const Value start = m.input({f64, {}}), x = m.input({f64, {10000}});
  const Scanned r = running_sum({start}, {x});
  m.output(r.carries[0]);
  m.output(gradients(sum(r.ys[0]), {start})[0]);
  const auto out = run(m, {Tensor::scalar(f64, 1), Tensor::full(f64, {10000}, 0.5)});
  EXPECT_EQ(out[0].at(0), 5001);
  EXPECT_EQ(out[1].at(0), 10000);
}

size_t loops_in(const Executable& program) {
  size_t count = 0;
  for (const PlanStep& step : program.plan().steps)
    if (step.node != nullptr && step.node->name() == "scan") ++count;
  return count;
}

TEST(Scan, RunsOnceForwardsAndOnceBackwards) {
  Module m;
  const Values in{m.input({f32, {2, 3}}), m.input({f32, {4, 2, 3}}), m.input({f32, {3, 3}})};
  const Values out = small_rnn(in, {});
  const Value loss = sum(out[0]) + sum(out[1]);
  m.output(loss);
  for (const Value& gradient : gradients(loss, in)) m.output(gradient);
  EXPECT_EQ(loops_in(compile(std::move(m))), 2);
}

TEST(Scan, TheGradientKeepsOnlyTheStatesOfAllSteps) {
  const int64_t steps = 500, size = 256;
  Module m;
  const Value h = m.input({f64, {size}}), w = m.input({f64, {size}});
  const Scanned r = scan({h}, {},
                         [&](const Values& c, const Values&) -> Scanned {
                           return {{tanh(sin(exp(cos(c[0] * w) + c[0]) * w))}, {exp(c[0])}};
                         },
                         {.length = steps});
  m.output(gradients(sum(r.carries[0]), {w})[0]);
  const auto states = static_cast<size_t>(steps * size) * sizeof(double);
  const size_t arena = compile(std::move(m)).plan().arena_bytes;
  EXPECT_GE(arena, states);
  EXPECT_LE(arena, states + states / 10);
}

TEST(Scan, RefusesMoreCarriesAndXsThanInputs) {
  for (const char* counts : {"carries = 2", "carries = 1, xs = 1", "carries = -1", "xs = -1",
                             "carries = 1, xs = 9223372036854775807"})
    expect_user_error(
        [&] {
          parse(text("module(%h: f32[2]) { %y = scan(%h) {length = 1, ", counts,
                     "} do(%c: f32[2]) { yield %c } return %y }"));
        },
        {"scan", "of 1 inputs"});
}

TEST(Scan, RefusesWhatDoesNotFit) {
  Module m;
  const Value h = m.input({f32, {2, 3}}), x = m.input({f32, {4, 2, 3}}), s = m.input({f32, {}}),
              y = m.input({f32, {5}}), wide = m.input({f32, {6}});
  const auto keep = [](const Values& c, const Values&) -> Scanned { return {c, {}}; };
  expect_user_error([&] { scan({}, {}, keep); }, {"scan", "at least one"});
  expect_user_error([&] { scan({h}, {}, keep); }, {"scan", "length must be given"});
  expect_user_error([&] { scan({h}, {}, keep, {.length = -3}); }, {"scan", "-3"});
  expect_user_error([&] { scan({h}, {s}, keep); }, {"scan", "axis of time", "f32[]"});
  expect_user_error([&] { scan({h}, {x, y}, keep); }, {"scan", "4 steps", "f32[5]"});
  expect_user_error([&] { scan({h}, {x}, keep, {.length = 5}); }, {"scan", "5 steps", "has 4"});
  expect_user_error([&] { scan({h, Value()}, {x}, keep); }, {"scan", "undefined"});
  const auto changes_shape = [](const Values& c, const Values&) -> Scanned {
    return {{sum(c[0], {0})}, {}};
  };
  expect_user_error([&] { scan({h}, {x}, changes_shape); },
                    {"scan", "carry 0 is f32[2,3]", "f32[3]"});
  const auto changes_dtype = [](const Values& c, const Values&) -> Scanned {
    return {{cast(c[0], f64)}, {}};
  };
  expect_user_error([&] { scan({h}, {x}, changes_dtype); }, {"scan", "carry 0", "f64[2,3]"});
  const auto loses = [](const Values&, const Values& xs) -> Scanned { return {{}, xs}; };
  expect_user_error([&] { scan({h}, {x}, loses); }, {"scan", "takes 1 carries and gives 0"});
  const auto empty = [](const Values&, const Values&) -> Scanned { return {{Value()}, {}}; };
  expect_user_error([&] { scan({h}, {x}, empty); }, {"scan", "undefined"});
  const auto huge = [](const Values& c, const Values&) -> Scanned { return {c, c}; };
  expect_user_error([&] { scan({wide}, {}, huge, {.length = int64_t{1} << 47}); }, "too");
}

}  // namespace
}  // namespace keratin::ops

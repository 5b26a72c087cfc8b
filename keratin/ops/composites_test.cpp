// Shapes, gradients and backends; tests/operations compares the numbers with Keras's.
#include "keratin/ops/composites.h"

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/pointwise.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::expect_user_error;

using enum DType;

struct CompositeCase {
  const char* name;
  std::vector<Shape> inputs;
  Values (*build)(const Values&);
  double low = -2, high = 2;
  bool gradient = true;
};

void check_rows(const std::vector<CompositeCase>& rows) {
  for (const CompositeCase& row : rows) {
    Types types;
    for (const Shape& shape : row.inputs) types.push_back({f32, shape});
    check_op({.name = row.name,
              .inputs = types,
              .build = row.build,
              .low = row.low,
              .high = row.high,
              .unknown_sizes = false,
              .gradient = row.gradient});
  }
}

const Shape five({5}), grid({3, 4});

TEST(Composites, ArePointwise) {
  using In = const Values&;
  check_rows({
      {"cbrt", {five}, [](In in) -> Values { return {cbrt(in[0])}; }, 0.5},
      {"deg2rad", {five}, [](In in) -> Values { return {deg2rad(in[0])}; }},
      {"rad2deg", {five}, [](In in) -> Values { return {rad2deg(in[0])}; }},
      {"erfc", {five}, [](In in) -> Values { return {erfc(in[0])}; }},
      {"exp2", {five}, [](In in) -> Values { return {exp2(in[0])}; }},
      {"log2", {five}, [](In in) -> Values { return {log2(in[0])}; }, 0.5},
      {"log10", {five}, [](In in) -> Values { return {log10(in[0])}; }, 0.5},
      {"sinc", {five}, [](In in) -> Values { return {sinc(in[0])}; }, 0.2, 0.8},
      {"round", {five}, [](In in) -> Values { return {round(in[0], 1)}; }, -2, 2, false},
      {"nan_to_num", {five}, [](In in) -> Values { return {nan_to_num(in[0])}; }},
      {"fmod", {five, five}, [](In in) -> Values { return {fmod(in[0], in[1])}; }, 3, 4, false},
      {"fmax", {five, five}, [](In in) -> Values { return {fmax(in[0], in[1])}; }},
      {"fmin", {five, five}, [](In in) -> Values { return {fmin(in[0], in[1])}; }},
      {"hypot", {five, five}, [](In in) -> Values { return {hypot(in[0], in[1])}; }, 0.5},
      {"ldexp", {five, five}, [](In in) -> Values { return {ldexp(in[0], in[1])}; }},
      {"logaddexp", {five, five}, [](In in) -> Values { return {logaddexp(in[0], in[1])}; }},
      {"logaddexp2", {five, five}, [](In in) -> Values { return {logaddexp2(in[0], in[1])}; }},
      {"divide_no_nan",
       {five, five},
       [](In in) -> Values { return {divide_no_nan(in[0], in[1])}; },
       0.5},
      {"select",
       {five, five},
       [](In in) -> Values {
         return {select({in[0] > 1.0, in[0] > 0.0}, {in[0], in[1]})};
       }},
  });
}

TEST(Composites, Reduce) {
  using In = const Values&;
  check_rows({
      {"ptp", {grid}, [](In in) -> Values { return {ptp(in[0], {1})}; }},
      {"std", {grid}, [](In in) -> Values { return {std(in[0], {0}, true)}; }},
      {"moments", {grid}, [](In in) { return moments(in[0], {0}); }},
      {"average", {grid, {4}}, [](In in) -> Values { return {average(in[0], {1}, in[1])}; }, 0.5},
      {"nanmean", {grid}, [](In in) -> Values { return {nanmean(in[0], {1})}; }},
      {"nanstd", {grid}, [](In in) -> Values { return {nanstd(in[0], {1})}; }},
      {"nanmax", {grid}, [](In in) -> Values { return {nanmax(in[0], {1})}; }},
      {"nanprod", {grid}, [](In in) -> Values { return {nanprod(in[0], {1})}; }},
      {"cumsum", {grid}, [](In in) -> Values { return {cumsum(in[0], std::nullopt)}; }},
      {"sort", {grid}, [](In in) -> Values { return {sort(in[0], std::nullopt)}; }},
      {"diff", {grid}, [](In in) -> Values { return {diff(in[0], 2)}; }},
      {"norm", {grid}, [](In in) -> Values { return {norm(in[0], 3, {1})}; }, 0.5},
      {"normalize", {grid}, [](In in) -> Values { return {normalize(in[0])}; }},
      {"psnr", {five, five}, [](In in) -> Values { return {psnr(in[0], in[1], 2)}; }},
      {"layer_normalization",
       {grid, {4}, {1, 4}},
       [](In in) -> Values { return {layer_normalization(in[0], in[1], in[2])}; }},
      {"rms_normalization",
       {grid, {4}},
       [](In in) -> Values { return {rms_normalization(in[0], in[1])}; }},
  });
}

TEST(Composites, MoveElements) {
  using In = const Values&;
  check_rows({
      {"swapaxes", {{2, 3, 4}}, [](In in) -> Values { return {swapaxes(in[0], 0, -1)}; }},
      {"moveaxis", {{2, 3, 4}}, [](In in) -> Values { return {moveaxis(in[0], {0}, {-1})}; }},
      {"rot90", {grid}, [](In in) -> Values { return {rot90(in[0], 3)}; }},
      {"roll", {grid}, [](In in) -> Values { return {roll(in[0], Dims{5})}; }},
      {"repeat",
       {grid},
       [](In in) -> Values {
         return {repeat(in[0], {2, 0, 1}, 0)};
       }},
      {"tile, fewer counts", {grid}, [](In in) -> Values { return {tile(in[0], {2})}; }},
      {"tile, more counts",
       {{3}},
       [](In in) -> Values {
         return {tile(in[0], {2, 1})};
       }},
      {"array_split", {{7}}, [](In in) { return array_split(in[0], 3); }},
      {"meshgrid", {{2}, {3}}, [](In in) { return meshgrid(in); }},
      {"diagonal", {grid}, [](In in) -> Values { return {diagonal(in[0], 1)}; }},
      {"tril", {grid}, [](In in) -> Values { return {tril(in[0], -1)}; }},
      {"tensordot", {{2, 3}, {2, 3}}, [](In in) -> Values { return {tensordot(in[0], in[1])}; }},
      {"dot", {{2, 3}, {3}}, [](In in) -> Values { return {dot(in[0], in[1])}; }},
  });
}

TEST(Composites, RefuseWhatDoesNotFit) {
  Module m;
  const Value x = m.input({f32, {3, 4}}), row = m.input({f32, {4}});
  expect_user_error([&] { select({x > 0.0}, {}); }, {"select", "as many choices", "0 and 1"});
  expect_user_error([&] { average(x, {}, row); }, {"average", "`weights`", "[4]", "[3,4]"});
  expect_user_error([&] { moveaxis(x, {0, 1}, {0}); }, {"moveaxis", "2 and 1"});
  expect_user_error([&] { rot90(x, 1, {1, -1}); }, {"rot90", "two different axes"});
  expect_user_error([&] { roll(x, {1, 2, 3}, Dims{0, 1}); }, {"roll", "3 and 2"});
  expect_user_error([&] { repeat(x, {1, 2}, 1); }, {"repeat", "4 counts along axis 1, got 2"});
  expect_user_error([&] { repeat(x, Dims{2, -1}, 0); }, {"repeat", "not negative", "-1"});
  expect_user_error([&] { pad(x, std::vector<Dims>{{1, 1}}); }, {"pad", "2 pairs, got 1"});
  expect_user_error([&] { dsplit(x, 1); }, {"dsplit", "at least 3 axes", "[3,4]"});
  expect_user_error([&] { hstack({}); }, {"hstack", "got none"});
  expect_user_error([&] { diagonal(x, 0, 1, -1); }, {"diagonal", "must be different"});
  expect_user_error([&] { tensordot(x, x, {0}, {0, 1}); }, {"tensordot", "1 and 2"});
  expect_user_error([&] { norm(x, 3); }, {"norm", "order 3", "not supported"});
  expect_user_error([&] { norm(x, 2, {0, 1, 2}); }, {"norm", "one or two axes"});
  expect_user_error([&] { normalize(x, {1}, 0); }, "`order` must be an int >= 1");
  expect_user_error([&] { searchsorted(x, row); }, {"searchsorted", "one axis", "[3,4]"});
}

}  // namespace
}  // namespace keratin::ops

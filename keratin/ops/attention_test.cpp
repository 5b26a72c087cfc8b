#include "keratin/ops/attention.h"

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::counted;
using testing::expect_user_error;
using testing::expect_values;

using enum DType;

const Type query{f32, {2, 3, 2, 4}}, key{f32, {2, 5, 2, 4}}, value{f32, {2, 5, 2, 3}};

TEST(Attention, BehavesAsAnOp) {
  const auto attend = [](const Values& in, AttentionOptions options) {
    options.scale = 0.7;
    return Values{scaled_dot_product_attention(in[0], in[1], in[2], options)};
  };
  check_op({.name = "plain",
            .inputs = {query, key, value},
            .build = [&](const Values& in) { return attend(in, {}); },
            .second_order = true});
  check_op({.name = "causal", .inputs = {query, key, value}, .build = [&](const Values& in) {
              return attend(in, {.causal = true});
            }});
  check_op({.name = "mask per head",
            .inputs = {query, key, value, {boolean, {2, 2, 3, 5}}},
            .build = [&](const Values& in) { return attend(in, {.mask = in[3]}); }});
  check_op({.name = "mask and bias",
            .inputs = {query, key, value, {boolean, {2, 1, 1, 5}}, {f32, {1, 2, 3, 5}}},
            .build = [&](const Values& in) {
              return attend(in, {.mask = in[3], .bias = in[4], .causal = true});
            }});
  check_op({.name = "shared heads",
            .inputs = {{f32, {1, 3, 4, 2}}, {f32, {1, 5, 2, 2}}, {f32, {1, 5, 2, 2}}},
            .build = [&](const Values& in) { return attend(in, {}); }});
  for (DType dtype : {f64, f16, bf16})
    check_op({.name = text(dtype),
              .inputs = {{dtype, {1, 4, 2, 8}}, {dtype, {1, 4, 2, 8}}, {dtype, {1, 4, 2, 8}}},
              .build = [&](const Values& in) { return attend(in, {.causal = true}); }});
}

// Sizes that are no multiples of a kernel's tiles, and queries that may see no key.
TEST(Attention, ComputesTheSameInTiles) {
  struct Case {
    const char* name;
    DType dtype;
    int64_t queries, keys, heads, key_heads, depth;
    bool masked, causal;
  };
  for (const Case& c : {Case{"plain", f32, 70, 100, 2, 2, 16, false, false},
                        {"deep", f32, 64, 64, 1, 1, 64, false, false},
                        {"causal", f32, 100, 100, 2, 2, 32, false, true},
                        {"masked", f32, 70, 40, 2, 2, 16, true, false},
                        {"both", f32, 40, 70, 3, 3, 16, true, true},
                        {"shared heads", f32, 20, 30, 4, 2, 16, false, false},
                        {"bf16", bf16, 70, 100, 2, 2, 32, true, false},
                        {"f16", f16, 130, 70, 2, 2, 128, false, true}}) {
    Types types{{c.dtype, {2, c.queries, c.heads, c.depth}},
                {c.dtype, {2, c.keys, c.key_heads, c.depth}},
                {c.dtype, {2, c.keys, c.key_heads, c.depth}}};
    if (c.masked) types.push_back({boolean, {2, 1, c.queries, c.keys}});
    check_op({.name = c.name,
              .inputs = types,
              .build =
                  [c](const Values& in) {
                    const Value y = scaled_dot_product_attention(
                        in[0], in[1], in[2],
                        {.mask = c.masked ? in[3] : Value(), .causal = c.causal});
                    Values out{y};
                    for (const Value& slope : gradients(sum(y * y), {in[0], in[1], in[2]}))
                      out.push_back(slope);
                    return out;
                  },
              .low = -1,
              .high = 1,
              .unknown_sizes = false,
              .gradient = false});
  }
  // The first query of the second sample sees nothing.
  Tensor mask = Tensor::full(boolean, {2, 1, 5, 6}, 1);
  for (int64_t i = 0; i < 6; ++i) mask.set(30 + i, 0);
  const Type queries{f32, {2, 5, 2, 16}}, keys{f32, {2, 6, 2, 16}};
  const Tensor x = testing::random_tensor(queries, -1, 1, 1),
               k = testing::random_tensor(keys, -1, 1, 2);
  check_op({.name = "no key",
            .inputs = {queries, keys, keys, {boolean, mask.shape()}},
            .build =
                [](const Values& in) {
                  const Value y =
                      scaled_dot_product_attention(in[0], in[1], in[2], {.mask = in[3]});
                  Values out{y};
                  for (const Value& slope : gradients(sum(y * y), {in[0], in[1], in[2]}))
                    out.push_back(slope);
                  return out;
                },
            .data = {x, k, k, mask},
            .unknown_sizes = false,
            .gradient = false});
}

// Its decomposition writes the forward values again; the compiler finds them.
TEST(Attention, IsNotComputedTwiceForItsGradient) {
  Module m;
  const Value q = m.input({f32, {2, 30, 2, 8}});
  const Value y = scaled_dot_product_attention(q, q, q);
  m.output(y);
  m.output(gradients(sum(y * y), {q})[0]);
  const std::string plan = compile(std::move(m)).describe();
  size_t softmaxes = 0;
  for (size_t at = plan.find("softmax"); at != std::string::npos; at = plan.find("softmax", at + 1))
    ++softmaxes;
  EXPECT_EQ(softmaxes, 2U) << plan;  // and its gradient
}

// The numbers below are those of Keras 3.15 on JAX.
TEST(Attention, GivesKerasNumbers) {
  const Tensor q = counted({1, 3, 2, 2}, 7, 11, 5, 0.25), k = counted({1, 4, 2, 2}, 5, 13, 6, 0.25),
               v = counted({1, 4, 2, 2}, 3, 7, 3, 0.5);
  const auto attend = [](const Values& in, const AttentionOptions& options) {
    return scaled_dot_product_attention(in[0], in[1], in[2], options);
  };
  expect_values({q, k, v}, [&](const Values& in) { return attend(in, {}); }, {1, 3, 2, 2},
                {-0.5100726, 0.4087988, -0.4548542, -0.5890143, -0.7139075, 0.4247629, 0.1546578,
                 0.05893585, -0.3165414, 0.2712666, 0.4145384, -0.06613106});
  expect_values({q, k, v}, [&](const Values& in) { return attend(in, {.causal = true}); },
                {1, 3, 2, 2},
                {-1.5, 0, 1.5, -0.5, -0.6248176, -0.350073, 1.242817, -0.7571833, -0.2847166,
                 0.2606158, 0.6139164, -0.07301787});
  // The second query may see no key.
  const Tensor mask =
      Tensor::of<double>(boolean, {1, 1, 3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0});
  expect_values(
      {q, k, v, mask, counted({1, 2, 3, 4}, 3, 5, 2, 0.5)},
      [&](const Values& in) { return attend(in, {.mask = in[3], .bias = in[4], .scale = 0.3}); },
      {1, 3, 2, 2},
      {-0.8058485, 0.6941515, -0.3949046, 0.2898054, -0.375, 0.25, 0, -0.25, 0.708374, -0.270935,
       0.1384747, -0.5961868});
  expect_values(
      {counted({1, 2, 4, 2}, 7, 11, 5, 0.25), k, v},
      [&](const Values& in) { return attend(in, {}); }, {1, 2, 4, 2},
      {-0.5100726, 0.4087988, 0.1791837, -0.1520896, 0.3114859, -0.01580355, 0.1546578, 0.05893585,
       -0.3165414, 0.2712666, -0.856639, 0.5080806, 0.2593371, 0.009337097, 0.1024725, 0.08314195});
}

TEST(Attention, CountsItsWork) {
  Module m;
  const Value y = scaled_dot_product_attention(m.input(query), m.input(key), m.input(value));
  EXPECT_EQ(scaled_dot_product_attention_op.flops(y.node()), 2.0 * 2 * 2 * 3 * 5 * (4 + 3));
}

TEST(Attention, RefusesWhatDoesNotFit) {
  Module m;
  const Value q = m.input(query), k = m.input(key), v = m.input(value);
  const auto attend = [](Value a, Value b, Value c, const AttentionOptions& options = {}) {
    return scaled_dot_product_attention(a, b, c, options);
  };
  const auto input = [&](DType dtype, const Shape& shape) { return m.input({dtype, shape}); };
  expect_user_error([&] { attend(q, k, input(f16, {2, 5, 2, 3})); }, {"one dtype", "f16"});
  expect_user_error(
      [&] {
        attend(input(f32, {3, 2, 4}), k, v, {.scale = 1});
      },
      {"attention", "[batch, time, heads, depth]", "[3,2,4]"});
  expect_user_error([&] { attend(q, k, input(f32, {2, 4, 2, 3})); }, {"do not fit together"});
  expect_user_error(
      [&] {
        attend(q, input(f32, {2, 5, 3, 4}), input(f32, {2, 5, 3, 4}));
      },
      {"2 query heads", "3 key heads"});
  expect_user_error([&] { attend(q, k, v, {.mask = input(f32, {3, 5})}); }, {"mask", "bool"});
  expect_user_error([&] { attend(q, k, v, {.mask = input(boolean, {4, 5})}); }, {"[2,2,3,5]"});
  expect_user_error(
      [&] {
        attend(q, k, v, {.bias = input(f32, {7, 2, 2, 3, 5})});
      },
      {"bias", "broadcast", "[2,2,3,5]"});
  expect_user_error(
      [&] {
        attend(q, input(f32, {2, 0, 2, 4}), input(f32, {2, 0, 2, 3}));
      },
      {"at least one key"});
  expect_user_error([&] { attend(input(f32, {2, 3, 2, unknown}), k, v); }, {"scale", "depth"});
}

}  // namespace
}  // namespace keratin::ops

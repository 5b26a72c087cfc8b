#include "keratin/backend/cuda/sources_testing.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/records.h"

// The sources of kernels for layers over sequences: recurrent steps, attention, and rows that are
// normalised.
namespace keratin::cuda {
namespace {

// Two layers and their gradients.
Module recurrent_layers(DType dtype, int64_t batch, int64_t units, bool masked) {
  constexpr int64_t steps = 5, features = 7;
  Module m;
  const auto input = [&](const Dims& dims) { return m.input({dtype, Shape(dims)}); };
  const Value mask = masked ? m.input({DType::boolean, {batch, steps}}) : Value();
  const Value h = input({batch, units}), x = input({batch, steps, features});
  const auto lstm = ops::lstm({.x = x,
                               .h = h,
                               .c = h,
                               .kernel = input({features, 4 * units}),
                               .recurrent = input({units, 4 * units}),
                               .bias = {},
                               .mask = mask},
                              {.reverse = masked});
  const auto gru = ops::gru({.x = x,
                             .h = h,
                             .kernel = input({features, 3 * units}),
                             .recurrent = input({units, 3 * units}),
                             .bias = {},
                             .mask = mask});
  for (const Value& y : {lstm.ys, gru.ys}) {
    Values dy;
    for (const Value& output : y.node().outputs()) dy.push_back(ops::zeros_like(output));
    dy[0] = m.input(y.type());
    y.node().op().grad(y.node(), dy);
  }
  return m;
}

// From a few units to as many as a block has threads for, with and without a mask.
TEST_F(CudaSources, RecurrentSteps) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const int64_t units : {3, 128, 256}) {
      if (dtype == DType::f16 && units != 128) continue;
      const Module m = recurrent_layers(dtype, units == 3 ? 200 : 64, units, units == 128);
      EXPECT_EQ(count_sources(m, "recurrent::"), 4) << dtype;
      expect_compiles(m);
    }
  EXPECT_EQ(count_sources(recurrent_layers(DType::f64, 4, 3, false), "recurrent::"), 0);
}

// Forward and its gradient, of queries and keys {batch, time, heads, depth}.
Module attention(const Type& query, const Shape& keys, bool causal, bool masked) {
  Module m;
  const Type key{query.dtype, keys};
  const Value mask = masked ? m.input({DType::boolean, {keys[0], 1, 1, keys[1]}}) : Value();
  const Value y = ops::scaled_dot_product_attention(m.input(query), m.input(key), m.input(key),
                                                    {.mask = mask, .causal = causal});
  y.node().op().grad(y.node(), {m.input(y.type()), ops::zeros_like(y.node().out(1))});
  return m;
}

bool is_attention(const Node& node) {
  return (&node.op() == &ops::scaled_dot_product_attention_op ||
          &node.op() == &ops::scaled_dot_product_attention_grad_op) &&
         source_kernel_of(node) != nullptr;
}

// For few queries, whose keys warps share, and for many.
TEST_F(CudaSources, Attention) {
  for (const int64_t batch : {2, 20})
    for (DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      const Shape shape = {batch, 70, 3, dtype == DType::f32 ? 16 : 32};
      const Module m = attention({dtype, shape}, shape, dtype == DType::bf16, dtype == DType::f16);
      EXPECT_EQ(count_sources(m, "attention::"), 2);
      EXPECT_EQ(count_sources(m, "attention::forward_few<"), batch == 2);
      expect_compiles(m);
      for (const auto& node : m.block().nodes())
        if (is_attention(*node))
          expect_compiles(source_of(*node, {.tf32 = true}).code);  // f32 is rounded for the matmuls
    }
}

// Few queries are for several warps where there are keys for them, on GPUs with the least memory
// too.
TEST_F(CudaSources, AttentionOfFewQueries) {
  for (DType dtype : {DType::f32, DType::bf16})
    for (const int64_t depth : {64, 128})
      for (const int64_t keys : {32, 64, 65, 500}) {
        if (dtype == DType::f32 && depth == 128) continue;  // decomposed
        const Module m = attention({dtype, {1, 1, 12, depth}}, {1, keys, 12, depth}, false, false);
        for (const auto& node : m.block().nodes()) {
          if (!is_attention(*node)) continue;
          for (const Source::Launch& launch : source_of(*node, {.tf32 = true}).launches)
            EXPECT_LT(launch.shared_bytes, 98U << 10) << launch.function;
        }
        EXPECT_EQ(count_sources(m, "attention::forward_few<"),
                  keys > (dtype == DType::f32 ? 32 : 64));
        if (keys == 65) expect_compiles(m);
      }
}

// Rows of a warp's part, of a warp and of a block; the last has too many columns for a kernel.
TEST_F(CudaSources, Rows) {
  for (DType dtype : {DType::f32, DType::bf16})
    for (const int64_t columns : {10, 768, 5000, 40000}) {
      if (dtype == DType::bf16 && columns != 768) continue;
      Module m;
      const Value x = m.input({dtype, {3, 7, columns}}), scale = m.input({dtype, {columns}});
      const Values results = {ops::softmax(x), ops::log_softmax(x),
                              ops::sparse_softmax_cross_entropy(x, m.input({DType::i32, {3, 7}})),
                              ops::layer_norm(x, scale, scale), ops::rms_norm(x, scale)};
      for (const Value& y : results) {
        Values dy;
        for (const Value& output : y.node().outputs()) dy.push_back(ops::zeros_like(output));
        dy[0] = m.input(y.type());
        y.node().op().grad(y.node(), dy);
      }
      EXPECT_EQ(count_sources(m, "rows::"), columns == 40000 ? 0 : 10);
      expect_compiles(m);
    }
}

// Rows of a warp each share blocks, unless they are so few that processors would be left idle.
TEST_F(CudaSources, FewRows) {
  for (const int64_t rows : {21, 512, 513}) {
    Module m;
    const Value y = ops::softmax(m.input({DType::f32, {rows, 768}}));
    EXPECT_EQ(source_of(y.node()).launches[0].blocks, rows > 512 ? (rows + 3) / 4 : rows);
  }
}

}  // namespace
}  // namespace keratin::cuda

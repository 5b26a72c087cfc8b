#include <cmath>

#include "gpu_testing.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/graph/layer.h"
#include "keratin/ir/node.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"

// Tests the epilogues of cuBLASLt's matmuls.
namespace keratin::testing {
namespace {

class Matmuls : public OnGpu {};

struct Sizes {
  int64_t rows, depth, columns;
};

// A matmul a · bᵀ that is gated by the gradient of relu: 0 where y is not positive.
Module gated(const Sizes& s, DType dtype) {
  Module m;
  const Value a = m.input({dtype, {s.rows, s.depth}}), b = m.input({dtype, {s.columns, s.depth}}),
              y = m.input({dtype, {s.rows, s.columns}});
  const Value dx =
      ops::where(y > 0.0, ops::matmul(a, ops::transpose(b, {1, 0})), ops::zeros_like(y));
  m.output(dx);
  m.output(ops::sum(dx, {0}));
  return m;
}

// dw = xᵀ · dy and db = Σ dy, for a batch with these leading axes.
Module weighed(const Dims& batch, int64_t inputs, int64_t units, DType dtype) {
  Module m;
  Dims in = batch, out = batch;
  in.push_back(inputs);
  out.push_back(units);
  const Value x = m.input({dtype, Shape(in)}), dy = m.input({dtype, Shape(out)});
  const Value w = m.input({dtype, {inputs, units}}), b = m.input({dtype, {units}});
  for (const Value& gradient : gradients(ops::matmul(x, w) + b, {w, b}, dy)) m.output(gradient);
  return m;
}

std::vector<Tensor> data_of(const Module& m) {
  std::vector<Tensor> data;
  for (const auto& parameter : m.block().parameters())
    data.push_back(random_tensor(parameter->type(), -1, 1, data.size()));
  return data;
}

std::vector<Tensor> data_of(const Sizes& s, DType dtype) {
  return {random_tensor({dtype, {s.rows, s.depth}}, -1, 1, 1),
          random_tensor({dtype, {s.columns, s.depth}}, -1, 1, 2),
          random_tensor({dtype, {s.rows, s.columns}}, -1, 1, 3)};
}

TEST_F(Matmuls, FuseTheGradientOfRelu) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const Sizes& s : {Sizes{128, 10, 512}, Sizes{128, 512, 512}, Sizes{33, 20, 50},
                           Sizes{7, 64, 129}, Sizes{1, 8, 8}}) {
      const std::vector<Tensor> data = data_of(s, dtype);
      const auto expected = compile(gated(s, dtype), {.backend = "reference"})(data);
      const Executable made = compile(gated(s, dtype), {.backend = "cuda", .tf32 = false});
      for (int run = 0; run < 4; ++run) {
        const auto actual = made(data);
        for (size_t i = 0; i < expected.size(); ++i)
          expect_close(actual[i], expected[i], dtype == DType::f32 ? 1e-4 : 0.1,
                       text("gate ", dtype, ' ', s.rows, 'x', s.depth, 'x', s.columns));
      }
    }
  const Executable made = compile(gated({128, 512, 512}, DType::f32), {.backend = "cuda"});
  EXPECT_NE(made.describe().find("gradient of relu"), std::string::npos) << made.describe();
}

// A long sum is split into chunks, each far larger than the sum. It must be rounded after adding
// them.
TEST_F(Matmuls, RoundOnceInHalfPrecision) {
  const int64_t depth = 4096;
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const int64_t rows : {16, 64, 128})
      for (const int64_t columns : {16, 64, 200}) {
        Tensor a(dtype, {rows, depth}), b(dtype, {depth, columns});
        for (int64_t i = 0; i < a.count(); ++i) a.set(i, 1);
        for (int64_t i = 0; i < b.count(); ++i) {
          const int64_t k = i / columns;
          b.set(i, (k < depth / 2 ? 15 : -15) + (k % 400 == 0 ? 1 : 0));  // 11 are 1 more
        }
        const auto build = [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; };
        const Executable made =
            program({{{dtype, a.shape()}}, {{dtype, b.shape()}}}, build, {.backend = "cuda"});
        expect_close(made({a, b})[0], Tensor::full(dtype, {rows, columns}, 11), 0,
                     text(dtype, ' ', rows, " x ", depth, " x ", columns, '\n', made.describe()));
      }
}

// An epilogue that cuBLASLt does not have runs in the same step.
TEST_F(Matmuls, FuseAnyEpilogue) {
  const auto build = [] {
    Module m;
    const Value x = m.input({DType::f32, {2, 64, 256}}), w = m.input({DType::f32, {256, 512}}),
                bias = m.input({DType::f32, {512}});
    m.output(ops::gelu(ops::matmul(x, w) + bias, /*approximate=*/false));
    return m;
  };
  const std::vector<Tensor> data = {random_tensor({DType::f32, {2, 64, 256}}, -1, 1, 1),
                                    random_tensor({DType::f32, {256, 512}}, -0.2, 0.2, 2),
                                    random_tensor({DType::f32, {512}}, -1, 1, 3)};
  const Tensor expected = compile(build(), {.backend = "reference"})(data)[0];
  for (const bool tf32 : {false, true}) {
    const Executable made = compile(build(), {.backend = "cuda", .tf32 = tf32});
    const std::string steps = made.describe();
    EXPECT_TRUE(steps.find("tiles") != std::string::npos ||
                steps.find("epilogue of a matmul") != std::string::npos)
        << steps;
    for (int run = 0; run < 3; ++run)
      expect_close(made(data)[0], expected, tf32 ? 2e-3 : 2e-5, text("gelu, tf32 ", tf32));
  }
}

// The sum is fused into the matmul or a separate kernel, whichever is faster; the bits are the
// same.
TEST_F(Matmuls, FuseGradientsOfBiases) {
  struct Layer {
    Dims batch;
    int64_t inputs, units;
  };
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const Layer& layer : {Layer{{128}, 512, 512}, Layer{{4, 32}, 64, 128}, Layer{{100}, 33, 7},
                               Layer{{3, 5, 7}, 20, 50}, Layer{{1000}, 129, 10}, Layer{{1}, 8, 8}})
      for (const bool deterministic : {false, true}) {
        const auto make = [&] { return weighed(layer.batch, layer.inputs, layer.units, dtype); };
        const std::vector<Tensor> data = data_of(make());
        const auto expected = compile(make(), {.backend = "reference"})(data);
        const Executable made =
            compile(make(), {.backend = "cuda", .deterministic = deterministic, .tf32 = false});
        const auto first = made(data);
        for (size_t i = 0; i < expected.size(); ++i) {
          expect_close(first[i], expected[i], dtype == DType::f32 ? 2e-4 : 0.1,
                       text("sums ", dtype, ' ', Shape(layer.batch), " x ", layer.units));
          for (int run = 0; run < 4; ++run) EXPECT_EQ(made(data)[i], first[i]);
        }
      }
}

// A closed gate gives 0, even if the matmul is NaN.
TEST_F(Matmuls, GateNaNToZero) {
  const Sizes s{128, 64, 128};
  std::vector<Tensor> data = data_of(s, DType::f32);
  data[0].set(0, std::nan(""));  // the first row of the matmul
  for (const bool tf32 : {false, true}) {
    const auto made = compile(gated(s, DType::f32), {.backend = "cuda", .tf32 = tf32})(data);
    const Tensor &dx = made[0], &sums = made[1];
    for (int64_t i = 0; i < s.columns; ++i) {
      const double expected = data[2].at(i) > 0 ? std::nan("") : 0;
      EXPECT_EQ(std::isnan(dx.at(i)), std::isnan(expected)) << i;
      EXPECT_EQ(std::isnan(sums.at(i)), std::isnan(expected)) << i;
    }
  }
}

}  // namespace
}  // namespace keratin::testing

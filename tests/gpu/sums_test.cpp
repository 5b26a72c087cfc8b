#include <gtest/gtest.h>

#include "keratin/autodiff/gradients.h"
#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/backend/cuda/sources_testing.h"
#include "keratin/ops/ops.h"
#include "keratin/passes/decompose_unclaimed.h"
#include "keratin/passes/eliminate_common.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/passes/fuse_epilogue.h"
#include "keratin/passes/fuse_pointwise.h"
#include "keratin/passes/fuse_sums.h"

// Tests the fusion of sums in programs for a GPU. No GPU is needed.
namespace keratin::testing {
namespace {

constexpr Device first_gpu{Device::Kind::gpu, 0};

// The ops that the backend claims if it has a library for all matmuls.
bool is_claimed(const Node& node) {
  return cuda::source_kernel_of(node) != nullptr || cuda::read_epilogue(node) ||
         cuda::read_summed(node);
}

// The gradients of layers y = relu(x · w + b), the last without relu.
Module gradients_of_layers(const std::vector<int64_t>& units, const Dims& batch) {
  Module m;
  const auto input = [&](Dims dims) { return m.input({DType::f32, Shape(dims), first_gpu}); };
  const auto with = [&](int64_t size) {
    Dims dims = batch;
    dims.push_back(size);
    return dims;
  };
  Value x = input(with(units[0]));
  Values weights;
  for (size_t i = 1; i < units.size(); ++i) {
    weights.push_back(input({units[i - 1], units[i]}));
    weights.push_back(input({units[i]}));
    x = ops::matmul(x, weights[weights.size() - 2]) + weights.back();
    if (i + 1 < units.size()) x = ops::relu(x);
  }
  for (const Value& gradient : gradients(x, weights, input(with(units.back())))) m.output(gradient);
  return m;
}

Module as_on_a_gpu(Module m) {
  const auto decompose = [](Module all) { return decompose_unclaimed(std::move(all), is_claimed); };
  m = eliminate_dead(eliminate_common(decompose(std::move(m))));
  m = decompose(fuse_pointwise(decompose(fuse_epilogue(std::move(m)))));
  return fuse_sums(eliminate_dead(std::move(m)), is_claimed);
}

TEST(Sums, OfBiasGradientsAreFusedIntoMatmuls) {
  for (const Dims& batch : {Dims{32}, Dims{4, 8}}) {
    const Module m = as_on_a_gpu(gradients_of_layers({20, 16, 12, 10}, batch));
    int summed = 0;
    for (const auto& node : m.block().nodes()) {
      EXPECT_NE(node->name(), "sum");
      if (cuda::read_summed(*node)) ++summed;
    }
    EXPECT_EQ(summed, 3);
  }
}

}  // namespace
}  // namespace keratin::testing

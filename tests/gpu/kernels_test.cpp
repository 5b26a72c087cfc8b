#include "gpu_testing.h"
#include "keratin/base/text.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/norm_rules.h"

// Runs every family of kernels on small data, for compute-sanitizer.
namespace keratin::testing {
namespace {

class Kernels : public OnGpu {};

TEST_F(Kernels, Loops) {
  expect_as_reference(
      {numbers({7, 30}), numbers({30}), numbers({7, 1}), flags({7, 30})},
      [](const Values& v) { return Values{ops::where(v[3], ops::tanh(v[0] * v[1] + v[2]), v[0])}; },
      "loop", "mul");
}

// The sizes allow accesses of 16 bytes.
TEST_F(Kernels, VectorizedLoops) {
  for (DType dtype : {DType::f32, DType::bf16})
    expect_as_reference(
        {numbers({512, 520}, dtype), numbers({520}, dtype), numbers({512, 1}, dtype)},
        [](const Values& v) { return Values{v[0] * v[1] + v[2]}; }, text("packs of ", dtype),
        "mul");
}

TEST_F(Kernels, Reductions) {
  const Shape rows = {50, 70}, columns = {70, 50}, long_row = {2, 20000}, tall = {20000, 3};
  for (const Shape& shape : {rows, columns, long_row, tall})
    for (const int64_t axis : {0, 1})
      expect_as_reference(
          {numbers(shape), numbers({shape.back()})},
          [&](const Values& v) {
            return Values{ops::sum(v[0] * v[1], {axis}), ops::max(v[0], {axis})};
          },
          text("reduction of ", shape, " along ", axis), " sum", 2e-4);
  expect_as_reference(
      {numbers({9, 5, 11})},
      [](const Values& v) {
        return Values{ops::min(v[0], {0, 2})};
      },
      "minimum of the outer axes", "cuda min");
  expect_as_reference(
      {numbers({512, 640})},
      [](const Values& v) {
        return Values{ops::sum(v[0], {1}), ops::sum(v[0], {0})};
      },
      "packs that are added up", "cuda sum", 2e-4);
}

// Rows for less than a warp, for a warp, and for a block.
TEST_F(Kernels, Rows) {
  for (const int64_t columns : {10, 768, 1500}) {
    const std::string of = text(" of ", columns);
    const auto check = [&](const Inputs& inputs, const Build& build, const std::string& kernel) {
      expect_as_reference(inputs, with_gradients(build), kernel + of, kernel, 1e-4);
    };
    const Input x = numbers({5, columns}), row = numbers({columns});
    check(
        {x}, [](const Values& v) { return Values{ops::softmax(v[0])}; }, "cuda softmax");
    check(
        {x}, [](const Values& v) { return Values{ops::log_softmax(v[0])}; }, "cuda log_softmax");
    check(
        {x, indices({5}, columns)},
        [](const Values& v) { return Values{ops::sparse_softmax_cross_entropy(v[0], v[1])}; },
        "cuda sparse_softmax_cross_entropy");
    check(
        {x, row, row}, [](const Values& v) { return Values{ops::layer_norm(v[0], v[1], v[2])}; },
        "cuda layer_norm");
    check(
        {x, row}, [](const Values& v) { return Values{ops::rms_norm(v[0], v[1])}; },
        "cuda rms_norm");
  }
}

TEST_F(Kernels, Moments) {
  for (const Shape& shape : {Shape{9, 5, 64}, Shape{4000, 3}, Shape{600, 96}})
    expect_as_reference(
        {numbers(shape)},
        [](const Values& v) {
          const ops::Moments found = ops::moments(v[0]);
          return Values{found.mean, found.variance};
        },
        text("moments of ", shape), "cuda moments", 1e-4);
}

TEST_F(Kernels, Pools) {
  const ops::PoolAttrs apart{.window = {2, 2}},
      near{.window = {3, 3}, .strides = {2, 1}, .padding = "same"};
  for (const ops::PoolAttrs& attrs : {apart, near}) {
    expect_as_reference({numbers({2, 7, 8, 5})}, with_gradients([&](const Values& v) {
                          return Values{ops::max_pool(v[0], attrs)};
                        }),
                        "max_pool", "cuda max_unpool");
    // The squares give a gradient that is not constant.
    expect_as_reference({numbers({2, 7, 8, 5})}, with_gradients([&](const Values& v) {
                          const Value y = ops::avg_pool(v[0], attrs);
                          return Values{y * y};
                        }),
                        "avg_pool", "cuda avg_pool_grad");
  }
}

// Few updates are searched linearly, many are sorted.
TEST_F(Kernels, GatherAndScatter) {
  for (const int64_t count : {6, 300}) {
    expect_as_reference(
        {numbers({3, 40, 7}), indices({count}, 40)},
        with_gradients([](const Values& v) { return Values{ops::take(v[0], v[1], 1)}; }),
        text("gather of ", count), "cuda scatter_add", 1e-4);
    expect_as_reference(
        {numbers({3, 40, 7}), indices({3, count, 7}, 40, DType::i64)},
        with_gradients([](const Values& v) { return Values{ops::take_along_axis(v[0], v[1], 1)}; }),
        text("take_along_axis of ", count), "cuda scatter_add_along_axis", 1e-4);
  }
}

TEST_F(Kernels, LinesAndSorts) {
  for (const int64_t size : {30, 700})
    expect_as_reference(
        {numbers({3, size, 2})},
        [](const Values& v) {
          return Values{ops::argsort(v[0], {.axis = 1}),
                        ops::argsort(v[0], {.axis = 1, .descending = true}), ops::argmax(v[0], 1)};
        },
        text("sorts of ", size), "cuda argsort");
  expect_as_reference({numbers({3, 50, 2})}, with_gradients([](const Values& v) {
                        return Values{ops::cumsum(v[0], {.axis = 1}),
                                      ops::cumsum(v[0], {.axis = 0, .exclusive = true})};
                      }),
                      "cumsum", "cuda cumsum", 1e-4);
}

TEST_F(Kernels, RandomBits) {
  expect_as_reference(
      {indices({2}, 1 << 20, DType::i64)},
      [](const Values& v) { return Values{ops::random_bits(v[0], {1003})}; }, "random bits",
      "cuda random_bits");
}

TEST_F(Kernels, Movement) {
  for (DType dtype : {DType::f32, DType::bf16, DType::u8}) {
    const Input x = numbers({4, 33, 40}, dtype);
    const auto check = [&](const std::string& kernel, const std::function<Value(Value)>& move) {
      expect_as_reference(
          {x}, [&](const Values& v) { return Values{move(v[0])}; }, text(kernel, " of ", dtype),
          kernel);
    };
    check("cuda transpose", [](Value v) { return ops::transpose(v, {0, 2, 1}); });
    check("cuda transpose", [](Value v) { return ops::transpose(v, {2, 0, 1}); });
    check("cuda slice", [](Value v) { return ops::slice(v, {1, 0, 3}, {4, 33, 40}, {1, 2, 3}); });
    check("cuda reverse", [](Value v) { return ops::flip(v, {0, 2}); });
    check("cuda pad", [](Value v) {
      return ops::pad(v, {.lo = {0, 1, 0}, .hi = {0, 2, 0}, .interior = {0, 1, 0}, .value = 3});
    });
    check("cuda pad", [](Value v) {
      return ops::pad(v, {.lo = {1, 0, 3}, .hi = {0, 2, 1}, .interior = {0, 0, 0}, .value = 3});
    });
    check("cuda concat", [](Value v) { return ops::concatenate({v, v, v}, 1); });
  }
}

// Attention that is causal or masked, with fewer keys than queries, with more than a tile of each,
// and with few queries, for which warps share the keys.
TEST_F(Kernels, Attention) {
  const auto check = [](const Input& q, const Input& k, bool causal, bool masked) {
    const DType dtype = q.type.dtype;
    expect_as_reference(
        {q, k, k, flags({q.type.shape[0], 1, 1, k.type.shape[1]})},
        with_gradients([&](const Values& v) {
          return Values{ops::scaled_dot_product_attention(
              v[0], v[1], v[2], {.mask = masked ? v[3] : Value(), .causal = causal})};
        }),
        text("attention of ", q.type, causal ? ", causal" : "", masked ? ", masked" : ""),
        "cuda scaled_dot_product_attention_grad", dtype == DType::f32 ? 1e-4 : 5e-2);
  };
  for (DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t batch : {2, 20})
      for (const bool causal : {false, true})
        for (const bool masked : {false, true})
          check({{dtype, {batch, 70, 2, 32}}, -1, 1},
                {{dtype, {batch, causal ? 70 : 65, 2, 32}}, -1, 1}, causal, masked);
    check({{dtype, {2, 70, 2, 32}}, -1, 1}, {{dtype, {2, 20, 2, 32}}, -1, 1}, false, true);
    check({{dtype, {1, 3, 2, 64}}, -1, 1}, {{dtype, {1, 700, 2, 64}}, -1, 1}, false, true);
  }
  check({{DType::bf16, {1, 20, 2, 128}}, -1, 1}, {{DType::bf16, {1, 300, 2, 128}}, -1, 1}, true,
        false);
}

// Blocks of one sample, and of two.
TEST_F(Kernels, RecurrentLayers) {
  for (const bool masked : {false, true})
    for (const auto& [batch, units] : {std::pair<int64_t, int64_t>{3, 40}, {139, 5}}) {
      const Shape states = {batch, units};
      const auto near = [](const Shape& shape) { return Input{{DType::f32, shape}, -0.5, 0.5}; };
      const std::string of = text(batch, " x ", units, masked ? ", masked" : "");
      const auto mask = [&](const Values& v) { return masked ? v.back() : Value(); };
      expect_as_reference({near({batch, 5, 6}), near(states), near(states), near({6, 4 * units}),
                           near({units, 4 * units}), near({4 * units}), flags({batch, 5})},
                          with_gradients([&](const Values& v) {
                            const ops::LstmOutputs y = ops::lstm({.x = v[0],
                                                                  .h = v[1],
                                                                  .c = v[2],
                                                                  .kernel = v[3],
                                                                  .recurrent = v[4],
                                                                  .bias = v[5],
                                                                  .mask = mask(v)});
                            return Values{y.ys, y.h, y.c};
                          }),
                          "lstm " + of, "cuda lstm_grad", 2e-4);
      expect_as_reference({near({batch, 5, 6}), near(states), near({6, 3 * units}),
                           near({units, 3 * units}), near({2, 3 * units}), flags({batch, 5})},
                          with_gradients([&](const Values& v) {
                            const ops::GruOutputs y = ops::gru({.x = v[0],
                                                                .h = v[1],
                                                                .kernel = v[2],
                                                                .recurrent = v[3],
                                                                .bias = v[4],
                                                                .mask = mask(v)});
                            return Values{y.ys, y.h};
                          }),
                          "gru " + of, "cuda gru_grad", 2e-4);
    }
}

// The results of a node and its gradient, and of their decompositions.
struct Both {
  Values as_is, decomposed;

  void add(const Node& node) {
    const Values outputs = node.outputs(), others = node.op().decompose(node);
    as_is.insert(as_is.end(), outputs.begin(), outputs.end());
    decomposed.insert(decomposed.end(), others.begin(), others.end());
  }

  // The results serve as their own upstream gradients.
  void add_with_gradient(const Values& results) {
    const Node& node = results[0].node();
    Values slopes = results;
    for (size_t i = results.size(); i < node.output_count(); ++i)
      slopes.push_back(ops::zeros_like(node.out(i)));
    add(node);
    add(node.op().grad(node, slopes)[0].node());
  }
};

// The inputs are x, h, kernel and recurrent kernel, for a GRU a bias, and a mask.
Values recurrent_both_ways(const Values& v, bool reverse) {
  const ops::LstmOutputs lstm = ops::lstm({.x = v[0],
                                           .h = v[1],
                                           .c = v[1],
                                           .kernel = v[2],
                                           .recurrent = v[3],
                                           .bias = {},
                                           .mask = v[7]},
                                          {.reverse = reverse});
  const ops::GruOutputs gru = ops::gru(
      {.x = v[0], .h = v[1], .kernel = v[4], .recurrent = v[5], .bias = v[6], .mask = v[7]},
      {.reverse = reverse});
  Both both;
  both.add_with_gradient({lstm.ys, lstm.h, lstm.c});
  both.add_with_gradient({gru.ys, gru.h});
  both.as_is.insert(both.as_is.end(), both.decomposed.begin(), both.decomposed.end());
  return both.as_is;
}

// The decomposition of a layer in half precision is the layer in f32 between casts: it has the same
// sums in the same order, so the same bits. The sizes choose different memory for the weights.
TEST_F(Kernels, RecurrentLayersInHalfPrecision) {
  for (DType dtype : {DType::bf16, DType::f16})
    for (const auto& [batch, units] :
         {std::pair<int64_t, int64_t>{3, 40}, {139, 5}, {2, 150}, {2, 250}}) {
      const auto near = [dtype = dtype](const Shape& shape) {
        return Input{{dtype, shape}, -0.5, 0.5};
      };
      const Inputs inputs = {near({batch, 5, 6}),  near({batch, units}),
                             near({6, 4 * units}), near({units, 4 * units}),
                             near({6, 3 * units}), near({units, 3 * units}),
                             near({2, 3 * units}), flags({batch, 5})};
      const Executable made = program(
          inputs, [&](const Values& v) { return recurrent_both_ways(v, dtype == DType::f16); },
          {.backend = "cuda"});
      const std::string what = text(dtype, ", ", batch, " x ", units);
      const auto results = run_often(made, data_for(inputs), what);
      const size_t half = results.size() / 2;
      for (size_t i = 0; i < half; ++i)
        expect_close(results[i], results[half + i], 0, text(what, ' ', i));
    }
}

TEST_F(Kernels, Matmuls) {
  const Inputs dense = {numbers({33, 40}), numbers({40, 24}), numbers({24})};
  expect_as_reference(
      dense, [](const Values& v) { return Values{ops::relu(ops::matmul(v[0], v[1]) + v[2])}; },
      "matmul, bias, relu", "cuda cublasLt matmul", 1e-4);
  expect_as_reference(
      dense, with_gradients([](const Values& v) { return Values{ops::matmul(v[0], v[1]) + v[2]}; }),
      "matmul and gradients", "cuda cublasLt matmul", 1e-4);
  expect_as_reference(
      {numbers({5, 1, 7, 9}), numbers({3, 9, 6})},
      [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; },
      "matmul with partly broadcast batches", "cuda matmul", 1e-4);
  expect_as_reference(
      {numbers({7, 9}, DType::i32), numbers({9, 6}, DType::i32)},
      [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; }, "matmul of integers",
      "cuda matmul");
}

TEST_F(Kernels, Convolutions) {
  const Input x = numbers({2, 9, 9, 8}), w = numbers({3, 3, 8, 16}), b = numbers({16});
  for (const int64_t stride : {1, 2}) {
    const ops::ConvAttrs attrs{.strides = {stride}, .padding = "same"};
    expect_as_reference(
        {x, w},
        with_gradients([&](const Values& v) { return Values{ops::conv(v[0], v[1], attrs)}; }),
        text("convolution and gradients, stride ", stride), "cuda conv_grad_filter", 2e-4);
    expect_as_reference(
        {x, w, b},
        [&](const Values& v) { return Values{ops::relu(ops::conv(v[0], v[1], attrs) + v[2])}; },
        text("convolution, bias, relu, stride ", stride), "cuda conv", 2e-4);
  }
  expect_as_reference({numbers({2, 9, 9, 8}), numbers({3, 3, 1, 8})},
                      with_gradients([](const Values& v) {
                        return Values{ops::conv(v[0], v[1], {.groups = 8, .padding = "same"})};
                      }),
                      "convolution of each channel", "cuda conv_grad_input", 2e-4);
  expect_as_reference({numbers({2, 9, 9, 8}, DType::f64), numbers({3, 3, 8, 4}, DType::f64)},
                      with_gradients([](const Values& v) { return Values{ops::conv(v[0], v[1])}; }),
                      "convolution of f64", "cuda conv");
}

}  // namespace
}  // namespace keratin::testing

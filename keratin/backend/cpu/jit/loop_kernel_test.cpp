#include "keratin/backend/cpu/jit/loop_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

#include "keratin/backend/cpu/jit/loop_testing.h"

namespace keratin::cpu::loop_testing {

namespace {

constexpr uint32_t axis(int d) { return 1u << d; }

// Every value of a program, element by element, in double precision rounded to the dtype.
std::vector<std::vector<Element>> naive_values(const LoopProgram& p,
                                               const std::vector<Array>& inputs) {
  std::vector<std::vector<Element>> all;
  std::vector<Element> values(size_t(p.value_count()));
  for (int64_t e = 0; e < p.element_count(); ++e) {
    int64_t rest = e;
    LoopDims at{};
    for (int d = p.rank; d-- > 0; rest /= p.dims[d]) at[d] = rest % p.dims[d];
    for (size_t i = 0; i < inputs.size(); ++i) {
      int64_t offset = 0;
      for (int d = 0; d < p.rank; ++d) offset += at[d] * p.inputs[i].strides[d];
      values[i] = inputs[i].get(offset);
    }
    for (size_t i = 0; i < p.body.size(); ++i) {
      const LoopInst& inst = p.body[i];
      Element args[3];
      for (int j = 0; j < operand_count(inst.op); ++j) args[j] = values[inst.args[j]];
      const DType operand = inst.op == ScalarOp::constant
                                ? inst.dtype
                                : p.dtype_of(inst.args[inst.op == ScalarOp::select ? 1 : 0]);
      Element result = evaluate(inst, operand, args);
      if (is_float(inst.dtype) && inst.dtype != DType::f64) result.real = float(result.real);
      values[inputs.size() + i] = result;
    }
    all.push_back(values);
  }
  return all;
}

// The expected outputs of a program.
std::vector<std::vector<Element>> naive_outputs(const LoopProgram& p,
                                                const std::vector<Array>& inputs) {
  const auto values = naive_values(p, inputs);
  std::vector<std::vector<Element>> outputs;
  for (const LoopOutput& out : p.outputs) {
    const double inf = std::numeric_limits<double>::infinity();
    const bool max = out.reduce == Reduce::max;
    Element start{out.reduce == Reduce::prod  ? 1
                  : max                       ? -inf
                  : out.reduce == Reduce::min ? inf
                                              : 0,
                  out.reduce == Reduce::prod  ? 1
                  : max                       ? INT64_MIN
                  : out.reduce == Reduce::min ? INT64_MAX
                                              : 0};
    std::vector<Element> result(size_t(p.element_count(out)), start);
    for (int64_t e = 0; e < p.element_count(); ++e) {
      int64_t rest = e, index = 0, step = 1;
      for (int d = p.rank; d-- > 0; rest /= p.dims[d]) {
        if (out.reduced >> d & 1) continue;
        index += rest % p.dims[d] * step;
        step *= p.dims[d];
      }
      const Element x = values[size_t(e)][size_t(out.value)];
      Element& r = result[size_t(index)];
      switch (out.reduce) {
        case Reduce::none:
          r = x;
          break;
        case Reduce::sum:
          r = {r.real + x.real, r.whole + x.whole};
          break;
        case Reduce::prod:
          r = {r.real * x.real, r.whole * x.whole};
          break;
        case Reduce::max:
          r = {std::isnan(x.real) || std::isnan(r.real) ? NAN : std::max(r.real, x.real),
               std::max(r.whole, x.whole)};
          break;
        case Reduce::min:
          r = {std::isnan(x.real) || std::isnan(r.real) ? NAN : std::min(r.real, x.real),
               std::min(r.whole, x.whole)};
          break;
      }
    }
    outputs.push_back(std::move(result));
  }
  return outputs;
}

void expect_close(const LoopProgram& p, const std::vector<Array>& got,
                  const std::vector<std::vector<Element>>& want, double tolerance) {
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].guards_intact()) << describe(p);
    for (int64_t e = 0; e < got[i].count(); ++e) {
      const Element g = got[i].get(e), w = want[i][size_t(e)];
      if (is_float(got[i].dtype())) {
        if (std::isnan(w.real) && std::isnan(g.real)) continue;
        if (w.real == g.real) continue;
        ASSERT_NEAR(g.real, w.real, tolerance * std::max(1.0, std::abs(w.real)))
            << "output " << i << " element " << e << "\n"
            << describe(p);
      } else {
        ASSERT_EQ(g.whole, w.whole) << "output " << i << " element " << e << "\n" << describe(p);
      }
    }
  }
}

class LoopKernels : public ::testing::TestWithParam<LoopIsa> {
 protected:
  void check(const LoopProgram& p, double tolerance = 1e-5) {
    std::mt19937 random(7);
    std::vector<Array> inputs = random_inputs(p, random);
    const auto want = naive_outputs(p, inputs);
    for (int threads : {1, 2}) {
      SCOPED_TRACE(threads);
      expect_close(p, execute(p, {.threads = threads, .isa = GetParam()}, inputs), want, tolerance);
    }
  }
};

TEST_P(LoopKernels, AddsAllSizesUpToSeveralVectors) {
  for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 100, 255, 256, 257, 1000}) {
    LoopProgram p{.rank = 1, .dims = {n}};
    p.add_input(DType::f32), p.add_input(DType::f32);
    p.store(p.add(ScalarOp::add, 0, 1));
    check(p);
  }
}

TEST_P(LoopKernels, BroadcastsRowsColumnsAndScalars) {
  for (int64_t columns : {1, 5, 16, 37}) {
    LoopProgram p{.rank = 2, .dims = {6, columns}};
    p.add_input(DType::f32);
    p.add_input(DType::f32, {0, 1});
    p.add_input(DType::f32, {1, 0});
    p.add_scalar_input(DType::f32);
    const int32_t a = p.add(ScalarOp::mul, 0, 1);
    const int32_t b = p.add(ScalarOp::exp, p.add(ScalarOp::add, 2, 3));
    p.store(p.add(ScalarOp::add, a, b));
    check(p);
  }
}

TEST_P(LoopKernels, WalksManyDims) {
  LoopProgram p{.rank = 5, .dims = {2, 3, 2, 4, 5}};
  p.add_input(DType::f32, {0, 20, 0, 5, 1});
  p.add_input(DType::i32, {1, 0, 2, 0, 0});
  p.add_input(DType::bf16, {60, 20, 0, 0, 4});  // strided columns
  const int32_t x = p.add(ScalarOp::cast, DType::f32, 1);
  const int32_t y = p.add(ScalarOp::cast, DType::f32, 2);
  p.store(p.add(ScalarOp::fma, 0, x, y));
  check(p);
}

TEST_P(LoopKernels, ReducesOverAnyAxes) {
  for (uint32_t axes = 1; axes < 8; ++axes)
    for (Reduce kind : {Reduce::sum, Reduce::max, Reduce::min, Reduce::prod})
      for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::bf16, DType::u8}) {
        LoopProgram p{.rank = 3, .dims = {3, 5, 19}};
        p.add_input(dtype);
        int32_t value = 0;
        if (kind == Reduce::prod && !is_float(dtype)) {
          value = p.add(ScalarOp::sign, 0);
        } else if (kind == Reduce::prod) {
          value = p.add(ScalarOp::exp, p.add(ScalarOp::mul, 0, p.add_constant(dtype, 0.01)));
        }
        p.store(value);
        p.reduce(kind, value, axes);
        if (dtype == DType::u8) p.outputs[1].dtype = DType::i32;
        check(p, dtype == DType::bf16 ? 0.02 : 2e-5);
      }
}

TEST_P(LoopKernels, ReducesBooleansToAnyAndAll) {
  for (uint32_t axes = 1; axes < 4; ++axes) {
    LoopProgram p{.rank = 2, .dims = {9, 21}};
    p.add_input(DType::f32);
    const int32_t large = p.add(ScalarOp::greater, 0, p.add_constant(DType::f32, 3.5));
    p.reduce(Reduce::max, large, axes);
    p.reduce(Reduce::min, p.add(ScalarOp::bit_not, large), axes);
    check(p);
  }
}

TEST_P(LoopKernels, MaximumOverNanIsNan) {
  LoopProgram p{.rank = 2, .dims = {40, 70}};
  p.add_input(DType::f32);
  p.reduce(Reduce::max, 0, axis(1));
  p.reduce(Reduce::min, 0, axis(0));
  std::mt19937 random(1);
  std::vector<Array> inputs = random_inputs(p, random);
  for (int64_t i : {3 * 70, 5 * 70 + 69, 7 * 70 + 33}) inputs[0].set(i, {NAN, 0});
  expect_close(p, execute(p, {.isa = GetParam()}, inputs), naive_outputs(p, inputs), 0);
}

TEST_P(LoopKernels, ReducesNoElementsToTheNeutralElement) {
  LoopProgram p{.rank = 2, .dims = {3, 0}};
  p.add_input(DType::f32);
  p.reduce(Reduce::sum, 0, axis(1));
  p.reduce(Reduce::max, 0, axis(1));
  p.reduce(Reduce::prod, 0, axis(0) | axis(1));
  check(p);
}

// Values that are also stored, a column sum beside them: the gradient of a bias.
TEST_P(LoopKernels, StoresAndSumsInOnePass) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {128, 10}, {37, 64}, {700, 257}, {3, 20000}}) {
    LoopProgram p{.rank = 2, .dims = {rows, columns}};
    p.add_input(DType::f32), p.add_input(DType::f32);
    const int32_t zero = p.add_constant(DType::f32, 0);
    const int32_t gradient = p.add(ScalarOp::select, p.add(ScalarOp::greater, 0, zero), 1, zero);
    p.store(gradient);
    p.reduce(Reduce::sum, gradient, axis(0));
    check(p, 1e-4);
  }
}

LoopProgram adam(int64_t n) {
  LoopProgram p{.rank = 1, .dims = {n}};
  const int32_t w = p.add_input(DType::f32), m = p.add_input(DType::f32);
  const int32_t v = p.add_input(DType::f32), g = p.add_input(DType::f32);
  const int32_t rate = p.add_scalar_input(DType::f32);
  const auto constant = [&](double x) { return p.add_constant(DType::f32, x); };
  const int32_t dm = p.add(ScalarOp::sub, g, m);
  const int32_t m2 = p.add(ScalarOp::add, m, p.add(ScalarOp::mul, dm, constant(0.1)));
  const int32_t gg = p.add(ScalarOp::mul, g, g);
  const int32_t dv = p.add(ScalarOp::sub, gg, v);
  const int32_t v2 =
      p.add(ScalarOp::abs, p.add(ScalarOp::add, v, p.add(ScalarOp::mul, dv, constant(0.001))));
  const int32_t root = p.add(ScalarOp::add, p.add(ScalarOp::sqrt, v2), constant(1e-7));
  const int32_t step = p.add(ScalarOp::mul, rate, p.add(ScalarOp::div, m2, root));
  p.store(p.add(ScalarOp::sub, w, step));
  p.store(m2);
  p.store(v2);
  return p;
}

TEST_P(LoopKernels, UpdatesInPlace) {
  for (int64_t n : {1, 17, 1000, 100000}) {
    const LoopProgram p = adam(n);
    std::mt19937 random(3);
    std::vector<Array> inputs = random_inputs(p, random);
    const auto want = naive_outputs(p, inputs);
    std::vector<char*> in;
    for (Array& array : inputs) in.push_back(array.data());
    run(LoopKernel::compile(p, {.threads = 2, .isa = GetParam()}), in, {in[0], in[1], in[2]});
    inputs.erase(inputs.begin() + 3, inputs.end());
    expect_close(p, inputs, want, 1e-4);
  }
}

TEST_P(LoopKernels, StoresAnInputOverAnotherInPlace) {
  LoopProgram p{.rank = 1, .dims = {100}};
  p.add_input(DType::f32), p.add_input(DType::f32);
  p.store(1), p.store(0);  // swaps
  std::mt19937 random(3);
  std::vector<Array> inputs = random_inputs(p, random);
  const std::vector<Array> before = inputs;
  const std::vector<char*> in = {inputs[0].data(), inputs[1].data()};
  run(LoopKernel::compile(p, {.isa = GetParam()}), in, in);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(inputs[0].get(i).real, before[1].get(i).real);
    EXPECT_EQ(inputs[1].get(i).real, before[0].get(i).real);
  }
}

TEST_P(LoopKernels, SameBitsWithAnyNumberOfThreads) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 300000}, {300000, 1}, {1000, 300}, {50, 7001}, {2, 100000}}) {
    for (uint32_t axes = 1; axes < 4; ++axes) {
      LoopProgram p{.rank = 2, .dims = {rows, columns}};
      p.add_input(DType::f32), p.add_input(DType::f32, {1, 0});
      const int32_t value = p.add(ScalarOp::mul, 0, 1);
      p.reduce(Reduce::sum, value, axes);
      p.reduce(Reduce::sum, p.add(ScalarOp::tanh, value), axes);
      std::mt19937 random(11);
      std::vector<Array> inputs = random_inputs(p, random);
      const LoopOptions one{.threads = 1, .isa = GetParam()};
      const std::vector<Array> serial = execute(p, one, inputs);
      for (int threads : {2, 3, 7}) {
        const LoopOptions many{.threads = threads, .isa = GetParam()};
        const std::vector<Array> parallel = execute(p, many, inputs);
        for (size_t i = 0; i < serial.size(); ++i)
          EXPECT_TRUE(serial[i].same_bytes(parallel[i])) << rows << 'x' << columns << ' ' << axes;
      }
    }
  }
}

// A single accumulator would be off by 1e-2, since every addition rounds in the same direction.
TEST_P(LoopKernels, KeepsTheAccuracyOfLongSums) {
  LoopProgram p{.rank = 1, .dims = {3000001}};
  p.add_input(DType::f32);
  p.reduce(Reduce::sum, 0, 1);
  std::vector<Array> inputs;
  inputs.emplace_back(DType::f32, 3000001);
  for (int64_t i = 0; i < 3000001; ++i) inputs[0].set(i, {0.1, 0});
  const double got = execute(p, {.isa = GetParam()}, inputs)[0].get(0).real;
  EXPECT_NEAR(got / (3000001 * double(0.1f)), 1, 4e-6);
}

TEST_P(LoopKernels, StreamsPastTheCacheAlignedOrNot) {
  for (int64_t misalign : {0, 1, 16}) {
    LoopProgram p{.rank = 1, .dims = {5000}};
    p.add_input(DType::f32), p.add_input(DType::f64);
    p.store(p.add(ScalarOp::relu, 0));
    p.store(p.add(ScalarOp::neg, 1));
    std::mt19937 random(5);
    std::vector<Array> inputs = random_inputs(p, random);
    std::vector<Array> outputs{{DType::f32, 5000, misalign}, {DType::f64, 5000}};
    run(LoopKernel::compile(p, {.threads = 2, .isa = GetParam(), .stream_bytes = 0}),
        {inputs[0].data(), inputs[1].data()}, {outputs[0].data(), outputs[1].data()});
    expect_close(p, outputs, naive_outputs(p, inputs), 0);
  }
}

TEST_P(LoopKernels, HandlesMoreLiveValuesThanRegisters) {
  LoopProgram p{.rank = 2, .dims = {3, 50}};
  p.add_input(DType::f32);
  for (int i = 0; i < 20; ++i) p.add_input(DType::f32, {i % 2, i % 3 ? 1 : 0});
  std::vector<int32_t> values;
  for (int i = 1; i <= 20; ++i)
    for (int j = 0; j < 2; ++j)
      values.push_back(p.add(ScalarOp::fma, 0, i, p.add_constant(DType::f32, i + j)));
  int32_t sum = p.add(ScalarOp::tan, 0);  // calls out with all of them alive
  for (int32_t value : values) sum = p.add(ScalarOp::add, value, sum);
  for (size_t i = values.size(); i-- > 0;) sum = p.add(ScalarOp::maximum, sum, values[i]);
  p.store(sum);
  p.reduce(Reduce::sum, sum, axis(1));
  check(p, 1e-4);
}

TEST_P(LoopKernels, ComputesRowValuesOncePerRow) {
  LoopProgram p{.rank = 2, .dims = {4, 33}};
  p.add_input(DType::f32);
  p.add_input(DType::f32, {1, 0}), p.add_scalar_input(DType::i64),
      p.add_input(DType::boolean, {1, 0});
  const int32_t scalar =
      p.add(ScalarOp::cast, DType::f32, p.add(ScalarOp::mod, 2, p.add_constant(DType::i64, 3)));
  const int32_t row = p.add(ScalarOp::select, 3, p.add(ScalarOp::sin, 1), scalar);
  const int32_t low = p.add(ScalarOp::select, p.add(ScalarOp::less, 1, scalar), row, 1);
  p.store(p.add(ScalarOp::mul, 0, low));
  p.store(p.add(ScalarOp::cast, DType::i64, row));
  p.store(row);
  check(p);
}

TEST_P(LoopKernels, SkipsUnusedOutputs) {
  LoopProgram p{.rank = 2, .dims = {20, 100}};
  p.add_input(DType::f32);
  p.store(p.add(ScalarOp::exp, 0)), p.store(p.add(ScalarOp::neg, 0));
  p.reduce(Reduce::sum, 0, axis(0)), p.reduce(Reduce::sum, 0, axis(1));
  std::mt19937 random(5);
  std::vector<Array> inputs = random_inputs(p, random);
  const LoopKernel kernel = LoopKernel::compile(p, {.threads = 2, .isa = GetParam()});
  for (size_t wanted = 0; wanted < 4; ++wanted) {
    std::vector<Array> outputs = output_arrays(p);
    std::vector<char*> out(4, nullptr);
    out[wanted] = outputs[wanted].data();
    run(kernel, {inputs[0].data()}, out);
    LoopProgram one = p;
    one.outputs = {p.outputs[wanted]};
    const std::vector<Array> got = {outputs[wanted]};
    expect_close(one, got, naive_outputs(one, inputs), 1e-5);
  }
}

TEST_P(LoopKernels, RefusesAMalformedProgram) {
  LoopProgram p{.rank = 1, .dims = {4}};
  p.add_input(DType::f32), p.add_input(DType::f64);
  p.store(p.add(ScalarOp::add, 0, 1));
  EXPECT_THROW(LoopKernel::compile(p, {.isa = GetParam()}), InternalError);
}

TEST_P(LoopKernels, SharesPagesOfCodeAndFreesThem) {
  std::vector<LoopKernel> kernels;
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    LoopProgram p{.rank = 1, .dims = {40 + i % 7}};
    p.add_input(DType::f32);
    p.store(p.add(ScalarOp::exp, p.add(ScalarOp::mul, 0, p.add_constant(DType::f32, i))));
    kernels.push_back(LoopKernel::compile(p, {.isa = GetParam()}));
    if (kernels.size() > 2000) kernels.erase(kernels.begin() + int64_t(random() % 2000));
  }
  Array x(DType::f32, 46), y(DType::f32, 46);
  for (int64_t i = 0; i < 46; ++i) x.set(i, {0, 0});
  for (const LoopKernel& kernel : kernels) {
    run(kernel, {x.data()}, {y.data()});
    EXPECT_EQ(y.get(39).real, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, LoopKernels, ::testing::ValuesIn(isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace keratin::cpu::loop_testing

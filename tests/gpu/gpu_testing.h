#pragma once

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/backends.h"
#include "keratin/testing/check_op.h"

namespace keratin::testing {

// The base of tests that need a GPU; without one they are skipped, with the reason.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override { need_for_gpu(cuda::device_count() > 0, cuda::why_no_device()); }
};

// An input of a program: numbers from a range.
struct Input {
  Type type;
  double low = -2, high = 2;
};
using Inputs = std::vector<Input>;
using Build = std::function<Values(const Values&)>;

inline Input numbers(const Shape& shape, DType dtype = DType::f32) { return {{dtype, shape}}; }
inline Input flags(const Shape& shape) { return {{DType::boolean, shape}}; }
inline Input indices(const Shape& shape, int64_t size, DType dtype = DType::i32) {
  return {{dtype, shape}, 0, static_cast<double>(size)};
}

inline std::vector<Tensor> data_for(const Inputs& inputs) {
  std::vector<Tensor> data;
  for (const Input& input : inputs)
    data.push_back(random_tensor(input.type, input.low, input.high, data.size()));
  return data;
}

inline Executable program(const Inputs& inputs, const Build& build, const EngineOptions& options) {
  Module m;
  Values values;
  for (const Input& input : inputs) values.push_back(m.input(input.type));
  for (const Value& result : build(values)) m.output(result);
  return compile(std::move(m), options);
}

// The results, and the gradients of their weighted sum by all float inputs.
inline Build with_gradients(const Build& build) {
  return [build](const Values& inputs) {
    Values results = build(inputs), wrt;
    for (const Value& input : inputs)
      if (is_float(input.dtype())) wrt.push_back(input);
    Value total;
    for (const Value& result : results) {
      const Tensor weights = random_tensor(result.type(), 0.5, 1.5, 1000);
      const Value sum = ops::sum(result * ops::constant(result.block(), weights));
      total = total.defined() ? total + sum : sum;
    }
    for (const Value& gradient : gradients(total, wrt)) results.push_back(gradient);
    return results;
  };
}

// Runs a program several times, and expects the same bits. The second run is recorded as a graph,
// which it and later runs replay.
inline std::vector<Tensor> run_often(const Executable& made, const std::vector<Tensor>& data,
                                     const std::string& what) {
  const std::vector<Tensor> first = made(data);
  for (int run = 2; run <= 4; ++run) EXPECT_TRUE(made(data) == first) << what << ", run " << run;
  return first;
}

// Compares a program on the GPU with the reference backend, and expects its steps to name `kernel`.
inline void expect_as_reference(const Inputs& inputs, const Build& build, const std::string& what,
                                const std::string& kernel = "", double tolerance = 0) {
  const auto data = data_for(inputs);
  const auto expected = program(inputs, build, {.backend = "reference"})(data);
  const Executable made = program(inputs, build, {.backend = "cuda", .tf32 = false});
  EXPECT_NE(made.describe().find(kernel), std::string::npos)
      << what << ": expected the kernel " << kernel << " in\n"
      << made.describe();
  const auto actual = run_often(made, data, what);
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    expect_close(actual[i], expected[i],
                 tolerance > 0 ? tolerance : default_tolerance(expected[i].dtype()),
                 text(what, ' ', i));
}

}  // namespace keratin::testing

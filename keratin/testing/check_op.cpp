#include "keratin/testing/check_op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/registry.h"
#include "keratin/tensor/shape_rules.h"
#include "keratin/testing/backends.h"

namespace keratin::testing {

namespace {

using Build = std::function<Values(const Values&)>;

Module build_module(const Types& inputs, const Build& build) {
  Module module;
  for (const Type& type : inputs) module.input(type);
  for (const Value& output : build(module.block().parameter_values())) module.output(output);
  return module;
}

// Σ over the float outputs of Σ output · weight, with fixed random weights: one number to
// differentiate, to which every output's gradient contributes.
Value weighted_sum(const Values& outputs) {
  Value total;
  uint64_t seed = 1000;
  for (const Value& output : outputs) {
    ++seed;
    if (!is_float(output.dtype())) continue;
    const Tensor weights = random_tensor({output.dtype(), output.shape()}, 0.5, 1.5, seed);
    const Value part = ops::sum(output * ops::constant(output.block(), weights));
    total = total.defined() ? total + part : part;
  }
  return total;
}

Values float_values(const Values& values) {
  Values result;
  for (const Value& value : values)
    if (is_float(value.dtype())) result.push_back(value);
  return result;
}

Build gradient_of(const Build& build) {
  return [build](const Values& inputs) {
    return gradients(weighted_sum(build(inputs)), float_values(inputs));
  };
}

std::vector<Tensor> make_data(const OpCase& test) {
  if (!test.data.empty()) return test.data;
  std::vector<Tensor> data;
  for (size_t i = 0; i < test.inputs.size(); ++i)
    data.push_back(random_tensor(test.inputs[i], test.low, test.high, 17 + i));
  return data;
}

std::vector<Tensor> run(const Types& inputs, const Build& build, const std::vector<Tensor>& data,
                        const EngineOptions& options) {
  return compile(build_module(inputs, build), options)(data);
}

void check_shapes(const OpCase& test) {
  const Module known = build_module(test.inputs, test.build);
  for (size_t i = 0; test.unknown_sizes && i < test.inputs.size(); ++i) {
    for (int64_t axis = 0; axis < test.inputs[i].shape.rank(); ++axis) {
      Types inputs = test.inputs;
      Dims dims = inputs[i].shape.dims();
      dims[static_cast<size_t>(axis)] = unknown;
      inputs[i].shape = Shape(dims);
      const Module partial = build_module(inputs, test.build);
      ASSERT_EQ(partial.block().results.size(), known.block().results.size());
      for (size_t r = 0; r < known.block().results.size(); ++r) {
        const Type &a = partial.block().results[r].type(), &b = known.block().results[r].type();
        EXPECT_TRUE(a.dtype == b.dtype && compatible(a.shape, b.shape))
            << "with axis " << axis << " of input " << i << " unknown: " << text(a)
            << ", all known: " << text(b);
      }
    }
  }
}

void check_text(const OpCase& test) {
  const Module module = build_module(test.inputs, test.build);
  const std::string printed = text(module);
  EXPECT_EQ(text(ops::parse(printed)), printed);
  EXPECT_EQ(text(module.clone()), printed);
}

Types in_f64(Types types) {
  for (Type& type : types)
    if (is_float(type.dtype)) type.dtype = DType::f64;
  return types;
}

// (f(x + h) - f(x - h)) / 2h for every element (or 200 of them) of every float input.
void check_gradient(const OpCase& test, const Build& build, const std::string& order) {
  const Types inputs = in_f64(test.inputs);
  std::vector<Tensor> data;
  for (const Tensor& tensor : make_data(test))
    data.push_back(is_float(tensor.dtype()) ? tensor.cast(DType::f64).clone() : tensor);
  const EngineOptions reference{.backend = "reference"};
  const Executable loss = compile(
      build_module(inputs, [&](const Values& in) { return Values{weighted_sum(build(in))}; }),
      reference);
  const auto analytic = run(inputs, gradient_of(build), data, reference);
  size_t next = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!is_float(data[i].dtype())) continue;
    const Tensor& gradient = analytic[next++];
    ASSERT_EQ(gradient.shape(), data[i].shape());
    const int64_t stride = std::max<int64_t>(1, data[i].count() / 200);
    for (int64_t p = 0; p < data[i].count(); p += stride) {
      const double x = data[i].at(p), h = 1e-5 * std::max(1.0, std::abs(x));
      data[i].set(p, x + h);
      const double above = loss(data)[0].at(0);
      data[i].set(p, x - h);
      const double below = loss(data)[0].at(0);
      data[i].set(p, x);
      const double numeric = (above - below) / (2 * h);
      ASSERT_NEAR(gradient.at(p), numeric, 2e-5 * (1 + std::abs(numeric)))
          << order << " gradient of input " << i << " at element " << p;
    }
  }
}

void check_backends(const OpCase& test, const Build& build, const std::string& what) {
  const auto data = make_data(test);
  const auto expected = run(test.inputs, build, data, {.backend = "reference"});
  const auto compare = [&](const EngineOptions& options, const std::string& variant) {
    const Executable program = compile(build_module(test.inputs, build), options);
    const auto actual = program(data);
    // A GPU records the second run, and replays it from then on.
    for (int again = 2; options.backend == "cuda" && again <= 4; ++again)
      EXPECT_TRUE(program(data) == actual) << what << ", " << variant << ", run " << again;
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      const double tolerance =
          test.tolerance > 0 ? test.tolerance : default_tolerance(expected[i].dtype());
      expect_close(actual[i], expected[i], tolerance, text(what, ' ', i, ", ", variant));
    }
  };
  compare({.threads = 1}, "cpu, 1 thread");
  compare({.threads = 2}, "cpu, 2 threads");
  compare({.threads = 1, .decompose_all = true}, "cpu, decomposed");
  if (has_gpu()) compare({.backend = "cuda", .tf32 = false}, "cuda");
}

void check_bits(const OpCase& test) {
  const auto data = make_data(test);
  const auto once = run(test.inputs, test.build, data, {.threads = 2});
  EXPECT_EQ(run(test.inputs, test.build, data, {.threads = 2}), once) << "another run, other bits";
  const auto alone = run(test.inputs, test.build, data, {.threads = 1, .deterministic = true});
  for (int threads : {2, 3})
    EXPECT_EQ(run(test.inputs, test.build, data, {.threads = threads, .deterministic = true}),
              alone)
        << "deterministic, but " << threads << " threads give other bits than one";
  if (!has_gpu()) return;
  const EngineOptions gpu{.backend = "cuda"};
  EXPECT_EQ(run(test.inputs, test.build, data, gpu), run(test.inputs, test.build, data, gpu))
      << "another run on the GPU, other bits";
}

}  // namespace

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-10;
    case DType::f32:
      return 2e-5;
    case DType::f16:
      return 4e-3;
    case DType::bf16:
      return 3e-2;
    default:
      return 0;
  }
}

Tensor random_tensor(const Type& type, double low, double high, uint64_t seed) {
  std::mt19937_64 bits(seed);
  Tensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double unit = static_cast<double>(bits() >> 11) * 0x1p-53;
    if (type.dtype == DType::boolean) {
      tensor.set(i, unit < 0.5 ? 0 : 1);
    } else if (is_integer(type.dtype)) {
      const double floor = type.dtype == DType::u8 ? std::max(low, 0.0) : low;
      tensor.set(i, std::floor(floor + unit * (high - floor)));
    } else {
      tensor.set(i, low + unit * (high - low));
    }
  }
  return tensor;
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(text(actual.dtype(), actual.shape()), text(expected.dtype(), expected.shape())) << what;
  if (actual.dtype() == DType::string) {
    EXPECT_EQ(actual, expected) << what;
    return;
  }
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.at(i), b = expected.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const bool exact = !is_float(actual.dtype());
    if (exact || !(std::abs(a - b) <= tolerance * (1 + std::abs(b)))) {
      ADD_FAILURE() << what << ": element " << i << " of " << text(expected.shape()) << " is " << a
                    << ", expected " << b;
      return;
    }
  }
}

void check_op(const OpCase& test) {
  SCOPED_TRACE(test.name);
  check_shapes(test);
  check_text(test);
  check_backends(test, test.build, "output");
  check_bits(test);
  const bool floats =
      !float_values(build_module(test.inputs, test.build).block().parameter_values()).empty();
  if (!test.gradient || !floats) return;
  check_gradient(test, test.build, "first");
  check_backends(test, gradient_of(test.build), "gradient");
  if (test.second_order) check_gradient(test, gradient_of(test.build), "second");
}

}  // namespace keratin::testing

#include <gtest/gtest.h>

#include <cmath>

#include "keratin/backend/cuda/conv/cudnn.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/standalone_step_testing.h"
#include "keratin/backend/cuda/sources_testing.h"
#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/backends.h"

// Every candidate gives what the definition of the op gives, whichever is the fastest.
namespace keratin::cuda {
namespace {

void expect_alike(const Tensor& actual, const Tensor& expected, const std::string& what) {
  const double tolerance = expected.dtype() == DType::f32 ? 2e-5 : 2e-2;
  double worst = 0;
  for (int64_t i = 0; i < actual.count(); ++i)
    worst =
        std::max(worst, std::abs(actual.at(i) - expected.at(i)) / (1 + std::abs(expected.at(i))));
  EXPECT_LE(worst, tolerance) << what << ' ' << expected.dtype();
}

using Expect = void (*)(const ConvJob& job, const Tensor& expected);

// Kernels of our own, and the library's matmuls of windows.
void expect_of_ours(const ConvJob& job, const Tensor& expected) {
  // Gradients under windows are rounded before they are added up.
  const bool rounds = job.kind == ConvKind::grad_input && job.dtype() != DType::f32;
  if (const auto kernel = make_im2col(job, {.tf32 = false}); kernel && !rounds)
    expect_alike(output_of(job.node, *kernel), expected, kernel->describe());
  if (fits_direct(job))
    expect_alike(output_of(job.node, *compile_kernel(job.node, write_direct_conv(job))), expected,
                 "direct");
}

void expect_of_cudnns(const ConvJob& job, const Tensor& expected) {
  const CudnnCandidates found = cudnn_candidates(job, {.tf32 = false});
  EXPECT_FALSE(found.candidates.empty()) << keratin::text(job.node.name());
  for (const Candidate& candidate : found.candidates) {
    const auto kernel = candidate.make();
    if (kernel == nullptr) continue;
    expect_alike(output_of(job.node, *kernel), expected, kernel->describe());
  }
}

struct ConvCase {
  Shape x, w;
  ops::ConvAttrs attrs;
};
const ConvCase conv_cases[] = {
    {{2, 20, 18, 3}, {7, 7, 3, 16}, {.strides = {2}, .padding = "same"}},
    {{2, 12, 11, 3},
     {3, 3, 3, 8},
     {.strides = {2, 1}, .padding = "explicit", .low = {1, 2}, .high = {1, 2}}},
    {{2, 9, 9, 16}, {3, 3, 16, 24}, {.padding = "same"}},
    {{2, 9, 9, 8}, {1, 1, 8, 16}, {.strides = {2}}},
    {{2, 9, 9, 8}, {3, 3, 1, 8}, {.groups = 8, .padding = "same"}},
    {{2, 11, 6}, {3, 6, 4}, {.dilations = {2}, .padding = "causal"}},
    {{2, 15, 14, 1}, {3, 3, 1, 32}, {}},
    {{3, 17, 15, 2}, {3, 2, 2, 70}, {.strides = {2, 1}, .padding = "same"}},
};

// A convolution and its gradients.
void expect_alike(const ConvCase& c, DType dtype, Expect expect) {
  Module m;
  const Type type_x{dtype, c.x, {Device::Kind::gpu, 0}}, type_w{dtype, c.w, type_x.device};
  const Value x = m.input(type_x), w = m.input(type_w), y = ops::conv(x, w, c.attrs);
  ops::ConvAttrs by_input = c.attrs, by_filter = c.attrs;
  by_input.sizes = Dims(c.x.begin() + 1, c.x.end() - 1);
  by_filter.sizes = Dims(c.w.begin(), c.w.end() - 2);
  const auto check = [&](const Value& value) {
    const Node& node = value.node();
    const auto job = conv_job(node);
    ASSERT_TRUE(job);
    expect(*job, output_of(node, *compile_kernel(node, source_of(node))));
  };
  check(y);
  check(ops::conv_grad_input(y, w, by_input));
  check(ops::conv_grad_filter(x, y, by_filter));
}

template <class... Parameters>
class WithGpu : public ::testing::TestWithParam<std::tuple<Parameters...>> {
 protected:
  void SetUp() override { keratin::testing::need_for_gpu(device_count() > 0, why_no_device()); }
};
template <class... Parameters>
class WithCudnn : public WithGpu<Parameters...> {
 protected:
  void SetUp() override {
    WithGpu<Parameters...>::SetUp();
    if (device_count() > 0) keratin::testing::need_for_gpu(cudnn::available(), "no cuDNN");
  }
};

class ConvCandidates : public WithGpu<size_t, DType> {};
class ConvCandidatesOfCudnn : public WithCudnn<size_t, DType> {};

TEST_P(ConvCandidates, GiveWhatTheDefinitionGives) {
  expect_alike(conv_cases[std::get<0>(GetParam())], std::get<1>(GetParam()), expect_of_ours);
}
TEST_P(ConvCandidatesOfCudnn, GiveWhatTheDefinitionGives) {
  expect_alike(conv_cases[std::get<0>(GetParam())], std::get<1>(GetParam()), expect_of_cudnns);
}

const auto every_case = ::testing::Combine(::testing::Range(size_t{0}, std::size(conv_cases)),
                                           ::testing::Values(DType::f32, DType::bf16));
INSTANTIATE_TEST_SUITE_P(Cases, ConvCandidates, every_case);
INSTANTIATE_TEST_SUITE_P(Cases, ConvCandidatesOfCudnn, every_case);

// relu(conv · scale + shift + added) of few numbers, by our own kernel and by others.
TEST(ConvDirect, ComputesItsEpilogue) {
  keratin::testing::need_for_gpu(device_count() > 0, why_no_device());
  if (device_count() == 0) GTEST_SKIP() << why_no_device();
  const Device device{Device::Kind::gpu, 0};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Type types[] = {{dtype, {3, 9, 8, 2}, device},
                          {dtype, {3, 3, 2, 24}, device},
                          {dtype, {24}, device},
                          {dtype, {24}, device},
                          {dtype, {3, 9, 8, 24}, device}};
    auto region = std::make_unique<Block>(1);
    Module m;
    Values inside, inputs;
    for (const Type& type : types) {
      inside.push_back(region->parameter(type));
      inputs.push_back(m.input(type));
    }
    const Value y = ops::conv(inside[0], inside[1], {.padding = "same"});
    region->results = {ops::relu(y * inside[2] + inside[3] + inside[4])};
    Node& node = ops::fused(m.block(), inputs, std::move(region), "epilogue");
    node.place(device);
    const auto job = conv_job(node);
    ASSERT_TRUE(job && fits_direct(*job));
    const auto windows = make_im2col(*job, {.tf32 = false});
    ASSERT_NE(windows, nullptr);
    const auto direct = compile_kernel(node, write_direct_conv(*job));
    expect_alike(output_of(node, *direct), output_of(node, *windows), "direct");
    EXPECT_TRUE(std::isnan(output_of(node, *direct, {.nan = true}).at(0)));
  }
}

TEST(FirstSeen, FindsAnInputAndAnOutputOfItsWindow) {
  using Attrs = ops::ConvAttrs;
  const auto seen = [](const Shape& x, const Shape& w, const Attrs& attrs) {
    Module m;
    return first_seen(ops::conv_geometry(
        ops::conv(m.input({DType::f32, x}), m.input({DType::f32, w}), attrs).node()));
  };
  const Shape x = {1, 5, 4, 2}, w = {2, 2, 2, 3};
  EXPECT_EQ(seen(x, w, {}), (SeenInput{0, 0}));
  // Padding of one, and every second input: the first window begins with input 1.
  EXPECT_EQ(seen(x, w, {.dilations = {2, 2}, .padding = "same"}), (SeenInput{2 * (4 + 1), 0}));
  // Windows 0 and 1 of rows see padding alone; input 0 is under window 2.
  EXPECT_EQ(seen(x, w, {.padding = "explicit", .low = {3, 0}, .high = {0, 0}}),
            (SeenInput{0, 2 * 3 * 3}));
  EXPECT_EQ(
      seen({1, 1, 2}, {1, 2, 3}, {.strides = {2}, .padding = "explicit", .low = {1}, .high = {1}}),
      std::nullopt);
}

// relu of NaN is NaN, in cuDNN's engines too.
class ConvReluOfCudnn : public WithCudnn<DType, int64_t> {};

TEST_P(ConvReluOfCudnn, KeepsNan) {
  const auto [dtype, window] = GetParam();
  const Device device{Device::Kind::gpu, 0};
  const Type x{dtype, {2, 8, 8, 16}, device}, w{dtype, {window, window, 16, 16}, device},
      b{dtype, {16}, device};
  auto region = std::make_unique<Block>(1);
  const Value inner_x = region->parameter(x), inner_w = region->parameter(w),
              inner_b = region->parameter(b);
  region->results = {ops::relu(ops::conv(inner_x, inner_w, {.padding = "same"}) + inner_b)};
  Module m;
  const Values inputs = {m.input(x), m.input(w), m.input(b)};
  Node& node = ops::fused(m.block(), inputs, std::move(region), "epilogue");
  node.place(device);
  const auto job = conv_job(node);
  ASSERT_TRUE(job && job->epilogue);
  for (const bool tf32 : {false, true})
    for (const Candidate& candidate : cudnn_candidates(*job, {.tf32 = tf32}).candidates) {
      const auto kernel = candidate.make();
      if (kernel == nullptr) continue;
      const Tensor y = output_of(node, *kernel, {.nan = true});
      EXPECT_TRUE(std::isnan(y.at(0))) << kernel->describe() << ' ' << dtype << ' ' << window;
    }
  // The fallback where cuDNN has no engine.
  const auto kernel = make_im2col(*job, {.tf32 = false});
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(std::isnan(output_of(node, *kernel, {.nan = true}).at(0))) << kernel->describe();
  const auto other = first_possible(cudnn_candidates(*job, {.tf32 = false}).candidates);
  ASSERT_NE(other, nullptr);
  expect_alike(output_of(node, *kernel), output_of(node, *other), kernel->describe());
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvReluOfCudnn,
                         ::testing::Combine(::testing::Values(DType::f32, DType::f16, DType::bf16),
                                            ::testing::Values(1, 3)));

}  // namespace
}  // namespace keratin::cuda

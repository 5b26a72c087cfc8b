#include <gtest/gtest.h>

#include <cmath>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/standalone_step_testing.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/base/text.h"
#include "keratin/ops/registry.h"
#include "keratin/testing/backends.h"

namespace keratin::cuda {
namespace {

constexpr Device first_gpu{Device::Kind::gpu, 0};

// A matmul, the ops after it, and the sum: %5 and %6.
struct SumCase {
  std::string types[3];
  std::string body;
};
const SumCase sum_cases[] = {
    {{"[64,48]", "[64,32]", "[1]"},
     "%5 = matmul(%0, %1) {transpose_a = true} %6 = sum(%1) {axes = [0]}"},
    {{"[64,48]", "[64,32]", "[1]"},
     "%5 = matmul(%0, %1) {transpose_a = true} %6 = sum(%0) {axes = [0]}"},
    {{"[1000,129]", "[1000,67]", "[1]"},
     "%5 = matmul(%0, %1) {transpose_a = true} %6 = sum(%1) {axes = [0]}"},
    {{"[4096,256]", "[4096,512]", "[256,512]"},
     "%4 = matmul(%0, %1) {transpose_a = true} %5 = add(%4, %2) %6 = sum(%1) {axes = [0]}"},
    {{"[128,64]", "[256,64]", "[128,256]"},
     "%7 = constant() {value = DTYPE[] {0}} %3 = matmul(%0, %1) {transpose_b = true} "
     "%4 = greater(%2, %7) %5 = select(%4, %3, %7) %6 = sum(%5) {axes = [0]}"},
    {{"[7,11,20]", "[33,20]", "[7,11,33]"},
     "%7 = constant() {value = DTYPE[] {0}} %3 = matmul(%0, %1) {transpose_b = true} "
     "%4 = greater(%2, %7) %5 = select(%4, %3, %7) %6 = sum(%5) {axes = [0, 1]}"},
};

Module module_of(SumCase c, const std::string& dtype) {
  std::string given, taken;
  for (size_t i = 0; i < 3; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    given += text(comma, "%p", i, ": ", dtype, c.types[i], "@gpu:0");
    taken += text(comma, "%", i, ": ", dtype, c.types[i], "@gpu:0");
  }
  if (const size_t at = c.body.find("DTYPE"); at != std::string::npos) c.body.replace(at, 5, dtype);
  Module m = ops::parse(text("module(", given, ") {\n%y, %s = fused(%p0, %p1, %p2) ",
                             "{kind = \"summed\"} do(", taken, ") {\n", c.body,
                             "\nyield %5, %6\n}\nreturn %y, %s\n}"));
  m.block().nodes().back()->place(first_gpu);
  return m;
}

TEST(MatmulWithSum, EveryCaseIsRead) {
  for (const SumCase& c : sum_cases)
    for (const char* dtype : {"f32", "bf16", "f16"})
      EXPECT_TRUE(read_summed(*module_of(c, dtype).block().nodes().back())) << c.body;
}

void expect_close(const Tensor& actual, const Tensor& expected, const std::string& what) {
  // Of a thousand numbers of which half cancel, rounded to a half type once or twice.
  const double tolerance = actual.dtype() == DType::f32 ? 1e-3 : 5e-2;
  for (int64_t i = 0; i < actual.count(); ++i)
    ASSERT_NEAR(actual.at(i), expected.at(i), tolerance * (1 + std::abs(expected.at(i))))
        << what << ' ' << i;
}

TEST(MatmulWithSum, TheLibraryGivesWhatKernelsGive) {
  keratin::testing::need_for_gpu(device_count() > 0, why_no_device());
  if (device_count() == 0) GTEST_SKIP() << why_no_device();
  for (const SumCase& c : sum_cases)
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      const Module m = module_of(c, dtype);
      const Node& node = *m.block().nodes().back();
      const auto library = make_cublas(node, *read_summed(node), false);
      if (library == nullptr) continue;  // it has no algorithm for it: then it is not claimed
      const auto kernels =
          make_matmul_with_sum(node, {.deterministic = true, .tf32 = false}).kernel;
      ASSERT_NE(kernels, nullptr);
      for (const size_t output : {0, 1}) {
        const Tensor actual = output_of(node, *library, {.output = output});
        expect_close(actual, output_of(node, *kernels, {.output = output}),
                     text(c.body, ' ', dtype, " output ", output));
        EXPECT_EQ(actual, output_of(node, *library, {.output = output})) << c.body << ' ' << dtype;
      }
    }
}

}  // namespace
}  // namespace keratin::cuda

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/nvrtc.h"
#include "keratin/backend/cuda/driver/standalone_step_testing.h"
#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/backend/cuda/matmul/fused_matmul_testing.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/testing/backends.h"

namespace keratin::cuda {
namespace {

// Matmuls with a short side, and all that may follow them.
const FusedMatmulCase thin_cases[] = {
    {{"[128,500]", "[500,16]", "[16]", "[128,16]"}, "%4 = matmul(%0, %1) {} %5 = add(%4, %2)"},
    {{"[33,70]", "[10,70]", "[10]", "[33,10]"},
     "%4 = matmul(%0, %1) {transpose_b = true} %5 = add(%4, %3)"},
    {{"[300,40]", "[300,8]", "[8]", "[40,8]"},
     "%4 = matmul(%0, %1) {transpose_a = true} %6 = add(%4, %2) %5 = relu(%6)"},
    {{"[128,10]", "[512,10]", "[512]", "[128,512]"},
     "%4 = matmul(%0, %1) {transpose_b = true} %7 = constant() {value = DTYPE[] {0}} "
     "%6 = greater(%3, %7) %5 = select(%6, %4, %7)"},
    {{"[20,50]", "[20,64]", "[64]", "[50,64]"},
     "%4 = matmul(%0, %1) {transpose_a = true} %6 = add(%4, %2) %5 = add(%6, %3)"},
};

TEST(ThinMatmuls, CompileEverywhere) {
  std::string reason;
  if (!can_compile(&reason)) {
    ASSERT_EQ(std::getenv("KERATIN_REQUIRE_NVRTC"), nullptr) << reason;
    GTEST_SKIP() << "no kernel was compiled: " << reason;
  }
  for (const FusedMatmulCase& c : thin_cases)
    for (const char* dtype : {"f32", "bf16"}) {
      const Module m = module_of(c, dtype);
      const Node& node = *m.block().nodes().back();
      const auto job = read_epilogue(node);
      ASSERT_TRUE(job && is_thin(*job, node.type().dtype)) << c.body;
      const std::string code = write_thin_matmul(node, *job).code;
      for (const char* chip : {"sm_80", "sm_90"}) EXPECT_NO_THROW(compile(code, chip)) << code;
    }
}

TEST(ThinMatmuls, GiveWhatTheLibraryGives) {
  keratin::testing::need_for_gpu(device_count() > 0, why_no_device());
  if (device_count() == 0) GTEST_SKIP() << why_no_device();
  for (const FusedMatmulCase& c : thin_cases)
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      const Module m = module_of(c, dtype);
      const Node& node = *m.block().nodes().back();
      const Tensor actual =
          output_of(node, *compile_kernel(node, write_thin_matmul(node, *read_epilogue(node))));
      const auto library = make_fused_matmul(node, {.deterministic = true, .tf32 = false}).kernel;
      ASSERT_NE(library, nullptr);
      const Tensor expected = output_of(node, *library);
      const double tolerance = actual.dtype() == DType::f32 ? 2e-5 : 2e-2;
      for (int64_t i = 0; i < actual.count(); ++i)
        ASSERT_NEAR(actual.at(i), expected.at(i), tolerance * (1 + std::abs(expected.at(i))))
            << c.body << ' ' << dtype << ' ' << i;
    }
}

}  // namespace
}  // namespace keratin::cuda

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/driver/nvrtc.h"
#include "keratin/backend/cuda/driver/standalone_step_testing.h"
#include "keratin/backend/cuda/matmul/fused_matmul.h"
#include "keratin/backend/cuda/matmul/fused_matmul_testing.h"
#include "keratin/backend/cuda/matmul/matmul.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/testing/backends.h"

namespace keratin::cuda {
namespace {

// Factors as they are and transposed, edges within tiles and steps, and all kinds of epilogues.
const FusedMatmulCase tiled_cases[] = {
    {{"[128,768]", "[768,256]", "[256]", "[128,256]"},
     "%4 = matmul(%0, %1) {} %6 = add(%4, %2) %5 = add(%6, %3)"},
    {{"[100,332]", "[332,132]", "[132]", "[100,132]"},
     "%4 = matmul(%0, %1) {} %6 = add(%4, %2) %7 = erf(%6) %8 = mul(%7, %6) %5 = add(%8, %3)"},
    {{"[2,72,512]", "[68,512]", "[68]", "[2,72,68]"},
     "%4 = matmul(%0, %1) {transpose_b = true} %6 = tanh(%4) %5 = mul(%6, %2)"},
    {{"[300,196]", "[300,200]", "[200]", "[196,200]"},
     "%4 = matmul(%0, %1) {transpose_a = true} %7 = constant() {value = DTYPE[] {0}} "
     "%6 = greater(%3, %7) %5 = select(%6, %4, %7)"},
    {{"[1000,36]", "[128,1000]", "[128]", "[36,128]"},
     "%4 = matmul(%0, %1) {transpose_a = true, transpose_b = true} %5 = relu(%4)"},
};

constexpr Tiling tilings[] = {
    {64, 64, 1}, {64, 64, 2}, {64, 64, 8}, {128, 64, 1}, {128, 64, 4}, {64, 128, 2},
};

MatmulJob matmul_of(const Node& node) {
  const auto job = read_any_epilogue(node);
  EXPECT_TRUE(job && fits_tiles(*job, node.type().dtype));
  return *job;
}

TEST(TiledMatmuls, CompileEverywhere) {
  std::string reason;
  if (!can_compile(&reason)) {
    ASSERT_EQ(std::getenv("KERATIN_REQUIRE_NVRTC"), nullptr) << reason;
    GTEST_SKIP() << "no kernel was compiled: " << reason;
  }
  for (const FusedMatmulCase& c : tiled_cases) {
    const Module m = module_of(c, "f32");
    const Node& node = *m.block().nodes().back();
    const MatmulJob job = matmul_of(node);
    const auto written = [&](const Tiling& t) { return write_tiled_matmul(node, job, t).code; };
    EXPECT_NO_THROW(compile(written({128, 64, 1}), "sm_80"));
    EXPECT_NO_THROW(compile(written({64, 64, 4}), "sm_90"));
  }
}

TEST(TiledMatmuls, AreForSmallAndDeepMatmuls) {
  const auto fits = [](const char* a, const char* b, const char* dtype = "f32") {
    const Module m = ops::parse(text("module(%a: ", dtype, a, ", %b: ", dtype, b,
                                     ") {\n%y = matmul(%a, %b) {}\nreturn %y\n}"));
    const auto job = read_matmul(*m.block().nodes().back());
    return job && fits_tiles(*job, m.block().nodes().back()->type().dtype);
  };
  EXPECT_TRUE(fits("[128,768]", "[768,768]"));
  EXPECT_TRUE(fits("[1,128,768]", "[768,768]"));
  EXPECT_FALSE(fits("[128,768]", "[768,768]", "bf16"));
  EXPECT_FALSE(fits("[4096,768]", "[768,768]")) << "large";
  EXPECT_FALSE(fits("[128,32]", "[32,768]")) << "shallow";
  EXPECT_FALSE(fits("[16,256]", "[256,64]")) << "tiny";
  EXPECT_FALSE(fits("[128,768]", "[768,770]")) << "rows are no packs";
  EXPECT_FALSE(fits("[128,770]", "[770,768]")) << "nor these";
  EXPECT_FALSE(fits("[8,128,768]", "[8,768,768]")) << "many matmuls";
}

TEST(TiledMatmuls, FillAGpu) {
  const auto names = [](const char* a, const char* b, bool clusters) {
    const Module m = ops::parse(
        text("module(%a: f32", a, ", %b: f32", b, ") {\n%y = matmul(%a, %b) {}\nreturn %y\n}"));
    std::string all;
    for (const Tiling& t : tilings_of(*read_matmul(*m.block().nodes().back()), clusters))
      all += name_of(t) + ';';
    return all;
  };
  EXPECT_EQ(names("[128,768]", "[768,768]", true), "tiles 64 x 64 by 4;tiles 64 x 64 by 8;");
  EXPECT_EQ(names("[128,768]", "[768,768]", false), "tiles 64 x 64 by 1;");
  EXPECT_EQ(names("[128,768]", "[768,3072]", true), "tiles 64 x 64 by 1;tiles 64 x 64 by 2;");
  EXPECT_EQ(names("[50,96]", "[96,1024]", true), "tiles 64 x 64 by 1;") << "nothing to share";
}

// Only the order of sums differs.
void expect_same(const Tensor& actual, const Tensor& expected, const std::string& what) {
  for (int64_t i = 0; i < actual.count(); ++i) {
    if (std::isnan(actual.at(i)) && std::isnan(expected.at(i))) continue;
    ASSERT_NEAR(actual.at(i), expected.at(i), 1e-5 * (1 + std::abs(expected.at(i))))
        << what << ", element " << i;
  }
}

TEST(TiledMatmuls, GiveWhatTheLibraryGives) {
  keratin::testing::need_for_gpu(device_count() > 0, why_no_device());
  if (device_count() == 0) GTEST_SKIP() << why_no_device();
  for (const FusedMatmulCase& c : tiled_cases)
    for (const bool nan : {false, true}) {
      const Module m = module_of(c, "f32");
      const Node& node = *m.block().nodes().back();
      const auto library = make_fused_matmul(node, {.deterministic = true, .tf32 = false}).kernel;
      ASSERT_NE(library, nullptr);
      const StepData data{.nan = nan, .make = coarse_wave};
      const Tensor expected = output_of(node, *library, data);
      for (const Tiling& tiling : tilings) {
        if (tiling.splits > 1 && !gpu(node.device()).has_clusters()) continue;
        const auto step = compile_kernel(node, write_tiled_matmul(node, matmul_of(node), tiling));
        expect_same(output_of(node, *step, data), expected, text(c.body, ' ', name_of(tiling)));
      }
    }
}

}  // namespace
}  // namespace keratin::cuda
